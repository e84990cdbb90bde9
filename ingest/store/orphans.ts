import type { Database } from './load-sqlite.ts'
import type { RefusedPiece } from './quarantine.ts'
import type { CountedCall } from './rollup.ts'

/** What the database knows of a writer whose process may be gone. */
export type WriterTrace = {
  hostname: string | null
  beat_ms: number | null
  last_seen_ms: number | null
  /** 1: its newest record is `exit`. */
  exited: number
  /** JSON of its last `fatal` record. */
  fatal: string | null
}

/** A call that was taken to have died with its process. */
export type Orphan = { callId: number; streamId: number; counted: CountedCall }

/** Calls that no record closed, as rows: they have a negative n. Inside the caller's transaction. */
export type Orphans = {
  traceOf(w: string): WriterTrace | undefined
  /** Whether the call's own record is there. Quick where the moment of its start is known. */
  hasRecord(w: string, call: string, startedMs: number | undefined): boolean
  /** The stream that stands for a journal; made where there is none. */
  stream(path: string, nowMs: number): number
  /** A slot of it was refused before. */
  isRefused(streamId: number, offset: number): boolean
  /** Counts what was stored of it. */
  count(streamId: number, counts: { rows: number; refused: readonly RefusedPiece[] }): void
  /** The row of a call that has not died after all, to be taken out; once. */
  take(call: string): Orphan | undefined
  /** After a rollback, and after more were stored and committed. */
  forget(): void
}

export function createOrphans(database: Database): Orphans {
  let known: Map<string, Orphan> | undefined
  const trace = database.prepare(`
    SELECT hostname, beat_ms, last_seen_ms, coalesce(exited_ms >= last_seen_ms, 0) AS exited,
      (SELECT detail FROM process_event WHERE writer_id = writer.id AND kind = 'fatal'
        ORDER BY n DESC LIMIT 1) AS fatal
    FROM writer WHERE w = ?`)
  // By the moment, of which there is an index: a writer may have millions of calls.
  const recordAt = database.prepare(`
    SELECT 1 FROM call JOIN call_text ON call_text.call_id = call.id
    WHERE call.started_ms = ? AND uid = ? AND call.n > 0`)
  const recordOf = database.prepare(`
    SELECT 1 FROM call JOIN call_text ON call_text.call_id = call.id
    WHERE writer_id = (SELECT id FROM writer WHERE w = ?) AND call.n > 0 AND uid = ?`)
  const findStream = database
    .prepare("SELECT id FROM stream WHERE path = ? AND state = 'journal'")
    .pluck()
  const addStream = database.prepare(`
    INSERT INTO stream (path, state, head, anchor, first_seen_ms, last_growth_ms)
    VALUES (?, 'journal', x'', x'', ?, ?)`)
  const refused = database.prepare(
    'SELECT 1 FROM quarantine WHERE stream_id = ? AND line_offset = ?',
  )
  const count = database.prepare(`
    UPDATE stream SET rows = rows + @rows, quarantined_lines = quarantined_lines + @lines,
      quarantined_bytes = quarantined_bytes + @bytes, committed_offset = committed_offset + @bytes
    WHERE id = @id`)
  const uncount = database.prepare('UPDATE stream SET rows = rows - 1 WHERE id = ?')
  const all = database.prepare(`
    SELECT call.*, uid FROM writer_range AS range
    JOIN call ON call.writer_id = range.writer_id AND n BETWEEN range.first_n AND range.last_n
    JOIN call_text ON call_text.call_id = call.id
    WHERE range.last_n < 0`)

  function orphans(): Map<string, Orphan> {
    known ??= new Map((all.all() as OrphanRow[]).map((row) => [row.uid, orphanOf(row)]))
    return known
  }

  return {
    traceOf: (w) => trace.get(w) as WriterTrace | undefined,
    hasRecord(w, call, startedMs) {
      const found = startedMs === undefined ? recordOf.get(w, call) : recordAt.get(startedMs, call)
      return found !== undefined
    },
    stream(path, nowMs) {
      const found = findStream.get(path) as number | undefined
      return found ?? Number(addStream.run(path, nowMs, nowMs).lastInsertRowid)
    },
    isRefused: (streamId, offset) => refused.get(streamId, offset) !== undefined,
    count(id, { rows, refused: pieces }) {
      const bytes = pieces.reduce((sum, piece) => sum + piece.bytes, 0)
      count.run({ id, rows, bytes, lines: pieces.length })
    },
    take(call) {
      const orphan = orphans().get(call)
      if (!orphan) return undefined
      orphans().delete(call)
      uncount.run(orphan.streamId)
      return orphan
    },
    forget() {
      known = undefined
    },
  }
}

type OrphanRow = {
  id: number
  stream_id: number
  uid: string
  tool_id: number
  class_id: number
  outcome_id: number
  server_id: number
  client_id: number
  started_ms: number
  duration_us: number
}

function orphanOf(row: OrphanRow): Orphan {
  return {
    callId: row.id,
    streamId: row.stream_id,
    counted: {
      toolId: row.tool_id,
      classId: row.class_id,
      outcomeId: row.outcome_id,
      serverId: row.server_id,
      clientId: row.client_id,
      startedMs: row.started_ms,
      durationUs: row.duration_us,
    },
  }
}
