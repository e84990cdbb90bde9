export type StreamRow = {
  path: string
  state: string
  committed_offset: number
  rows: number
  duplicate_rows: number
  quarantined_lines: number
  last_growth_ms: number
}

export const STREAMS = `SELECT path, state, committed_offset, rows, duplicate_rows, quarantined_lines,
  last_growth_ms FROM stream ORDER BY last_growth_ms DESC, id DESC`

export type QuarantineSumRow = { reason: string; lines: number; bytes: number }

export const QUARANTINE_SUMS = `SELECT reason, SUM(lines) AS lines, SUM(length_bytes) AS bytes
  FROM quarantine GROUP BY reason ORDER BY lines DESC, reason`

export type QuarantinedRow = {
  path: string
  line_number: number
  line_offset: number
  length_bytes: number
  lines: number
  reason: string
  sample: Uint8Array
}

export const NEWEST_QUARANTINED = `SELECT stream.path, quarantine.line_number, line_offset,
  length_bytes, lines, reason, sample
  FROM quarantine JOIN stream ON stream.id = quarantine.stream_id
  ORDER BY quarantine.id DESC LIMIT 50`

export type GapRow = {
  w: string
  server: string | null
  first_n: number
  last_n: number
  reason: string | null
  /** 1: its process has said that it ends. */
  exited: number
}

/**
 * Numbers between the ranges that were seen, and before the first of them, with what the writer said
 * about records that it could not write. Below 0: see schema.ts.
 */
export const GAPS = `SELECT w, server.name AS server, previous_n + 1 AS first_n, range.first_n - 1 AS last_n,
    exited_ms IS NOT NULL AS exited,
    (SELECT detail ->> '$.reason' FROM process_event
      WHERE writer_id = writer.id AND kind = 'drop'
        AND detail ->> '$.from_n' < range.first_n AND detail ->> '$.to_n' > previous_n
      LIMIT 1) AS reason
  FROM (
    SELECT writer_id, first_n,
      LAG(last_n, 1, 0) OVER (PARTITION BY writer_id ORDER BY first_n) AS previous_n
    FROM writer_range WHERE last_n > 0
  ) AS range
  JOIN writer ON writer.id = range.writer_id
  LEFT JOIN server ON server.id = writer.server_id
  WHERE writer.stamped = 1 AND range.first_n > previous_n + 1
  ORDER BY writer.id DESC, range.first_n LIMIT 100`

export type RemovalRow = {
  reason: string
  calls: number
  events: number
  refused_lines: number
  last_ms: number
  newest_ms: number | null
}

export const REMOVALS = `SELECT reason, SUM(calls) AS calls, SUM(events) AS events,
  SUM(refused_lines) AS refused_lines, MAX(last_ms) AS last_ms, MAX(newest_ms) AS newest_ms
  FROM removal GROUP BY reason ORDER BY reason`

export type IngesterRow = {
  pid: number
  last_poll_ms: number
  lag_bytes: number
  roots: string
  problems: string
}

export const INGESTER = 'SELECT pid, last_poll_ms, lag_bytes, roots, problems FROM ingester'

export type SizeRow = { bytes: number }

export const DATABASE_BYTES =
  'SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()'

/** Changes with each row that is added or pruned; each part is one seek. */
export type ContentRow = Record<string, number | null>

export const CONTENT_MARK = `SELECT
  (SELECT MAX(id) FROM call) AS newest_call, (SELECT MIN(id) FROM call) AS oldest_call,
  (SELECT MAX(id) FROM process_event) AS newest_event,
  (SELECT MAX(id) FROM quarantine) AS newest_quarantine,
  (SELECT SUM(calls + events + refused_lines) FROM removal) AS removed,
  (SELECT SUM(committed_offset) FROM stream) AS read_bytes`
