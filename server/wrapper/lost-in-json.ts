import { readProperty } from '../safe-read.ts'

/** Larger data is not walked to its end: it would cost more than the answer itself. */
const MAX_VALUES = 2_000

/**
 * Whether JSON will leave nothing of a value in this data without a word: a Map, Set, Error or
 * Promise becomes `{}`, NaN and Infinity become null. `undefined` and functions are left out on
 * purpose by many, and mean no loss.
 */
export function findLostValue(data: Record<string, unknown>): boolean {
  const waiting: unknown[] = [data]
  const seen = new Set<object>()
  for (let visited = 0; waiting.length > 0 && visited < MAX_VALUES; visited += 1) {
    const value = waiting.pop()
    if (typeof value === 'number' && !Number.isFinite(value)) return true
    if (typeof value !== 'object' || value === null || seen.has(value)) continue
    seen.add(value)
    if (typeof readProperty(value, 'toJSON') === 'function') continue
    if (isLost(value)) return true
    for (const key of Object.keys(value)) waiting.push(readProperty(value, key))
  }
  return false
}

/** With own keys there is something left of it: an error with a code, a set with a label. */
function isLost(value: object): boolean {
  const isEmptyInJson =
    value instanceof Map ||
    value instanceof Set ||
    value instanceof Error ||
    value instanceof Promise
  return isEmptyInJson && Object.keys(value).length === 0
}
