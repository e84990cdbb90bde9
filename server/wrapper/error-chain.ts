import { attempt, isObject, readProperty } from '../safe-read.ts'

/** Where libraries put the error behind an error. */
const LINKS = ['cause', 'original', 'originalError', 'parent', 'lastNodeError', 'reason'] as const
const LISTS = ['errors', 'previousErrors'] as const

/** Errors looked at in all; a chain of causes may be made endless by a getter. */
const MAX_VISITED = 20_000
const MAX_OUTER = 48
const MAX_INNER = 16
const MAX_LIST = 20

/**
 * The error and those behind it, outermost first: its causes, and the members of an aggregate.
 * Each object once. Of a chain beyond 64 the outermost 48 and the innermost 16.
 */
export function errorsWithin(error: unknown): unknown[] {
  const found: unknown[] = [error]
  const seen = new Set<unknown>(found)
  for (let index = 0; index < found.length && found.length < MAX_VISITED; index++) {
    for (const next of directlyBehind(found[index])) {
      if (seen.has(next)) continue
      seen.add(next)
      found.push(next)
    }
  }
  if (found.length <= MAX_OUTER + MAX_INNER) return found
  return [...found.slice(0, MAX_OUTER), ...found.slice(-MAX_INNER)]
}

function directlyBehind(error: unknown): unknown[] {
  if (!isObject(error)) return []
  const behind: unknown[] = []
  for (const link of LINKS) {
    const next = readProperty(error, link)
    if (link === 'cause' ? next !== undefined && next !== null : isObject(next)) behind.push(next)
  }
  for (const link of LISTS) {
    const list = readProperty(error, link)
    if (attempt(() => Array.isArray(list))) {
      for (let index = 0; index < MAX_LIST; index++) {
        const next = readProperty(list, index)
        if (isObject(next)) behind.push(next)
      }
    }
  }
  return behind
}
