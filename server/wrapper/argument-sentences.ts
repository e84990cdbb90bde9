import { cutText } from '../call-log/limits.ts'
import { MAX_ANSWER_LENGTH } from './answers.ts'
import type { SchemaView } from './schema-view.ts'

const MAX_NAMES_LISTED = 8

/** As many sentences as fit; the rest is counted. At least the first is there, cut if need be. */
export function fitted(start: string, sentences: string[]): string {
  let text = start
  for (const [index, sentence] of sentences.entries()) {
    const rest = sentences.length - index
    const more = `; and ${formatCount(rest)} more.`
    const longer = `${text}${separatorAfter(text)}${sentence}`
    const room = MAX_ANSWER_LENGTH - (rest > 1 ? more.length : 1)
    if (index > 0 && longer.length > room) return `${text}${more}`
    text = cutText(longer, room)
  }
  return /[.?!…]$/.test(text) ? text : `${text}.`
}

function separatorAfter(text: string): string {
  return /[:?]$/.test(text) ? ' ' : '; '
}

/** "it takes `a`, `b`"; empty where the schema names nothing. */
export function argumentNames(view: SchemaView): string {
  const names = [...(view.properties?.keys() ?? [])]
  if (names.length === 0) return ''
  const shown = names.slice(0, MAX_NAMES_LISTED).map((name) => `\`${name}\``)
  const rest = names.length - shown.length
  return `it takes ${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

/** Of several faults alike, the first one's words say how many more there are. */
export function withCount(sentence: string, count: number): string {
  return count === 1 ? sentence : `${sentence} (and ${formatCount(count - 1)} more like it)`
}

function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}
