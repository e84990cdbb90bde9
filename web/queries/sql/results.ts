import { CALL_FLAGS } from '../../../ingest/store/schema.ts'
import type { CallCondition } from './conditions.ts'

export type ResultDayRow = {
  tool_id: number
  /** UTC days since 1970. */
  day: number
  calls: number
  empty: number
  suspect: number
}

/** Of calls that succeeded. */
export function resultDayRows(where: CallCondition): string {
  return `SELECT tool_id, started_ms / 86400000 AS day, COUNT(*) AS calls,
      SUM(flags & ${CALL_FLAGS.empty} <> 0) AS empty, SUM(flags & ${CALL_FLAGS.suspect} <> 0) AS suspect
    FROM ${where.table} WHERE ${where.sql}
    GROUP BY tool_id, day ORDER BY tool_id, day`
}
