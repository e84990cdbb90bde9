export type ProcessDbRow = {
  id: number
  w: string
  server: string | null
  version: string | null
  pid: number | null
  hostname: string | null
  boot_id: string | null
  beat_ms: number | null
  started_ms: number | null
  last_seen_ms: number
  exited_ms: number | null
  exit_code: number | null
  exit_reason: string | null
  fatal: string | null
  open_calls: string | null
}

/** Values: end and start of the range. The newest event of a kind is one seek. */
export const PROCESSES = `SELECT writer.id, w, server.name AS server, server.version, pid, hostname,
    boot_id, beat_ms, started_ms, last_seen_ms, exited_ms, exit_code,
    (SELECT detail ->> '$.reason' FROM process_event
      WHERE writer_id = writer.id AND kind = 'exit' ORDER BY n DESC LIMIT 1) AS exit_reason,
    (SELECT detail ->> '$.error.message' FROM process_event
      WHERE writer_id = writer.id AND kind = 'fatal' ORDER BY n DESC LIMIT 1) AS fatal,
    (SELECT detail -> '$.open' FROM process_event
      WHERE writer_id = writer.id AND kind = 'beat' ORDER BY n DESC LIMIT 1) AS open_calls
  FROM writer LEFT JOIN server ON server.id = writer.server_id
  WHERE stamped = 1 AND COALESCE(started_ms, last_seen_ms) < ? AND last_seen_ms >= ?
  ORDER BY COALESCE(started_ms, last_seen_ms), writer.id`

export type BeatGapRow = {
  writer_id: number
  from_ms: number
  to_ms: number
  loop_delay_ms: number | null
}

/**
 * Pauses between beats of more than two and a half intervals. A row stands for several beats in a
 * row, with the time of the newest: the first one came \`beats − 1\` intervals earlier.
 */
export const BEAT_GAPS = `SELECT writer_id, previous_ms AS from_ms, first_ms AS to_ms, loop_delay_ms
  FROM (
    SELECT writer_id, beat_ms, loop_delay_ms, at_ms - (beats - 1) * beat_ms AS first_ms,
      LAG(at_ms) OVER (PARTITION BY writer_id ORDER BY n) AS previous_ms
    FROM (
      SELECT process_event.writer_id, n, at_ms, COALESCE(detail ->> '$.beats', 1) AS beats,
        COALESCE(detail ->> '$.beat_ms', writer.beat_ms) AS beat_ms,
        detail ->> '$.loop_delay_max_ms' AS loop_delay_ms
      FROM process_event JOIN writer ON writer.id = process_event.writer_id
      WHERE kind = 'beat' AND at_ms >= ? AND at_ms < ?
    )
  )
  WHERE beat_ms > 0 AND first_ms - previous_ms > 2.5 * beat_ms
  ORDER BY from_ms`
