import { ERROR_CLASSES, type NameAndVersion, OUTCOMES } from '../../server/call-log/record.ts'
import { readTimestamp } from './timestamp.ts'

export type JsonObject = Record<string, unknown>

export const OUTCOME_IDS: ReadonlyMap<unknown, number> = new Map(
  OUTCOMES.map((name, index) => [name, index + 1]),
)
export const CLASS_IDS: ReadonlyMap<unknown, number> = new Map(
  ERROR_CLASSES.map((name, index) => [name, index + 1]),
)

/** Before this no such log was written; a smaller number is another unit or nonsense. */
const EARLIEST_MS = Date.UTC(2000, 0, 1)
/** Clocks of two machines may differ; beyond this a line comes from the future. */
const MAX_AHEAD_MS = 120_000
/** About 142 years: longer durations are nonsense, and their microseconds stay exact. */
const MAX_DURATION_MS = 2 ** 52 / 1000

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

export function nameAndVersionOf(value: unknown): NameAndVersion | undefined {
  if (!isObject(value) || typeof value.name !== 'string') return undefined
  return { name: value.name, version: textOf(value.version) ?? '' }
}

/** A copy without some keys. */
export function without(record: JsonObject, keys: ReadonlySet<string>): JsonObject {
  const rest: JsonObject = {}
  for (const key of Object.keys(record)) if (!keys.has(key)) copyKey(record, key, rest)
  return rest
}

/** The key `__proto__` of the data stays a key. */
export function copyKey(from: JsonObject, key: string, to: JsonObject): void {
  if (key === '__proto__') {
    Object.defineProperty(to, key, { value: from[key], enumerable: true, writable: true })
  } else to[key] = from[key]
}

/** The moment in epoch ms, or undefined where it is missing or cannot be true. */
export function plausibleMs(value: unknown, nowMs: number): number | undefined {
  const latest = nowMs + MAX_AHEAD_MS
  if (typeof value === 'number' && value >= EARLIEST_MS && value <= latest) return Math.round(value)
  const read = readTimestamp(value)
  return read !== undefined && read >= EARLIEST_MS && read <= latest ? read : undefined
}

/** Whole microseconds, or undefined where it is no duration. */
export function durationUsOf(milliseconds: unknown): number | undefined {
  if (typeof milliseconds !== 'number') return undefined
  if (!(milliseconds >= 0 && milliseconds <= MAX_DURATION_MS)) return undefined
  return Math.round(milliseconds * 1000)
}

/** The first 52 bits of a hash in hex: as many as a double holds exactly. */
export function argsKeyOf(hash: unknown): number | null {
  if (typeof hash !== 'string' || !/^[0-9a-f]{13}/i.test(hash)) return null
  return Number.parseInt(hash.slice(0, 13), 16)
}

const MAX_JSON_DEPTH = 500

/**
 * JSON text of values that came from JSON.parse, or undefined where they are nested so deeply that
 * stringify, or SQLite's own JSON functions (1000), would give up.
 */
export function jsonTextOf(value: unknown): string | undefined {
  try {
    const text = JSON.stringify(value)
    return text.length > MAX_JSON_DEPTH && depthOf(text) > MAX_JSON_DEPTH ? undefined : text
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function depthOf(json: string): number {
  let depth = 0
  let deepest = 0
  let inString = false
  for (let index = 0; index < json.length; index += 1) {
    const char = json.charCodeAt(index)
    if (inString) {
      if (char === BACKSLASH) index += 1
      else if (char === QUOTE) inString = false
    } else if (char === QUOTE) inString = true
    else if (char === OPEN_BRACE || char === OPEN_BRACKET) {
      depth += 1
      if (depth > deepest) deepest = depth
    } else if (char === CLOSE_BRACE || char === CLOSE_BRACKET) depth -= 1
  }
  return deepest
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d

/**
 * The exact text of a top-level key's value in valid JSON of an object: what numbers beyond 2^53
 * look like in the file. The last one where a key stands twice, as JSON.parse decides.
 */
export function valueTextOf(json: string, key: string): string | undefined {
  let found: string | undefined
  let position = json.indexOf('{') + 1
  for (;;) {
    position = skipSpace(json, position)
    if (json.charCodeAt(position) !== QUOTE) return found
    const keyEnd = stringEnd(json, position)
    const name = JSON.parse(json.slice(position, keyEnd)) as string
    const start = skipSpace(json, skipSpace(json, keyEnd) + 1)
    const end = valueEnd(json, start)
    if (name === key) found = json.slice(start, end)
    position = skipSpace(json, end) + 1
  }
}

function skipSpace(json: string, from: number): number {
  let position = from
  while (position < json.length && json.charCodeAt(position) <= 0x20) position += 1
  return position
}

function stringEnd(json: string, start: number): number {
  let position = start + 1
  while (json.charCodeAt(position) !== QUOTE) {
    position += json.charCodeAt(position) === BACKSLASH ? 2 : 1
  }
  return position + 1
}

/** Where the value that begins at start ends, in valid JSON. */
export function valueEnd(json: string, start: number): number {
  let depth = 0
  let position = start
  while (position < json.length) {
    const char = json.charCodeAt(position)
    if (char === QUOTE) {
      position = stringEnd(json, position)
      if (depth === 0) return position
      continue
    }
    if (char === OPEN_BRACE || char === OPEN_BRACKET) depth += 1
    else if (char === CLOSE_BRACE || char === CLOSE_BRACKET) {
      depth -= 1
      if (depth < 0) return position
      if (depth === 0) return position + 1
    } else if (depth === 0 && (char === 0x2c || char <= 0x20)) return position
    position += 1
  }
  return position
}
