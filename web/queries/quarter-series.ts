import { ERROR_CLASSES, type ErrorClass } from '../../server/call-log/record.ts'
import type { QuarterSeries } from './call-store.ts'
import { OPEN } from './count-questions.ts'
import { classOf, isFailure, isRated } from './counting.ts'
import type { Filter } from './filter.ts'
import type { Reader } from './reader.ts'
import { type SeriesRow, seriesRows } from './sql/counts.ts'

/**
 * For each tool × class with a failure: the quarters in which the tool was called. `calls` are
 * those that count for the rate, whatever classes and outcomes the filter names.
 */
export function quarterSeries(reader: Reader, filter: Filter): QuarterSeries[] {
  const wanted = wantedClasses(filter)
  const { counts } = reader.select({ ...filter, class: OPEN, outcome: OPEN })
  const byTool = new Map<number, SeriesRow[]>()
  for (const row of reader.all<SeriesRow>(seriesRows(counts), counts.values)) {
    const rows = byTool.get(row.tool_id)
    if (rows) rows.push(row)
    else byTool.set(row.tool_id, [row])
  }
  return [...byTool].flatMap(([id, rows]) => {
    const tool = reader.names().tools.get(id)
    if (!tool) return []
    return seriesOfTool(rows)
      .filter((series) => wanted.has(series.class))
      .map((series) => ({ server: tool.server, tool: tool.name, ...series }))
  })
}

/** A client that cancels has not met a failure. */
function wantedClasses({ class: { include, exclude } }: Filter): Set<ErrorClass> {
  const kept = ERROR_CLASSES.filter((name) => include.length === 0 || include.includes(name))
  return new Set(kept.filter((name) => name !== 'cancelled' && !exclude.includes(name)))
}

type ClassSeries = Pick<QuarterSeries, 'class' | 'quarters'>

function seriesOfTool(rows: readonly SeriesRow[]): ClassSeries[] {
  const calls = new Map<number, number>()
  const failures = new Map<ErrorClass, Map<number, number>>()
  for (const row of rows) {
    if (!isRated(row)) continue
    calls.set(row.quarter, (calls.get(row.quarter) ?? 0) + row.n)
    const name = isFailure(row) ? classOf(row.class_id) : undefined
    if (!name) continue
    const quarters = failures.get(name) ?? new Map<number, number>()
    quarters.set(row.quarter, (quarters.get(row.quarter) ?? 0) + row.n)
    failures.set(name, quarters)
  }
  return ERROR_CLASSES.flatMap((name) => {
    const failed = failures.get(name)
    if (!failed) return []
    const quarters = [...calls].map(([quarter, n]) => ({
      quarter,
      calls: n,
      failures: failed.get(quarter) ?? 0,
    }))
    return [{ class: name, quarters }]
  })
}
