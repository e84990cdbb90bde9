import type { Database } from './load-sqlite.ts'
import type { ReceivedMark } from './received.ts'
import { createRemovals, type RemovalReason, type Removed } from './removals.ts'
import { createCallRemover } from './remove-calls.ts'

export type Pruned = { any: boolean; removed: Removed; newestMs: number | undefined }

/** Removes the rows that retention names, some at a time; inside the caller's transaction. */
export type RowPruner = {
  /** Rows older than this that had also been received by the mark. */
  removeOlder(beforeMs: number, received: ReceivedMark, rows: number): Pruned
  /** The oldest calls and whatever is as old as they are. */
  removeOldest(rows: number): Pruned
  count(reason: RemovalReason, pruned: Pruned, nowMs: number): void
}

export function createRowPruner(database: Database): RowPruner {
  const calls = createCallRemover(database)
  const removals = createRemovals(database)
  const oldCalls = database
    .prepare('SELECT id FROM call WHERE id < ? AND started_ms < ? ORDER BY id LIMIT ?')
    .pluck()
  const oldestCalls = database
    .prepare('SELECT id FROM call ORDER BY started_ms, id LIMIT ?')
    .pluck()
  const oldestLeftMs = database.prepare('SELECT min(started_ms) FROM call').pluck()
  const deleteEvents = database.prepare(`
    DELETE FROM process_event WHERE id IN (
      SELECT id FROM process_event WHERE id < ? AND at_ms < ? ORDER BY id LIMIT ?)`)
  const nextEvents = nextOf(database, 'process_event')
  const nextEntries = nextOf(database, 'quarantine')
  const quarantine = createQuarantinePruner(database)

  function removeCalls(ids: number[]): Pruned {
    const { calls: count, newestMs } = calls.remove(ids, 'stay')
    return { any: true, removed: { calls: count, events: 0, refusedLines: 0 }, newestMs }
  }

  /** Those received first, so that a step does not look at all there are. */
  function firstOf(rows: number): ReceivedMark {
    return { calls: 0, events: nextEvents(rows), quarantine: nextEntries(rows) }
  }

  function removeRest(beforeMs: number, received: ReceivedMark, rows: number): Pruned {
    const events = deleteEvents.run(received.events, beforeMs, rows).changes
    const entries = quarantine(received.quarantine, beforeMs, rows)
    return {
      any: events + entries.count > 0,
      removed: { calls: 0, events, refusedLines: entries.lines },
      newestMs: undefined,
    }
  }

  return {
    removeOlder(beforeMs, received, rows) {
      const ids = oldCalls.all(received.calls, beforeMs, rows) as number[]
      return ids.length > 0 ? removeCalls(ids) : removeRest(beforeMs, received, rows)
    },
    removeOldest(rows) {
      const ids = oldestCalls.all(rows) as number[]
      if (ids.length > 0) {
        const pruned = removeCalls(ids)
        // Events and refused lines follow the calls, so that they do not fill the space alone.
        const leftMs = (oldestLeftMs.get() as number | null) ?? (pruned.newestMs as number)
        const { removed } = removeRest(leftMs, firstOf(rows), rows)
        return { ...pruned, removed: { ...removed, calls: pruned.removed.calls } }
      }
      return removeRest(Number.MAX_SAFE_INTEGER, firstOf(rows), rows)
    },
    count(reason, { removed, newestMs }, nowMs) {
      const day = new Date(nowMs).toISOString().slice(0, 10)
      removals.count(`${reason}:${day}`, reason, removed, nowMs, newestMs)
    },
  }
}

/** The id after the first so many rows. */
function nextOf(database: Database, table: 'process_event' | 'quarantine') {
  const next = database
    .prepare(`SELECT 1 + max(id) FROM (SELECT id FROM ${table} ORDER BY id LIMIT ?)`)
    .pluck()
  return (rows: number): number => (next.get(rows) as number | null) ?? 0
}

/** Takes out entries and counts them at their streams, so that each byte stays accounted for. */
function createQuarantinePruner(database: Database) {
  const old = database
    .prepare(`
      SELECT json_group_array(id) FROM (
        SELECT id FROM quarantine WHERE id < ? AND seen_ms < ? ORDER BY id LIMIT ?)`)
    .pluck()
  const note = database.prepare(`
    UPDATE stream SET
      removed_quarantined_bytes = removed_quarantined_bytes + gone.bytes,
      removed_quarantined_lines = removed_quarantined_lines + gone.lines
    FROM (
      SELECT stream_id, sum(length_bytes) AS bytes, sum(lines) AS lines FROM quarantine
      WHERE id IN (SELECT value FROM json_each(?)) GROUP BY stream_id
    ) AS gone WHERE stream.id = gone.stream_id`)
  const remove = database.prepare(`
    DELETE FROM quarantine WHERE id IN (SELECT value FROM json_each(?)) RETURNING lines`)
  return (beforeId: number, beforeMs: number, rows: number) => {
    const ids = old.get(beforeId, beforeMs, rows) as string
    note.run(ids)
    const gone = remove.all(ids) as { lines: number }[]
    return { count: gone.length, lines: gone.reduce((sum, { lines }) => sum + lines, 0) }
  }
}
