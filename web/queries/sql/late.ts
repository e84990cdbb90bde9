export type LateDbRow = {
  server: string | null
  at_ms: number
  call: string | null
  tool: string | null
  ms: number | null
  outcome: string | null
}

const COLUMNS = `server.name AS server, at_ms, detail ->> '$.call' AS call, detail ->> '$.tool' AS tool,
  detail ->> '$.ms' AS ms, detail ->> '$.outcome' AS outcome`

const TABLES = `process_event JOIN writer ON writer.id = process_event.writer_id
  LEFT JOIN server ON server.id = writer.server_id`

/** Values: begin and end of the range. */
export const LATE_ENDINGS = `SELECT ${COLUMNS} FROM ${TABLES}
  WHERE kind = 'late' AND at_ms >= ? AND at_ms < ? ORDER BY at_ms, process_event.id`

/** Values: begin and end of the time in which to look, writer, id of the call. */
export const LATE_ENDINGS_OF_CALL = `SELECT ${COLUMNS} FROM ${TABLES}
  WHERE kind = 'late' AND at_ms >= ? AND at_ms < ? AND w = ? AND call = ?
  ORDER BY at_ms, process_event.id LIMIT 5`
