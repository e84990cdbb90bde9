import { applicationHandlesCrashes, watchProcessEnd } from '../process-end.ts'
import { readProperty } from '../safe-read.ts'
import { tellOperator } from '../stderr.ts'

/** sysexits' EX_CONFIG: a restart will not help until somebody changes the configuration. */
export const FATAL_EXIT_CODE = 78

let told: unknown
let watching = false

/** The one readable line, said once for each error. */
export function tellOfFatal(error: unknown): void {
  if (told === error) return
  told = error
  const message = readProperty(error, 'message')
  tellOperator(`fatal: ${typeof message === 'string' && message ? message : 'FatalError'}`)
}

/**
 * From the first FatalError on: if one is caught by nobody, the process ends with one line and
 * code 78 in place of Node's stack trace and code 1. It happens inside uncaughtExceptionMonitor,
 * because Node sets the exit code itself once that event is over. An application that has an
 * uncaughtException listener of its own keeps its say.
 */
export function endProcessOnFatal(): void {
  if (watching) return
  watching = true
  watchProcessEnd({
    endCrash(error) {
      if (!isFatal(error)) return
      tellOfFatal(error)
      if (!applicationHandlesCrashes()) process.exit(FATAL_EXIT_CODE)
    },
  })
}

function isFatal(error: unknown): boolean {
  return readProperty(error, Symbol.for('unsilent.error.kind')) === 'fatal'
}
