import type { Database } from './load-sqlite.ts'

/** Rows with lower ids had been received at some time. */
export type ReceivedMark = { calls: number; events: number; quarantine: number }

/** Remembers about every hour how far rows had come, since rows do not tell when they were read. */
export type ReceivedMarks = {
  /** Inside the caller's transaction. */
  set(nowMs: number): void
  /** The last one that was set at or before this time. */
  before(ms: number): ReceivedMark | undefined
  /** Marks that no question will ask for any more. */
  dropBefore(ms: number): void
}

export const MARK_EVERY_MS = 3_600_000

export function createReceivedMarks(database: Database): ReceivedMarks {
  const add = database.prepare(`
    INSERT OR REPLACE INTO received (at_ms, next_call_id, next_event_id, next_quarantine_id)
    SELECT ?, ${nextId('call')}, ${nextId('process_event')}, ${nextId('quarantine')}`)
  const find = database.prepare(`
    SELECT next_call_id AS calls, next_event_id AS events, next_quarantine_id AS quarantine
    FROM received WHERE at_ms <= ? ORDER BY at_ms DESC LIMIT 1`)
  // The newest of them still answers for the time until the next.
  const drop = database.prepare(`
    DELETE FROM received
    WHERE at_ms < (SELECT max(at_ms) FROM received WHERE at_ms <= ?)`)
  return {
    set: (nowMs) => {
      add.run(nowMs)
    },
    before: (ms) => find.get(ms) as ReceivedMark | undefined,
    dropBefore: (ms) => {
      drop.run(ms)
    },
  }
}

/** All these tables count with AUTOINCREMENT. */
function nextId(table: string): string {
  return `1 + coalesce((SELECT seq FROM sqlite_sequence WHERE name = '${table}'), 0)`
}
