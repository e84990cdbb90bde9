import { Buffer } from 'node:buffer'
import { isRecord } from './mcp-shapes.ts'

/** JSON escapes one UTF-16 unit to at most six bytes; below this share of the limit none can pass. */
const WORST_BYTES_PER_UNIT = 6
const MAX_DEPTH = 200

export type Serialisability =
  | { ok: true; textLength: number }
  /** `problem` is in words: "BigInt at structuredContent.id". */
  | { ok: false; problem: string; textLength: number }

/**
 * Whether a result can leave as JSON, and is no larger than `maxBytes`. Results of plain text are
 * only measured; anything else is stringified once more, the price of never leaving a client
 * without an answer.
 */
export function checkSerialisable(
  result: Record<string, unknown>,
  maxBytes: number,
): Serialisability {
  const { textLength, plain } = measure(result)
  if (plain && textLength * WORST_BYTES_PER_UNIT < maxBytes) return { ok: true, textLength }
  // As JSON it is at least as long: no need to spend a second on making it.
  if (textLength > maxBytes)
    return { ok: false, problem: tooLarge(textLength, maxBytes), textLength }
  try {
    const json = JSON.stringify(result)
    const bytes = Buffer.byteLength(json)
    if (bytes <= maxBytes) return { ok: true, textLength }
    return { ok: false, problem: tooLarge(bytes, maxBytes), textLength }
  } catch (error) {
    return { ok: false, problem: `cannot be serialised: ${findCulprit(result, error)}`, textLength }
  }
}

const PLAIN_RESULT_KEYS = new Set(['content', 'isError', 'resultType'])

function measure(result: Record<string, unknown>): { textLength: number; plain: boolean } {
  let textLength = 0
  let plain = true
  for (const key of Object.keys(result)) if (!PLAIN_RESULT_KEYS.has(key)) plain = false
  if (!Array.isArray(result.content)) return { textLength, plain: plain && !result.content }
  for (const block of result.content) {
    if (!isRecord(block)) return { textLength, plain: false }
    if (typeof block.text === 'string') textLength += block.text.length
    if (block.type !== 'text' || Object.keys(block).length !== 2) plain = false
  }
  return { textLength, plain }
}

/** Walks the value the way JSON.stringify does, to name the spot it stumbled over. */
function findCulprit(root: unknown, error: unknown): string {
  const found = walk(root, '', [])
  return found ?? (error instanceof Error ? firstLine(error.message) : 'unknown reason')
}

function walk(value: unknown, path: string, above: object[]): string | undefined {
  if (typeof value === 'bigint') return `BigInt at ${path}`
  if (typeof value !== 'object' || value === null) return undefined
  if (above.includes(value)) return `circular at ${path}`
  if (above.length > MAX_DEPTH) return `nested too deep at ${path.slice(0, 100)}`
  try {
    const { toJSON } = value as { toJSON?: unknown }
    if (typeof toJSON === 'function') return walk(toJSON.call(value, path), path, [...above, value])
  } catch (error) {
    return `toJSON threw at ${path || 'result'}${messagePart(error)}`
  }
  for (const key of Object.keys(value)) {
    const at = Array.isArray(value) ? `${path}[${key}]` : path ? `${path}.${key}` : key
    const found = read(value, key, at, [...above, value])
    if (found) return found
  }
  return undefined
}

function read(holder: object, key: string, at: string, above: object[]): string | undefined {
  let value: unknown
  try {
    value = (holder as Record<string, unknown>)[key]
  } catch (error) {
    return `getter threw at ${at}${messagePart(error)}`
  }
  return walk(value, at, above)
}

function messagePart(error: unknown): string {
  return error instanceof Error && error.message ? ` (${firstLine(error.message)})` : ''
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]?.slice(0, 120) ?? ''
}

function tooLarge(bytes: number, maxBytes: number): string {
  return `it is ${mib(bytes)}, the limit is ${mib(maxBytes)}`
}

function mib(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`
}
