import type { Database } from '../store/load-sqlite.ts'
import { createReceivedMarks, MARK_EVERY_MS } from '../store/received.ts'
import { NOTHING_REMOVED, type RemovalReason, type Removed } from '../store/removals.ts'
import { createRowPruner, type RowPruner } from '../store/row-pruner.ts'

export type RetentionLimits = {
  /** Rows are kept so long after they were made, or read if that was later. */
  maxAgeMs?: number | undefined
  /** Of the database file. Beyond it the oldest rows go, whatever their age. */
  maxBytes?: number | undefined
}

/**
 * Removes rows that are too old or too many, a short transaction at a time. Counts stay in the
 * charts; what was removed is counted in `removal`.
 */
export type Retention = {
  /** One step where one is due, and what it removed; undefined where nothing is left for now. */
  step(): Removed | undefined
  /** The file is larger than it may be: reading more has to wait. */
  isOverSize(): boolean
  /** A sentence where the limit cannot be kept. */
  problem(): string | undefined
}

/** Rows a transaction: about 50 ms. */
const STEP_ROWS = 1000
const LOOK_EVERY_MS = 60_000
/** Beyond the size as much is removed as makes room for a while. */
const ROOM_SHARE = 0.05
/** Free pages up to this share of the file are kept for what comes next. */
const KEPT_FREE_SHARE = 0.1
const KEPT_FREE_PAGES = 2000
const VACUUM_PAGES = 200

export function createRetention(
  database: Database,
  limits: RetentionLimits,
  now: () => number,
): Retention {
  const marks = createReceivedMarks(database)
  const pruner = createRowPruner(database)
  const pages = createPageCounts(database)
  let markedMs = Number.NEGATIVE_INFINITY
  let lookedMs = Number.NEGATIVE_INFINITY
  let isShrinking = false
  let nothingLeft = false

  function setMark(nowMs: number): void {
    // A clock that was set back must not stop the marks.
    if (Math.abs(nowMs - markedMs) < MARK_EVERY_MS) return
    markedMs = nowMs
    database.transaction(() => marks.set(nowMs)).immediate()
  }

  function removeOld(nowMs: number): Removed | undefined {
    if (limits.maxAgeMs === undefined) return undefined
    const beforeMs = nowMs - limits.maxAgeMs
    const received = marks.before(beforeMs)
    if (!received) return undefined
    return prune('age', nowMs, () => {
      const pruned = pruner.removeOlder(beforeMs, received, STEP_ROWS)
      if (!pruned.any) marks.dropBefore(beforeMs)
      return pruned
    })
  }

  function removeOldest(nowMs: number): Removed | undefined {
    const { maxBytes } = limits
    if (maxBytes === undefined) return undefined
    if (pages.fileBytes() > maxBytes) isShrinking = true
    if (pages.usedBytes() <= maxBytes * (1 - ROOM_SHARE)) isShrinking = false
    if (!isShrinking) return undefined
    const removed = prune('size', nowMs, () => pruner.removeOldest(STEP_ROWS))
    nothingLeft = removed === undefined
    if (nothingLeft) isShrinking = false
    return removed
  }

  function prune(
    reason: RemovalReason,
    nowMs: number,
    act: () => ReturnType<RowPruner['removeOldest']>,
  ): Removed | undefined {
    const pruned = database
      .transaction(() => {
        const result = act()
        if (result.any) pruner.count(reason, result, nowMs)
        return result
      })
      .immediate()
    return pruned.any ? pruned.removed : undefined
  }

  function giveBack(): boolean {
    const free = pages.free()
    const isOver = limits.maxBytes !== undefined && pages.fileBytes() > limits.maxBytes
    const kept = isOver ? 0 : Math.max(KEPT_FREE_PAGES, pages.total() * KEPT_FREE_SHARE)
    if (free <= kept) return false
    database.pragma(`incremental_vacuum(${VACUUM_PAGES})`)
    return pages.free() < free
  }

  return {
    step() {
      const nowMs = now()
      setMark(nowMs)
      const isDue = Math.abs(nowMs - lookedMs) >= LOOK_EVERY_MS
      const removed = removeOldest(nowMs) ?? (isDue ? removeOld(nowMs) : undefined)
      if (removed) return removed
      if ((isDue || this.isOverSize()) && giveBack()) return NOTHING_REMOVED
      if (isDue) lookedMs = nowMs
      return undefined
    },
    isOverSize: () => limits.maxBytes !== undefined && pages.fileBytes() > limits.maxBytes,
    problem() {
      if (!nothingLeft || !this.isOverSize()) return undefined
      return 'The database is larger than --max-db allows though it has no row left to remove: what is left are counts; allow more.'
    },
  }
}

function createPageCounts(database: Database) {
  const total = database.prepare('PRAGMA page_count').pluck()
  const free = database.prepare('PRAGMA freelist_count').pluck()
  const pageBytes = database.pragma('page_size', { simple: true }) as number
  return {
    total: () => total.get() as number,
    free: () => free.get() as number,
    fileBytes: () => (total.get() as number) * pageBytes,
    usedBytes: () => ((total.get() as number) - (free.get() as number)) * pageBytes,
  }
}
