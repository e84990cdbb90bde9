import { CommanderError } from 'commander'
import { EXIT } from './exit-codes.ts'
import { explainError } from './explain-error.ts'
import { note } from './output.ts'
import { createProgram } from './program.ts'

/** Runs one command; failures become one sentence on stderr and an exit code. Never rejects. */
export async function run(args: readonly string[]): Promise<void> {
  // Nobody is left to be told.
  process.stderr.on('error', () => undefined)
  try {
    await createProgram().parseAsync(args, { from: 'user' })
  } catch (error) {
    process.exitCode = report(error)
  }
}

function report(error: unknown): number {
  if (error instanceof CommanderError) {
    // Help and version were printed; without a command the help was the answer to wrong usage.
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  }
  const { message, exitCode } = explainError(error)
  note(`unsilent: ${message}`)
  if (process.env.UNSILENT_DEBUG && error instanceof Error) note(String(error.stack))
  return exitCode
}
