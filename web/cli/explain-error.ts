import { CommandError } from './command-error.ts'
import { EXIT } from './exit-codes.ts'

export type Explanation = { message: string; exitCode: number }

/**
 * Their messages are whole sentences for the person at the terminal. Known by name, because they
 * live in modules that a command loads only when it needs them.
 */
const EXIT_CODES: Record<string, number> = {
  StoreError: EXIT.failure,
  RootError: EXIT.usage,
  SampleLogError: EXIT.usage,
  LeaseError: EXIT.leaseHeld,
  FatalError: EXIT.fatalConfiguration,
}

/** What a failure is called on the terminal, and the exit code that goes with it. */
export function explainError(error: unknown): Explanation {
  if (error instanceof CommandError) return { message: error.message, exitCode: error.exitCode }
  if (!(error instanceof Error)) {
    return { message: `Something threw ${String(error)}.`, exitCode: EXIT.failure }
  }
  const exitCode = EXIT_CODES[error.name]
  if (exitCode !== undefined) return { message: error.message, exitCode }
  return { message: explainUnknown(error), exitCode: EXIT.failure }
}

function explainUnknown(error: NodeJS.ErrnoException & { port?: unknown }): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return `Port ${error.port} is in use: choose another with --port, or --port 0 for any free one.`
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'ENOTDIR':
      return `${error.path ?? 'A file'} cannot be used (${error.code}): check that it may be written, or name another.`
    case 'ENOSPC':
      return 'There is no space left on the disk: free some and try again.'
    default:
      return `${error.message.split('\n')[0]} (set UNSILENT_DEBUG=1 to see where).`
  }
}
