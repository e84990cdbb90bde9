import type { CommanderError } from 'commander'
import { CommandError } from './command-error.ts'
import { EXIT } from './exit-codes.ts'

/** The command was called in a way that cannot work. `message` says what to write instead. */
export class UsageError extends CommandError {
  override readonly name = 'UsageError'

  constructor(message: string) {
    super(message, EXIT.usage)
  }
}

/**
 * commander says `error: unknown option '--prot'\n(Did you mean --port?)` and suggests only what is
 * near enough to be meant; this makes one sentence of it.
 */
export function sentenceOf(error: CommanderError, commandPath: string): string {
  const [problem = '', suggestion] = error.message.replace(/^error: /, '').split('\n')
  const hint = suggestion
    ? ` (${suggestion.replace(/^\(|\)$/g, '').replace('Did you', 'did you')})`
    : ''
  const oneSentence = problem
    .replace(/\.$/, '')
    .replace(/\. ([A-Z])/g, (_, letter: string) => `: ${letter.toLowerCase()}`)
  return `${oneSentence}${hint}; see "${commandPath} --help".`
}
