import type { Database } from '../store/load-sqlite.ts'
import { addRemoved, NOTHING_REMOVED, type Removed } from '../store/removals.ts'
import { type Importer, importRequest } from './import-request.ts'
import { createRequestDesk, REQUEST_HANDLERS } from './request-desk.ts'
import { createRetention, type RetentionLimits } from './retention.ts'

/** What is done to the database between polls: retention, and what the readers' side asks for. */
export type Chores = {
  /**
   * Some of it, for about 50 ms; longer only where the database has outgrown its limit, since then
   * reading on would be no gain. Names may have gone: see Tailer.forgetNames. Throws what SQLite
   * throws.
   */
  step(): ChoresDone
  /** As sentences. */
  problems(): string[]
}

export type ChoresDone = {
  /** Rows were touched. */
  any: boolean
  removed: Removed
}

/** In this time more is removed than a poll can have stored. */
const OVER_SIZE_MS = 1000

export function createChores(
  database: Database,
  options: {
    databasePath: string
    retention: RetentionLimits
    /** Who takes on what others want imported; absent: nobody. */
    importer?: Importer
    now(): number
  },
): Chores {
  const retention = createRetention(database, options.retention, options.now)
  const requests = createRequestDesk(options.databasePath, options.now, {
    ...REQUEST_HANDLERS,
    ...(options.importer ? { import: importRequest(options.importer) } : {}),
  })

  function retain(done: ChoresDone): void {
    const until = performance.now() + OVER_SIZE_MS
    do {
      const removed = retention.step()
      if (!removed) return
      done.any = true
      addRemoved(done.removed, removed)
    } while (retention.isOverSize() && performance.now() < until)
  }

  return {
    step() {
      const done: ChoresDone = { any: false, removed: { ...NOTHING_REMOVED } }
      retain(done)
      if (requests.step(database)) done.any = true
      return done
    },
    problems: () =>
      [retention.problem(), requests.problem()].filter((problem) => problem !== undefined),
  }
}
