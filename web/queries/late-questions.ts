import type { LateEnding } from './call-store.ts'
import type { Reader } from './reader.ts'
import { LATE_ENDINGS, LATE_ENDINGS_OF_CALL, type LateDbRow } from './sql/late.ts'

const DAY_MS = 24 * 3600_000
/** Of clocks that were set back meanwhile. */
const SLACK_MS = 60_000

export function lateEndings(reader: Reader, range: { fromMs: number; toMs: number }): LateEnding[] {
  return reader.all<LateDbRow>(LATE_ENDINGS, [range.fromMs, range.toMs]).map(toLateEnding)
}

/** Within a day of the call's start. */
export function lateEndingsOf(
  reader: Reader,
  call: { w: string; uid: string; started_ms: number },
): LateEnding[] {
  const { w, uid, started_ms: startedMs } = call
  const values = [startedMs - SLACK_MS, startedMs + DAY_MS, w, uid]
  return reader.all<LateDbRow>(LATE_ENDINGS_OF_CALL, values).map(toLateEnding)
}

function toLateEnding(row: LateDbRow): LateEnding {
  return {
    call: row.call ?? '',
    server: row.server ?? '',
    tool: row.tool ?? '',
    atMs: row.at_ms,
    ms: typeof row.ms === 'number' ? row.ms : 0,
    outcome: row.outcome === 'succeeded' ? 'succeeded' : 'failed',
  }
}
