import { QUARTER_MS } from '../../ingest/store/schema.ts'
import {
  ERROR_CLASSES,
  type ErrorClass,
  OUTCOMES,
  type Outcome,
} from '../../server/call-log/record.ts'
import { type Interval, wilsonInterval } from '../analysis/statistics.ts'
import type { HeatmapCell, OutcomeCounts, TimeBucket } from './call-store.ts'
import type { Filter } from './filter.ts'
import type { QuarterRow } from './sql/counts.ts'
import { bucketEdges, chooseBucketMs } from './time-buckets.ts'
import { wallQuarter, weekdayOfDay } from './time-zones.ts'

export function outcomeOf(id: number): Outcome {
  const outcome = OUTCOMES[id - 1]
  if (!outcome) throw new RangeError(`the database has an outcome ${id} that this version lacks`)
  return outcome
}

export function classOf(id: number): ErrorClass | undefined {
  return ERROR_CLASSES[id - 1]
}

export function noOutcomes(): OutcomeCounts {
  return { succeeded: 0, retried: 0, failed: 0, deferred: 0 }
}

/** What rates are made of: deferred and cancelled calls count neither way. */
export type Tally = {
  calls: number
  rated: number
  failures: number
  byOutcome: OutcomeCounts
  byClass: Partial<Record<ErrorClass, number>>
}

export function emptyTally(): Tally {
  return { calls: 0, rated: 0, failures: 0, byOutcome: noOutcomes(), byClass: {} }
}

type Counted = { outcome_id: number; class_id: number; n: number }

export function isRated({ outcome_id, class_id }: Omit<Counted, 'n'>): boolean {
  return outcomeOf(outcome_id) !== 'deferred' && classOf(class_id) !== 'cancelled'
}

export function isFailure(row: Omit<Counted, 'n'>): boolean {
  return outcomeOf(row.outcome_id) === 'failed' && isRated(row)
}

export function tally(total: Tally, row: Counted): void {
  const name = classOf(row.class_id)
  total.calls += row.n
  total.byOutcome[outcomeOf(row.outcome_id)] += row.n
  if (name) total.byClass[name] = (total.byClass[name] ?? 0) + row.n
  if (isRated(row)) total.rated += row.n
  if (isFailure(row)) total.failures += row.n
}

export function tallyOf(rows: readonly Counted[]): Tally {
  const total = emptyTally()
  for (const row of rows) tally(total, row)
  return total
}

export function failureRate(
  total: Pick<Tally, 'rated' | 'failures'>,
): { rate: number; interval: Interval } | undefined {
  const interval = wilsonInterval(total.failures, total.rated)
  return interval && { rate: total.failures / total.rated, interval }
}

/** The class with most failures; of equals the first in the list of classes. */
export function topClass({ byClass }: Tally): ErrorClass | undefined {
  let top: ErrorClass | undefined
  for (const name of ERROR_CLASSES) {
    if (name !== 'cancelled' && (byClass[name] ?? 0) > (top ? (byClass[top] ?? 0) : 0)) top = name
  }
  return top
}

/** Rows must be in order of quarters. */
export function foldIntoBuckets(
  rows: readonly QuarterRow[],
  filter: Filter,
  nowMs: number,
): TimeBucket[] {
  const bucketMs = chooseBucketMs(filter.fromMs, filter.toMs)
  const edges = bucketEdges(filter.zone, filter.fromMs, filter.toMs, bucketMs)
  let next = 0
  return edges.slice(0, -1).map((startMs, i) => {
    const endMs = edges[i + 1] ?? filter.toMs
    const total = emptyTally()
    for (; next < rows.length; next++) {
      const row = rows[next]
      if (!row || row.quarter * QUARTER_MS >= endMs) break
      tally(total, row)
    }
    const { byOutcome, byClass } = total
    return { startMs, endMs, byOutcome, byClass, unfinished: endMs > nowMs }
  })
}

export function foldIntoHeatmap(rows: readonly QuarterRow[], zone: string): HeatmapCell[] {
  const cells = Array.from({ length: 168 }, (_, i) => ({
    weekday: Math.floor(i / 24) + 1,
    hour: i % 24,
    rated: 0,
    failures: 0,
  }))
  let lastQuarter: number | undefined
  let cell = cells[0]
  for (const row of rows) {
    if (row.quarter !== lastQuarter) {
      const wall = wallQuarter(zone, row.quarter)
      const day = Math.floor(wall / 96)
      cell = cells[(weekdayOfDay(day) - 1) * 24 + Math.floor((wall - day * 96) / 4)]
      lastQuarter = row.quarter
    }
    if (!cell) continue
    if (isRated(row)) cell.rated += row.n
    if (isFailure(row)) cell.failures += row.n
  }
  return cells
}
