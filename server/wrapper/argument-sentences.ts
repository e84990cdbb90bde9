import { cutText, MAX_ANSWER_LENGTH } from './answers.ts'
import type { SchemaView } from './schema-view.ts'

const MAX_NAMES_LISTED = 8

/** As many sentences as fit; the rest is counted. At least the first is there, cut if need be. */
export function fitted(start: string, sentences: string[]): string {
  let text = start
  for (const [index, sentence] of sentences.entries()) {
    const separator = index === 0 ? ' ' : '; '
    const rest = sentences.length - index
    const more = `; and ${formatCount(rest)} more.`
    const longer = `${text}${separator}${sentence}`
    const room = MAX_ANSWER_LENGTH - (rest > 1 ? more.length : 1)
    if (index > 0 && longer.length > room) return `${text}${more}`
    text = longer
  }
  return cutText(/[.?!]$/.test(text) ? text : `${text}.`)
}

/** "it takes `a`, `b`"; empty where the schema names nothing. */
export function argumentNames(view: SchemaView): string {
  const names = [...(view.properties?.keys() ?? [])]
  if (names.length === 0) return ''
  const shown = names.slice(0, MAX_NAMES_LISTED).map((name) => `\`${name}\``)
  const rest = names.length - shown.length
  return `it takes ${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

export function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}
