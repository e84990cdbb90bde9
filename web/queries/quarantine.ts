import type { Database } from '../../ingest/store/load-sqlite.ts'
import {
  ONE_REFUSED,
  REFUSED,
  REFUSED_SUM,
  type RefusedRow,
  type RefusedSumRow,
} from './sql/quarantine.ts'

/** A refused line, or a run of them with one reason. */
export type Refused = {
  id: number
  path: string
  /** Of the first line. */
  lineNumber: number
  lineOffset: number
  lengthBytes: number
  lines: number
  reason: string
  /** Of the first line, or of its first MiB; empty where it was forgotten. */
  sha256: string
  /** How the first line begins, at most 4 KiB, masked. Anything at all may stand in it. */
  sample: Uint8Array
  seenMs: number
}

/** Newest first; `total` and `lines` are of all entries of the reason. */
export function refusedEntries(
  database: Database,
  { reason, limit }: { reason: string | undefined; limit: number },
): { entries: Refused[]; total: number; lines: number } {
  const rows = database.prepare(REFUSED).all(reason ?? null, limit) as RefusedRow[]
  const sum = database.prepare(REFUSED_SUM).get(reason ?? null) as RefusedSumRow
  return { entries: rows.map(toRefused), total: sum.entries, lines: sum.lines }
}

export function refusedEntry(database: Database, id: number): Refused | undefined {
  const row = database.prepare(ONE_REFUSED).get(id) as RefusedRow | undefined
  return row && toRefused(row)
}

function toRefused(row: RefusedRow): Refused {
  return {
    id: row.id,
    path: row.path,
    lineNumber: row.line_number,
    lineOffset: row.line_offset,
    lengthBytes: row.length_bytes,
    lines: row.lines,
    reason: row.reason,
    sha256: row.sha256,
    sample: row.sample,
    seenMs: row.seen_ms,
  }
}

/** What is no text, or would command a terminal, as U+FFFD. */
export function printableSample(sample: Uint8Array, maxCharacters: number): string {
  const text = Buffer.from(sample).toString('utf8')
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '\u{FFFD}').slice(0, maxCharacters)
}
