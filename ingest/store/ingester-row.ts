import type { Database } from './load-sqlite.ts'

export type IngesterState = {
  lagBytes: number
  roots: readonly string[]
  problems: readonly string[]
}

/** The one row that says who ingests and when it last looked. */
export type IngesterRow = {
  write(state: IngesterState, nowMs: number): void
}

const MAX_PROBLEMS = 50

export function createIngesterRow(database: Database, pid: number, startedMs: number): IngesterRow {
  const upsert = database.prepare(`
    INSERT INTO ingester (id, pid, started_ms, last_poll_ms, lag_bytes, roots, problems)
    VALUES (1, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET pid = excluded.pid, started_ms = excluded.started_ms,
      last_poll_ms = excluded.last_poll_ms, lag_bytes = excluded.lag_bytes,
      roots = excluded.roots, problems = excluded.problems`)
  return {
    write({ lagBytes, roots, problems }, nowMs) {
      upsert.run(
        pid,
        startedMs,
        nowMs,
        lagBytes,
        JSON.stringify(roots),
        JSON.stringify(problems.slice(0, MAX_PROBLEMS)),
      )
    },
  }
}

export function ingesterPid(database: Database): number | undefined {
  return database.prepare('SELECT pid FROM ingester').pluck().get() as number | undefined
}
