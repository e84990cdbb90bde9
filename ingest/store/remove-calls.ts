import type { Database } from './load-sqlite.ts'

/**
 * What the quarter counts do: `stay` counts the calls on, as removed ones, so that charts outlive
 * rows; `go` takes them out, as if they had never been.
 */
export type CountsFate = 'stay' | 'go'

export type RemovedCalls = {
  calls: number
  /** Epoch ms; undefined where there was none. */
  newestMs: number | undefined
}

/**
 * Removes calls and all that hangs on them, and the sessions and signatures that have no call
 * left. Inside the caller's transaction, on a connection that does not look after foreign keys.
 * Names that were removed may be known to others by their ids: see BatchWriter.forget.
 */
export type CallRemover = {
  remove(callIds: readonly number[], counts: CountsFate): RemovedCalls
}

export function createCallRemover(database: Database): CallRemover {
  const removeAll = STATEMENTS.map((sql) => database.prepare(sql))
  const keepCounts = database.prepare(`${GROUPED} ON CONFLICT DO UPDATE SET
    removed_calls = removed_calls + excluded.removed_calls,
    removed_duration_us = removed_duration_us + excluded.removed_duration_us`)
  const takeCounts = database.prepare(`${GROUPED} ON CONFLICT DO UPDATE SET
    calls = calls - excluded.removed_calls,
    duration_us = duration_us - excluded.removed_duration_us`)
  const about = database.prepare(`
    SELECT count(*) AS calls, max(started_ms) AS newestMs,
      json_group_array(DISTINCT session_id) AS sessions
    FROM call WHERE id IN ${IDS}`)
  const signaturesOf = database
    .prepare(`
      SELECT json_group_array(DISTINCT signature_id) FROM call_signature WHERE call_id IN ${IDS}`)
    .pluck()
  const dropSessions = database.prepare(`
    DELETE FROM session WHERE id IN ${IDS}
      AND NOT EXISTS (SELECT 1 FROM call WHERE call.session_id = session.id)`)
  const dropSignatures = database.prepare(`
    DELETE FROM signature WHERE id IN ${IDS}
      AND NOT EXISTS (SELECT 1 FROM call_signature WHERE signature_id = signature.id)`)

  return {
    remove(callIds, counts) {
      const ids = JSON.stringify(callIds)
      const { calls, newestMs, sessions } = about.get(ids) as AboutRow
      const signatures = signaturesOf.get(ids) as string
      if (counts === 'stay') keepCounts.run(ids)
      else takeCounts.run(ids)
      for (const statement of removeAll) statement.run(ids)
      dropSessions.run(sessions)
      dropSignatures.run(signatures)
      return { calls, newestMs: newestMs ?? undefined }
    },
  }
}

type AboutRow = { calls: number; newestMs: number | null; sessions: string }

/** The parameter is a JSON list. */
const IDS = '(SELECT value FROM json_each(?))'

const STATEMENTS = [
  `DELETE FROM call_signature WHERE call_id IN ${IDS}`,
  `DELETE FROM call_text WHERE call_id IN ${IDS}`,
  `DELETE FROM call WHERE id IN ${IDS}`,
]

const GROUPED = `
  INSERT INTO quarter_count
    (tool_id, class_id, outcome_id, server_id, client_id, quarter, calls, duration_us,
     removed_calls, removed_duration_us)
  SELECT tool_id, class_id, outcome_id, server_id, client_id, started_ms / 900000, 0, 0,
    count(*), sum(duration_us)
  FROM call WHERE id IN ${IDS} GROUP BY 1, 2, 3, 4, 5, 6`
