import { findLoops } from '../analysis/retry-loops.ts'
import type { SessionCall } from './call-store.ts'
import { rangeOnly } from './count-questions.ts'
import { classOf, outcomeOf } from './counting.ts'
import type { Filter } from './filter.ts'
import type { Reader } from './reader.ts'
import { repeatingSessionRows, type SessionCallRow } from './sql/repeats.ts'

/** Loops that cross the edge of a range are seen whole: their pauses are ten minutes at most. */
const MARGIN_MS = 3_600_000

export function repeatingSessions(reader: Reader, filter: Filter): SessionCall[] {
  const range: Filter = {
    ...rangeOnly(filter),
    fromMs: filter.fromMs - MARGIN_MS,
    toMs: filter.toMs + MARGIN_MS,
  }
  return reader.remember('repeating sessions', range, () => {
    const { calls: where } = reader.select(range)
    const values = [...where.values, ...where.values]
    const { tools } = reader.names()
    return reader.all<SessionCallRow>(repeatingSessionRows(where), values).map((row) => ({
      id: row.id,
      session: row.session,
      startedMs: row.started_ms,
      durationMs: row.duration_us / 1000,
      server: tools.get(row.tool_id)?.server ?? '',
      tool: tools.get(row.tool_id)?.name ?? '',
      argsKey: row.args_key ?? undefined,
      outcome: outcomeOf(row.outcome_id),
      class: classOf(row.class_id),
      request: row.request ?? undefined,
    }))
  })
}

/** Ids of the calls in retry loops: what the mark `loop` stands for. */
export function loopIds(reader: Reader, filter: Filter): number[] {
  const calls = repeatingSessions(reader, filter)
  return findLoops(calls, filter.toMs).flatMap((loop) => loop.calls.map(({ id }) => id))
}
