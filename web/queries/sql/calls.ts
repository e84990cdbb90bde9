import { QUARTER_MS } from '../../../ingest/store/schema.ts'
import type { CallCondition } from './conditions.ts'

export type CallDbRow = {
  id: number
  started_ms: number
  duration_us: number
  server_id: number
  tool_id: number
  client_id: number
  outcome_id: number
  class_id: number
  flags: number
  args_key: number | null
  session: string | null
  protocol: string | null
  transport: string | null
  uid: string
  args: string | null
  detail: string
}

const COLUMNS = `call.id AS id, call.started_ms AS started_ms, duration_us, call.server_id AS server_id,
  tool_id, client_id, outcome_id, class_id, flags, args_key, session.key AS session,
  protocol.version AS protocol, protocol.transport AS transport, uid, args, detail`

const JOINS = `JOIN call_text ON call_text.call_id = call.id
  LEFT JOIN session ON session.id = call.session_id
  LEFT JOIN protocol ON protocol.id = call.protocol_id`

/** The ids first: text is read for the page's rows alone. */
export function pageRows(where: CallCondition, hasCursor: boolean): string {
  const cursor = hasCursor ? 'AND (started_ms, id) < (?, ?)' : ''
  return `SELECT ${COLUMNS} FROM (
      SELECT * FROM ${where.table} WHERE ${where.sql} ${cursor} ORDER BY started_ms DESC, id DESC LIMIT ?
    ) AS call ${JOINS} ORDER BY started_ms DESC, id DESC`
}

export type StartRow = { started_ms: number }

export function startRows(where: CallCondition): string {
  return `SELECT started_ms FROM ${where.table} WHERE ${where.sql} ORDER BY started_ms DESC, id DESC LIMIT ?`
}

export type CallDetailDbRow = CallDbRow & {
  session_id: number | null
  path: string
  line_offset: number
  w: string
  n: number
}

export const ONE_CALL = `SELECT ${COLUMNS}, call.session_id, stream.path, line_offset, writer.w, call.n
  FROM call ${JOINS}
  JOIN stream ON stream.id = call.stream_id JOIN writer ON writer.id = call.writer_id
  WHERE call.id = ?`

/** Values: session, started_ms, id, limit. */
export const BEFORE_IN_SESSION = `SELECT ${COLUMNS} FROM (
    SELECT * FROM call WHERE session_id = ? AND (started_ms, id) < (?, ?)
    ORDER BY started_ms DESC, id DESC LIMIT ?
  ) AS call ${JOINS} ORDER BY started_ms, id`

export const AFTER_IN_SESSION = `SELECT ${COLUMNS} FROM (
    SELECT * FROM call WHERE session_id = ? AND (started_ms, id) > (?, ?)
    ORDER BY started_ms, id LIMIT ?
  ) AS call ${JOINS} ORDER BY started_ms, id`

export type ExtentRow = { first_ms: number | null; last_ms: number | null }

/** Of the calls that are only counted any more, to the quarter hour; reads all counts. */
export const COUNTED_EXTENT = `SELECT MIN(quarter) * ${QUARTER_MS} AS first_ms,
  (MAX(quarter) + 1) * ${QUARTER_MS} - 1 AS last_ms FROM quarter_count WHERE removed_calls > 0`

/** Two seeks: MIN and MAX in one SELECT would read the whole index. */
export const EXTENT = `SELECT (SELECT MIN(started_ms) FROM call) AS first_ms,
  (SELECT MAX(started_ms) FROM call) AS last_ms`
