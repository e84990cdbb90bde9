export type RefusedRow = {
  id: number
  path: string
  line_number: number
  line_offset: number
  length_bytes: number
  lines: number
  reason: string
  sha256: string
  sample: Uint8Array
  seen_ms: number
}

const COLUMNS = `quarantine.id, stream.path, quarantine.line_number, line_offset, length_bytes, lines,
  reason, sha256, sample, seen_ms`

const TABLES = 'quarantine JOIN stream ON stream.id = quarantine.stream_id'

/** Values: reason or NULL, limit. Newest first. */
export const REFUSED = `SELECT ${COLUMNS} FROM ${TABLES}
  WHERE reason = COALESCE(?, reason) ORDER BY quarantine.id DESC LIMIT ?`

/** Value: id. */
export const ONE_REFUSED = `SELECT ${COLUMNS} FROM ${TABLES} WHERE quarantine.id = ?`

export type RefusedSumRow = { entries: number; lines: number }

/** Value: reason or NULL. */
export const REFUSED_SUM = `SELECT COUNT(*) AS entries, COALESCE(SUM(lines), 0) AS lines
  FROM quarantine WHERE reason = COALESCE(?, reason)`
