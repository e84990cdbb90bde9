import { formatPath } from './argument-path.ts'

/** Larger arguments are not walked to their end only to word a hint. */
const MAX_VALUES = 2_000

type Waiting = { value: unknown; path: PropertyKey[] }

/**
 * For a tool that failed without a known cause: the first argument with a character that databases
 * and parsers refuse, in a sentence. Undefined where there is none.
 */
export function oddCharacterHint(args: unknown): string | undefined {
  const waiting: Waiting[] = [{ value: args, path: [] }]
  for (let visited = 0; visited < waiting.length && visited < MAX_VALUES; visited += 1) {
    const { value, path } = waiting[visited] as Waiting
    const odd = typeof value === 'string' ? oddCharacter(value) : undefined
    if (odd) return `The argument \`${formatPath(path)}\` contains ${odd}: try without.`
    if (typeof value !== 'object' || value === null) continue
    for (const [key, inner] of Object.entries(value)) {
      waiting.push({ value: inner, path: [...path, Array.isArray(value) ? Number(key) : key] })
    }
  }
  return undefined
}

function oddCharacter(text: string): string | undefined {
  if (text.includes('\u0000')) return 'a NUL character'
  return /\p{Cs}/u.test(text) ? 'half of a surrogate pair' : undefined
}
