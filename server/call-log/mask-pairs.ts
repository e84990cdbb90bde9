import type { Mask } from './mask-text.ts'
import { isSecretKey, isUnmistakableKey } from './secret-keys.ts'

const MAX_KEY_LENGTH = 64
const MAX_GAP = 3
const MAX_VALUE_LENGTH = 8 * 1024
const KEY_CHARACTER = /[\w.-]/
const SPACE = /[ \t]/
const QUOTE = /["'`]/

/**
 * Masks the value wherever a secret's name stands before it: `token=abc`, `"password": "abc"`,
 * `Authorization: Bearer abc`, `--api-key abc`. One walk over the text from separator to separator;
 * each looks back over one key and ahead over one value.
 */
export function maskPairs(text: string, mask: Mask): string {
  if (!/[=:]|--/.test(text)) return text
  let out = ''
  let copied = 0
  for (const { at, kind } of separators(text)) {
    if (at < copied) continue
    const key = kind === 'flag' ? keyOfFlag(text, at) : keyBefore(text, at)
    if (!key || !isSecretKey(key.name)) continue
    const value = valueAfter(text, at + 1, key, kind)
    if (!value) continue
    out += text.slice(copied, value.from) + mask(text.slice(value.from, value.to))
    copied = value.to
  }
  return copied === 0 ? text : out + text.slice(copied)
}

type SeparatorKind = '=' | ':' | 'flag'
type Key = { name: string; quoted: boolean }
type Span = { from: number; to: number }

const SEPARATOR = /[=:]|(?<![\w-])--[A-Za-z][\w-]{1,40}(?=[ \t])/g

function* separators(text: string): Generator<{ at: number; kind: SeparatorKind }> {
  for (const match of text.matchAll(SEPARATOR)) {
    const [found] = match
    if (found === '=' || found === ':') yield { at: match.index, kind: found }
    else yield { at: match.index + found.length - 1, kind: 'flag' }
  }
}

function keyOfFlag(text: string, at: number): Key {
  const start = text.lastIndexOf('--', at)
  return { name: text.slice(start + 2, at + 1), quoted: false }
}

function keyBefore(text: string, separatorAt: number): Key | undefined {
  let end = separatorAt
  const earliest = Math.max(0, end - MAX_GAP)
  while (end > earliest && SPACE.test(text[end - 1] ?? '')) end--
  let quoted = false
  if (QUOTE.test(text[end - 1] ?? '')) {
    quoted = true
    end--
    // In JSON inside JSON the quotes are escaped, perhaps more than once.
    while (text[end - 1] === '\\') end--
  }
  let start = end
  while (start > 0 && end - start < MAX_KEY_LENGTH && KEY_CHARACTER.test(text[start - 1] ?? '')) {
    start--
  }
  return start === end ? undefined : { name: text.slice(start, end), quoted }
}

/** Words with which messages go on after a field's name: `password: must be at least 8 …`. */
const PROSE =
  /^(must|should|shall|is|are|has|was|cannot|can|may|expected|received|invalid|required|missing|too|not|no|wrong|incorrect|unknown|field|value|string|number|integer|boolean|object|array|null|undefined|none|empty|failed|denied|expired|true|false)\b/i

function valueAfter(text: string, from: number, key: Key, kind: SeparatorKind): Span | undefined {
  let start = from
  while (start < from + MAX_GAP && SPACE.test(text[start] ?? '')) start++
  const quote = /^\\*["'`]/.exec(text.slice(start, start + 8))?.[0]
  if (quote !== undefined) return quotedValue(text, start + quote.length, quote)
  if (kind === ':' && !key.quoted) {
    if (!isUnmistakableKey(key.name) && start !== from) return undefined
    if (PROSE.test(text.slice(start, start + 16))) return undefined
  }
  return bareValue(text, start, key)
}

function quotedValue(text: string, start: number, quote: string): Span | undefined {
  const limit = Math.min(text.length, start + MAX_VALUE_LENGTH)
  let end = text.indexOf(quote, start)
  // A quote with more backslashes than the opening one belongs to the value.
  while (end !== -1 && end < limit && text[end - 1] === '\\') end = text.indexOf(quote, end + 1)
  return span(text, start, end === -1 || end > limit ? limit : end)
}

/** These hold several words or pairs: their value is the rest of the line. */
const WHOLE_LINE = /^(proxy-?)?authorization$|^(set-?)?cookie2?$/i

function bareValue(text: string, start: number, key: Key): Span | undefined {
  const window = text.slice(start, start + MAX_VALUE_LENGTH)
  const end = (WHOLE_LINE.test(key.name) ? /[\r\n"'<>]/ : /[\s&,;"'`<>(){}[\]|\\]/).exec(window)
  return span(text, start, start + (end?.index ?? window.length))
}

function span(text: string, from: number, to: number): Span | undefined {
  if (from >= to || text.startsWith('[redacted', from)) return undefined
  return { from, to }
}
