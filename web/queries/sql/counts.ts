import { QUARTER_MS } from '../../../ingest/store/schema.ts'
import type { CallCondition, Condition } from './conditions.ts'

/**
 * Questions that count. Each reads either the counts kept a quarter hour, or single calls for
 * filters that only those can answer: the columns are the same.
 */
export type Source = Condition & { from: string }

export function countSource(where: Condition): Source {
  return { ...where, from: '(SELECT *, calls AS amount FROM quarter_count)' }
}

/** Of the counted calls those whose rows are there. */
export function keptSource(where: Condition): Source {
  return { ...where, from: '(SELECT *, calls - removed_calls AS amount FROM quarter_count)' }
}

/** Of the counted calls those whose rows were removed. */
export function removedSource(where: Condition): Source {
  return { ...where, from: '(SELECT *, removed_calls AS amount FROM quarter_count)' }
}

export function callSource(where: CallCondition): Source {
  const { sql, values, table } = where
  const columns = `*, started_ms / ${QUARTER_MS} AS quarter, 1 AS amount`
  return { sql, values, from: `(SELECT ${columns} FROM ${table}) AS call` }
}

/** Everything a chart, a rate or a heatmap of the whole selection needs. */
export type QuarterRow = { quarter: number; outcome_id: number; class_id: number; n: number }

export function quarterRows(source: Source): string {
  return `SELECT quarter, outcome_id, class_id, SUM(amount) AS n FROM ${source.from}
    WHERE ${source.sql} GROUP BY quarter, outcome_id, class_id ORDER BY quarter`
}

export type ToolCountRow = {
  tool_id: number
  outcome_id: number
  class_id: number
  n: number
  last_quarter: number
}

export function toolCountRows(source: Source): string {
  return `SELECT tool_id, outcome_id, class_id, SUM(amount) AS n, MAX(quarter) AS last_quarter
    FROM ${source.from} WHERE ${source.sql} GROUP BY tool_id, outcome_id, class_id`
}

export type FacetColumn = 'server_id' | 'tool_id' | 'class_id' | 'outcome_id' | 'client_id'
export type FacetRow = { id: number; n: number }

export function facetRows(source: Source, column: FacetColumn): string {
  return `SELECT ${column} AS id, SUM(amount) AS n FROM ${source.from} WHERE ${source.sql} GROUP BY ${column}`
}

/** Usually nothing was removed, and the sum need not be asked for. */
export const ANY_REMOVED = 'SELECT 1 AS one FROM removal WHERE calls > 0 LIMIT 1'

export type TotalRow = { n: number | null }

export function totalRow(source: Source): string {
  return `SELECT SUM(amount) AS n FROM ${source.from} WHERE ${source.sql}`
}

/** For the scan: a tool's calls a quarter, split by class. */
export type SeriesRow = {
  tool_id: number
  quarter: number
  outcome_id: number
  class_id: number
  n: number
}

export function seriesRows(source: Source): string {
  return `SELECT tool_id, quarter, outcome_id, class_id, SUM(amount) AS n FROM ${source.from}
    WHERE ${source.sql} GROUP BY tool_id, quarter, outcome_id, class_id ORDER BY tool_id, quarter`
}

/** Only single calls know their durations' bins. */
export type DurationRow = { tool_id: number; duration_bin: number; n: number; last_ms: number }

export function durationRows(where: CallCondition): string {
  return `SELECT tool_id, duration_bin, COUNT(*) AS n, MAX(started_ms) AS last_ms FROM ${where.table}
    WHERE ${where.sql} GROUP BY tool_id, duration_bin ORDER BY tool_id, duration_bin`
}

/** A session is the client's; where the transport has none, the server's process stands for it. */
export const SESSION_IDENTITY = 'COALESCE(call.session_id, -call.writer_id)'

export function sessionTotal(where: CallCondition): string {
  return `SELECT COUNT(DISTINCT ${SESSION_IDENTITY}) AS n FROM ${where.table} WHERE ${where.sql}`
}
