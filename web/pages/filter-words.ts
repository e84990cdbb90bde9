import type { ChoiceName } from '../queries/filter.ts'
import { OUTCOME_WORDS, wordOfClass } from './families.tsx'
import { shortened, visibleText } from './visible-text.tsx'

export const CHOICE_WORDS: Readonly<Record<ChoiceName, string>> = {
  server: 'Server',
  version: 'Version',
  tool: 'Tool',
  class: 'Error class',
  outcome: 'Outcome',
  client: 'Client',
  flag: 'Mark',
}

export function wordOfValue(name: ChoiceName, value: string): string {
  if (name === 'class') return wordOfClass(value)
  if (name === 'outcome') return OUTCOME_WORDS[value as keyof typeof OUTCOME_WORDS] ?? value
  return shortened(visibleText(value), 60)
}
