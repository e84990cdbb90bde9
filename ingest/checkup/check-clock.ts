import type { Database } from '../store/load-sqlite.ts'
import { CALL_FLAGS } from '../store/schema.ts'
import { type Finding, finding, ok, plural } from './finding.ts'

/** As field-values.ts takes a time for plausible; a little more for the time since. */
const AHEAD_MS = 3 * 60_000
const JUMP_MS = 60_000
const DAY_MS = 24 * 3600_000

const JUMPS = `SELECT COUNT(*) AS jumps, COUNT(DISTINCT writer_id) AS writers, MAX(back_ms) AS back_ms
  FROM (
    SELECT writer_id, LAG(at_ms) OVER (PARTITION BY writer_id ORDER BY n) - at_ms AS back_ms
    FROM process_event
  )
  WHERE back_ms > ?`

const FUTURE = 'SELECT MAX(started_ms) FROM call'
const UNKNOWN = 'SELECT COUNT(*) FROM call WHERE started_ms >= ? AND flags & ? <> 0'
const LAST_POLL = 'SELECT last_poll_ms FROM ingester'

/** Times that cannot be true, as far as the stored rows tell. */
export function checkClock(database: Database, nowMs: number): Finding[] {
  const findings: Finding[] = []
  const one = (sql: string, ...values: number[]): number | null =>
    (database
      .prepare(sql)
      .pluck()
      .get(...values) ?? null) as number | null
  const newestMs = Math.max(one(LAST_POLL) ?? 0, one(FUTURE) ?? 0)
  if (newestMs > nowMs + AHEAD_MS) {
    const found = `The database knows of ${new Date(newestMs).toISOString()}, and here it is ${new Date(nowMs).toISOString()}: this machine's clock was set back.`
    findings.push(finding('clock', 'error', found, 'Set the clock, by NTP at best.'))
  }
  const unknown = one(UNKNOWN, nowMs - DAY_MS, CALL_FLAGS.clock) ?? 0
  if (unknown > 0) {
    const found = `${plural(unknown, 'call')} of the last day had no time, or one that cannot be true; they count at the time when they were read.`
    findings.push(
      finding('clock', 'warning', found, 'Set the clocks of the servers, by NTP at best.'),
    )
  }
  const jumps = database.prepare(JUMPS).get(JUMP_MS) as
    | { jumps: number; writers: number; back_ms: number | null }
    | undefined
  if (jumps && jumps.jumps > 0) {
    const seconds = Math.round((jumps.back_ms ?? 0) / 1000)
    const found = `The clock of a server went back ${plural(jumps.jumps, 'time')}, by up to ${plural(seconds, 'second')}; records keep their order.`
    findings.push(finding('clock', 'note', found))
  }
  return findings.length > 0 ? findings : [ok('clock', 'All times are plausible.')]
}
