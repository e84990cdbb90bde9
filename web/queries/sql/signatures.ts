import type { Condition } from './conditions.ts'
import { SESSION_IDENTITY } from './counts.ts'

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
  sessions: number
  first_ms: number
  last_ms: number
  client_ids: string
  sample_id: number
}

/**
 * `sample_id` is the newest call of the signature. SQLite takes it from the row of MAX(started_ms);
 * it is the only aggregate of its kind here, as that rule demands.
 */
export function signatureRows(where: Condition): string {
  return `SELECT signature.*, found.*
    FROM (
      SELECT call_signature.signature_id, COUNT(*) AS calls,
        COUNT(DISTINCT ${SESSION_IDENTITY}) AS sessions,
        json_group_array(DISTINCT client_id) AS client_ids,
        MAX(started_ms) AS last_ms, call.id AS sample_id
      FROM call_signature JOIN call ON call.id = call_signature.call_id
      WHERE ${where.sql}
      GROUP BY call_signature.signature_id
    ) AS found
    JOIN signature ON signature.id = found.signature_id
    ORDER BY sessions DESC, calls DESC, signature.id`
}

export type FirstRow = { signature_id: number; first_ms: number }

export function firstRows(where: Condition): string {
  return `SELECT call_signature.signature_id, MIN(started_ms) AS first_ms
    FROM call_signature JOIN call ON call.id = call_signature.call_id
    WHERE ${where.sql} GROUP BY call_signature.signature_id`
}

/** How many calls and sessions each tool had: what a signature's share is measured against. */
export type ToolExposureRow = { tool_id: number; calls: number; sessions: number }

export function toolExposureRows(where: Condition): string {
  return `SELECT tool_id, COUNT(*) AS calls, COUNT(DISTINCT ${SESSION_IDENTITY}) AS sessions
    FROM call WHERE ${where.sql} GROUP BY tool_id`
}

export const ARGS_OF = 'SELECT args FROM call_text WHERE call_id = ?'
