import { OUTCOMES } from '../../../server/call-log/record.ts'
import type { Condition } from './conditions.ts'
import { SESSION_IDENTITY } from './counts.ts'

const FAILED = OUTCOMES.indexOf('failed') + 1

export type SessionCallRow = {
  id: number
  session: number
  started_ms: number
  duration_us: number
  server_id: number
  tool_id: number
  args_key: number | null
  outcome_id: number
  class_id: number
  request: string | number | null
}

/**
 * All calls of the sessions in which some call failed three times with the same arguments. Values:
 * those of `where` twice.
 */
export function repeatingSessionRows(where: Condition): string {
  return `SELECT call.id, ${SESSION_IDENTITY} AS session, started_ms, duration_us, server_id, tool_id,
      args_key, outcome_id, class_id, detail ->> '$.request' AS request
    FROM call JOIN call_text ON call_text.call_id = call.id
    WHERE ${where.sql} AND ${SESSION_IDENTITY} IN (
      SELECT ${SESSION_IDENTITY} FROM call
      WHERE ${where.sql} AND outcome_id = ${FAILED} AND class_id <> 0 AND args_key IS NOT NULL
      GROUP BY ${SESSION_IDENTITY}, tool_id, args_key HAVING COUNT(*) >= 3
    )
    ORDER BY session, started_ms, call.id`
}
