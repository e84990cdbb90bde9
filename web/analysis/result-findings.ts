import type { CallStore, ResultDay } from '../queries/call-store.ts'
import { type Filter, type FlagName, printFilter, withRange } from '../queries/filter.ts'
import { DAY_MS } from '../queries/time-zones.ts'
import { type Finding, type Grade, stableId } from './finding.ts'
import { binomialTail, sum, wilsonInterval } from './statistics.ts'
import { impactWords, percentText } from './words.ts'

/** An empty-result shift compares the last days with all before them. */
const RECENT_DAYS = 3
const MIN_EARLIER_DAYS = 7
const MIN_CALLS = 20
const MAX_P = 0.001

/** More empty results of a tool than it used to give. */
export type EmptyShift = {
  server: string
  tool: string
  recent: { calls: number; empty: number }
  earlier: { calls: number; empty: number }
  /** P(so many) at the upper end of the earlier rate's 95 % interval. */
  p: number
  /** First UTC day of the recent ones. */
  fromDay: number
}

/**
 * The tool is its own baseline: some are empty by nature. The earlier rate is taken at the upper end
 * of its interval, and the excess must show on two days, so that one caller's questions are not enough.
 */
export function emptyShifts(days: readonly ResultDay[], lastDay: number): EmptyShift[] {
  const fromDay = lastDay - RECENT_DAYS + 1
  return [...byTool(days).values()].flatMap((own) => {
    const recentDays = own.filter(({ day }) => day >= fromDay)
    const earlierDays = own.filter(({ day }) => day < fromDay)
    const [recent, earlier] = [totalOf(recentDays), totalOf(earlierDays)]
    if (earlierDays.length < MIN_EARLIER_DAYS) return []
    if (recent.calls < MIN_CALLS || earlier.calls < MIN_CALLS) return []
    const usual = wilsonInterval(earlier.empty, earlier.calls)?.high ?? 1
    const p = binomialTail(recent.calls, usual, recent.empty)
    const worseDays = recentDays.filter(({ empty, calls }) => empty > usual * calls).length
    const [first] = own
    if (!first || p > MAX_P || worseDays < 2) return []
    return [{ server: first.server, tool: first.tool, recent, earlier, p, fromDay }]
  })
}

function byTool(days: readonly ResultDay[]): Map<string, ResultDay[]> {
  const tools = new Map<string, ResultDay[]>()
  for (const day of days) {
    const key = JSON.stringify([day.server, day.tool])
    tools.set(key, [...(tools.get(key) ?? []), day])
  }
  return tools
}

function totalOf(days: readonly ResultDay[]): { calls: number; empty: number } {
  return { calls: sum(days.map(({ calls }) => calls)), empty: sum(days.map(({ empty }) => empty)) }
}

/** Errors told as successes, and tools that have become emptier than they were. */
export function resultFindings(store: CallStore, filter: Filter, nowMs: number): Finding[] {
  const days = store.resultDays(filter)
  const suspects = [...byTool(days).values()].flatMap((own) =>
    own.some(({ suspect }) => suspect > 0) ? suspectFinding(own, store, filter, nowMs) : [],
  )
  const shifts = emptyShifts(days, Math.floor((filter.toMs - 1) / DAY_MS)).map((shift) =>
    emptyFinding(shift, store, filter),
  )
  return [...suspects, ...shifts]
}

function evidenceOf(filter: Filter, server: string, tool: string, flag: FlagName): Filter {
  return {
    ...filter,
    server: { include: [server], exclude: [] },
    tool: { include: [tool], exclude: [] },
    outcome: { include: ['retried', 'succeeded'], exclude: [] },
    flag: { include: [flag], exclude: [] },
  }
}

function suspectFinding(
  own: readonly ResultDay[],
  store: CallStore,
  filter: Filter,
  nowMs: number,
): Finding[] {
  const [first] = own
  if (!first) return []
  const { server, tool } = first
  const evidence = evidenceOf(filter, server, tool, 'suspect')
  const impact = store.impact(evidence)
  const words = impactWords('call', impact)
  const lastDay = Math.max(...own.filter(({ suspect }) => suspect > 0).map(({ day }) => day))
  return [
    {
      id: stableId('hidden-errors', [server, tool]),
      kind: 'hidden_errors',
      family: 'result',
      grade: gradeOfSuspects(impact.sessions, nowMs - lastDay * DAY_MS),
      server,
      tool,
      class: undefined,
      sentence: `\`${tool}\` tells errors as if they were results: ${words} look like failures and count as successes.`,
      impact,
      impactText: words,
      action: `A model takes such a text for data. Let \`${tool}\` throw, or answer with isError; until then the wrapper can do it: \`suspect: 'error'\`.`,
      paste: `unsilence(server, { suspect: 'error' })`,
      check:
        'Over when no success looks like a failure any more; it is called fading after a week.',
      evidenceQuery: printFilter(evidence).toString(),
      detailPath: `/calls?${printFilter(evidence)}`,
    },
  ]
}

/** A pattern in a text decides, so one session may be chance; several are not. */
function gradeOfSuspects(sessions: number, agoMs: number): Grade {
  if (agoMs >= 8 * DAY_MS) return 'fading'
  if (sessions >= 5) return 'confirmed'
  return sessions >= 2 ? 'likely' : 'possible'
}

function emptyFinding(shift: EmptyShift, store: CallStore, filter: Filter): Finding {
  const { server, tool, recent, earlier } = shift
  const since = withRange(filter, shift.fromDay * DAY_MS, filter.toMs)
  const evidence = evidenceOf(since, server, tool, 'empty')
  const impact = store.impact(evidence)
  const rate = (part: { calls: number; empty: number }) => percentText(part.empty / part.calls)
  return {
    id: stableId('empty-results', [server, tool]),
    kind: 'empty_results',
    family: 'result',
    grade: shift.p <= 1e-6 ? 'confirmed' : 'likely',
    server,
    tool,
    class: undefined,
    sentence: `\`${tool}\` has begun to answer with nothing: ${rate(recent)} of ${recent.calls} calls in three days, ${rate(earlier)} of ${earlier.calls} before.`,
    impact,
    impactText: impactWords('empty answer', impact),
    action: `Ask whether \`${tool}\` still finds its data: an empty answer reads like a success. Let it say that nothing was found, and why.`,
    paste: undefined,
    check: `Over when the rate is back at ${rate(earlier)}.`,
    evidenceQuery: printFilter(evidence).toString(),
    detailPath: `/calls?${printFilter(evidence)}`,
  }
}
