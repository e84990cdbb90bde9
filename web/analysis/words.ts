import type { ErrorClass } from '../../server/call-log/record.ts'
import { wallTime } from '../queries/time-zones.ts'
import type { FindingFamily } from './finding.ts'

/** What a tool does when it fails with a class: "`get_rate` …". */
const VERBS: Record<ErrorClass, string> = {
  invalid_arguments: 'is called with invalid arguments',
  timeout: 'times out',
  connection: 'loses its connection',
  rate_limited: 'is rate limited',
  upstream: 'gets errors from its upstream',
  tool_error: 'answers with errors',
  bad_result: 'gives results that no client can accept',
  unknown_tool: 'is called but does not exist',
  cancelled: 'is cancelled',
  crashed: 'takes its process down',
  unexpected: 'fails unexpectedly',
  fatal: 'ends its process on purpose',
}

const FAMILIES: Record<ErrorClass, FindingFamily> = {
  timeout: 'network',
  connection: 'network',
  rate_limited: 'network',
  upstream: 'network',
  invalid_arguments: 'arguments',
  unknown_tool: 'arguments',
  tool_error: 'result',
  bad_result: 'result',
  cancelled: 'result',
  crashed: 'process',
  fatal: 'process',
  unexpected: 'process',
}

export function verbOf(name: ErrorClass): string {
  return VERBS[name]
}

export function familyOf(name: ErrorClass): FindingFamily {
  return FAMILIES[name]
}

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

export function weekdayName(weekday: number): string {
  return WEEKDAYS[weekday - 1] ?? ''
}

/** `Tue 3 Mar 02:00`, in the zone. */
export function momentText(zone: string, ms: number): string {
  const { weekday, day, month, hour, minute } = wallTime(zone, ms)
  const clock = `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`
  return `${weekdayName(weekday).slice(0, 3)} ${day} ${MONTHS[month - 1]} ${clock}`
}

/** `3 Mar 2026`, in the zone. */
export function dateText(zone: string, ms: number): string {
  const { day, month, year } = wallTime(zone, ms)
  return `${day} ${MONTHS[month - 1]} ${year}`
}

/** `1 call`, `1,200 calls`. */
export function plural(n: number, noun: string): string {
  return `${n.toLocaleString('en-US')} ${noun}${n === 1 ? '' : 's'}`
}

/** `40 seconds`, `5 minutes`, `3 hours`, `2 days`: one unit, rounded. */
export function durationText(ms: number): string {
  if (ms < 120_000) return plural(Math.round(ms / 1000), 'second')
  if (ms < 120 * 60_000) return plural(Math.round(ms / 60_000), 'minute')
  if (ms < 48 * 3_600_000) return plural(Math.round(ms / 3_600_000), 'hour')
  return plural(Math.round(ms / 86_400_000), 'day')
}

/** What a finding's calls are: `failed call` or another noun. */
export function impactWords(noun: string, impact: { calls: number; sessions: number }): string {
  return `${plural(impact.calls, noun)} in ${plural(impact.sessions, 'session')}`
}

/** `a`, `a and b`, `a, b and c`; beyond `most`: `a, b and 3 more`. */
export function listText(items: readonly string[], most = 3): string {
  const shown =
    items.length > most ? [...items.slice(0, most - 1), `${items.length - most + 1} more`] : items
  const last = shown.at(-1) ?? ''
  return shown.length < 2 ? last : `${shown.slice(0, -1).join(', ')} and ${last}`
}

/** `34 %`, `0.4 %`, `< 0.1 %`; 0 only for nothing at all. */
export function percentText(share: number): string {
  const percent = share * 100
  if (percent === 0) return '0 %'
  if (percent < 0.1) return '< 0.1 %'
  return percent < 10 ? `${percent.toFixed(1)} %` : `${Math.round(percent)} %`
}
