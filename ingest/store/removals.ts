import type { Database } from './load-sqlite.ts'

export type Removed = {
  calls: number
  events: number
  /** Refused lines whose entries, or samples, were removed. */
  refusedLines: number
}

export type RemovalReason = 'age' | 'size' | 'forget'

/** Counts what is removed, in the transaction that removes it. */
export type Removals = {
  /** `newestMs`: of the calls. */
  count(
    key: string,
    reason: RemovalReason,
    removed: Partial<Removed>,
    nowMs: number,
    newestMs?: number,
  ): void
  of(key: string): Removed
}

export const NOTHING_REMOVED: Removed = { calls: 0, events: 0, refusedLines: 0 }

export function createRemovals(database: Database): Removals {
  const add = database.prepare(`
    INSERT INTO removal (key, reason, first_ms, last_ms, calls, events, refused_lines, newest_ms)
    VALUES (@key, @reason, @nowMs, @nowMs, @calls, @events, @refusedLines, @newestMs)
    ON CONFLICT DO UPDATE SET
      last_ms = excluded.last_ms,
      calls = calls + excluded.calls,
      events = events + excluded.events,
      refused_lines = refused_lines + excluded.refused_lines,
      newest_ms = max(coalesce(newest_ms, excluded.newest_ms), coalesce(excluded.newest_ms, newest_ms))`)
  const find = database.prepare(
    'SELECT calls, events, refused_lines AS refusedLines FROM removal WHERE key = ?',
  )
  return {
    count(key, reason, removed, nowMs, newestMs) {
      add.run({ key, reason, nowMs, newestMs: newestMs ?? null, ...NOTHING_REMOVED, ...removed })
    },
    of: (key) => (find.get(key) as Removed | undefined) ?? NOTHING_REMOVED,
  }
}

export function addRemoved(sum: Removed, more: Partial<Removed>): void {
  sum.calls += more.calls ?? 0
  sum.events += more.events ?? 0
  sum.refusedLines += more.refusedLines ?? 0
}
