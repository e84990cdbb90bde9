import { OUTCOMES } from '../../../server/call-log/record.ts'
import type { Condition } from './conditions.ts'
import { SESSION_IDENTITY } from './counts.ts'

const FAILED = OUTCOMES.indexOf('failed') + 1

export type SignatureDbRow = {
  id: number
  fingerprint: string
  tool_id: number
  code: string
  path: string
  subtype: string | null
  expected: string | null
  received: string | null
  suggest: string | null
  calls: number
  failures: number
  sessions: number
  first_ms: number
  last_ms: number
  client_ids: string
  sample_id: number
}

/** Ids grow as calls arrive: the greatest one is the newest to have come. */
export function signatureRows(where: Condition): string {
  return `SELECT signature.*, found.*
    FROM (
      SELECT call_signature.signature_id, COUNT(*) AS calls,
        SUM(outcome_id = ${FAILED}) AS failures, COUNT(DISTINCT ${SESSION_IDENTITY}) AS sessions,
        json_group_array(DISTINCT client_id) AS client_ids,
        MIN(started_ms) AS first_ms, MAX(started_ms) AS last_ms, MAX(call.id) AS sample_id
      FROM call_signature JOIN call ON call.id = call_signature.call_id
      WHERE ${where.sql}
      GROUP BY call_signature.signature_id
    ) AS found
    JOIN signature ON signature.id = found.signature_id
    ORDER BY sessions DESC, calls DESC, signature.id`
}

/** How many calls and sessions each tool had: what a signature's share is measured against. */
export type ToolExposureRow = { tool_id: number; calls: number; sessions: number }

export function toolExposureRows(where: Condition): string {
  return `SELECT tool_id, COUNT(*) AS calls, COUNT(DISTINCT ${SESSION_IDENTITY}) AS sessions
    FROM call WHERE ${where.sql} GROUP BY tool_id`
}

export const ARGS_OF = 'SELECT args FROM call_text WHERE call_id = ?'

export type WrongNameDbRow = {
  tool_id: number
  unknown_fingerprint: string
  unknown_path: string
  missing_fingerprint: string
  missing_path: string
  calls: number
  sessions: number
}

/** Calls with one unknown key and one missing parameter, and nothing else of either kind. */
export function wrongNameRows(where: Condition): string {
  return `SELECT unknown.tool_id, unknown.fingerprint AS unknown_fingerprint,
      unknown.path AS unknown_path, missing.fingerprint AS missing_fingerprint,
      missing.path AS missing_path, COUNT(*) AS calls, COUNT(DISTINCT session) AS sessions
    FROM (
      SELECT call.id, ${SESSION_IDENTITY} AS session,
        MAX(CASE code WHEN 'unknown_key' THEN signature.id END) AS unknown_id,
        MAX(CASE code WHEN 'missing_required' THEN signature.id END) AS missing_id
      FROM call_signature
      JOIN signature ON signature.id = call_signature.signature_id
      JOIN call ON call.id = call_signature.call_id
      WHERE ${where.sql}
      GROUP BY call.id
      HAVING SUM(code = 'unknown_key') = 1 AND SUM(code = 'missing_required') = 1
    ) AS pair
    JOIN signature AS unknown ON unknown.id = pair.unknown_id
    JOIN signature AS missing ON missing.id = pair.missing_id
    GROUP BY pair.unknown_id, pair.missing_id
    ORDER BY sessions DESC, calls DESC, unknown.id`
}
