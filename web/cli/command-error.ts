import { EXIT } from './exit-codes.ts'

/** A failure at run time that is told to the user in one sentence, without a stack. */
export class CommandError extends Error {
  override readonly name: string = 'CommandError'
  readonly exitCode: number

  /** `message`: one sentence that says what to do. */
  constructor(message: string, exitCode: number = EXIT.failure) {
    super(message)
    this.exitCode = exitCode
  }
}
