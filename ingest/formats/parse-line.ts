import { isObject, type JsonObject } from './field-values.ts'
import { readForeignRecord } from './foreign-record.ts'
import type { ParseContext, ParsedLine } from './parsed-line.ts'
import { readStampedRecord, stampOf } from './unsilent-record.ts'

/** What becomes of one line that is valid UTF-8 and not blank. Never throws on any text. */
export function parseLine(text: string, context: ParseContext): ParsedLine {
  const value = parseOrUndefined(text)
  if (value === undefined) return { fate: 'refused', reason: looksLikeObject(text) }
  if (!isObject(value)) return { fate: 'refused', reason: 'shape' }
  const stamp = stampOf(value)
  return stamp
    ? readStampedRecord(value, stamp, text, context)
    : readForeignRecord(value, text, context)
}

/** JSON has no undefined, so it can stand for "not JSON". */
function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function looksLikeObject(text: string): 'json' | 'not_json' {
  return text.trimStart().startsWith('{') ? 'json' : 'not_json'
}

/** Every record that pino writes begins so; nothing inside a JSON string can, its quotes escaped. */
const RECORD_STARTS = ['{"level":', '{"v":']

/**
 * Where a broken line ends in a whole record that was written over its end (a writer that died, two
 * writers in one file): the index at which that record begins. Only what is certainly a log record
 * counts, not any object that a broken record may have ended with.
 */
export function gluedRecordAt(text: string): number | undefined {
  for (const start of RECORD_STARTS) {
    const at = text.lastIndexOf(start)
    if (at <= 0) continue
    const value = parseOrUndefined(text.slice(at))
    if (isObject(value) && (stampOf(value) || isPinoLine(value))) return at
  }
  return undefined
}

function isPinoLine(value: JsonObject): boolean {
  return typeof value.level === 'number' && typeof value.time === 'number'
}
