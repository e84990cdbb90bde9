import { QUARTER_MS } from '../../ingest/store/schema.ts'
import type { ErrorClass } from '../../server/call-log/record.ts'
import type { CallStore, QuarterSeries } from '../queries/call-store.ts'
import type { Choice, Filter } from '../queries/filter.ts'

export type FailureRow = {
  server: string
  tool: string
  class: ErrorClass
  failures: number
  /** Calls of the tool that count for its failure rate, whatever class the filter names. */
  calls: number
  /** Start of the newest of these failures; of its quarter hour where its row was removed. */
  lastMs: number
  /** Its id in the database, as on the pages; undefined where its row was removed. */
  lastCall: number | undefined
  lastMessage: string | undefined
}

/** One row for each tool and error class, most failures first. Costs one look-up a row. */
export function failureRows(store: CallStore, filter: Filter, limit: number): FailureRow[] {
  return store
    .quarterSeries(filter)
    .map((series) => ({ series, failures: failuresIn(series) }))
    .filter(({ failures }) => failures > 0)
    .sort((a, b) => b.failures - a.failures || compareNames(a.series, b.series))
    .slice(0, limit)
    .map(({ series, failures }) => withNewest(store, filter, series, failures))
}

function withNewest(
  store: CallStore,
  filter: Filter,
  series: QuarterSeries,
  failures: number,
): FailureRow {
  const only = <T extends string>(value: T): Choice<T> => ({ include: [value], exclude: [] })
  const narrowed: Filter = {
    ...filter,
    server: only(series.server),
    tool: only(series.tool),
    class: only(series.class),
  }
  const newest = store.calls(narrowed, { limit: 1 }).rows[0]
  const last = series.quarters.findLast((quarter) => quarter.failures > 0)
  return {
    server: series.server,
    tool: series.tool,
    class: series.class,
    failures,
    calls: series.quarters.reduce((sum, quarter) => sum + quarter.calls, 0),
    lastMs: newest?.startedMs ?? (last?.quarter ?? 0) * QUARTER_MS,
    lastCall: newest?.id,
    lastMessage: newest?.errorMessage,
  }
}

function failuresIn(series: QuarterSeries): number {
  return series.quarters.reduce((sum, quarter) => sum + quarter.failures, 0)
}

function compareNames(a: QuarterSeries, b: QuarterSeries): number {
  return a.server.localeCompare(b.server, 'en') || a.tool.localeCompare(b.tool, 'en')
}
