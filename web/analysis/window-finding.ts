import type { CallStore } from '../queries/call-store.ts'
import { defaultFilter, type Filter, printFilter, withRange } from '../queries/filter.ts'
import { printMinute } from '../queries/filter-values.ts'
import { DAY_MS, wallMs } from '../queries/time-zones.ts'
import type { Finding } from './finding.ts'
import { quantile } from './statistics.ts'
import { nextOccurrence, type TimeoutWindow } from './timeout-window.ts'
import {
  dateText,
  familyOf,
  impactWords,
  momentText,
  percentText,
  verbOf,
  weekdayName,
} from './words.ts'

const HOUR_MS = 3_600_000

/** Failing calls whose times are read for the bounds. */
const MAX_TIMES = 5000
/** With fewer hits the bounds are only about right. */
const SURE_HITS = 20

/** When the failing calls of a window began: wall minutes since midnight, to five minutes. */
export type MinuteBounds = { fromMinute: number; toMinute: number; about: boolean }

/** Exactly the failing calls behind a window. */
export function evidenceFilter(window: TimeoutWindow): Filter {
  const { range, zone } = window
  const context = { nowMs: range.toMs, defaultZone: zone }
  return {
    ...withRange(defaultFilter(context), range.fromMs, range.toMs),
    server: { include: [window.server], exclude: [] },
    tool: { include: [window.tool], exclude: [] },
    class: { include: [window.class], exclude: [] },
    outcome: { include: ['failed'], exclude: [] },
    timeOfDay: { fromMinute: window.fromMinute, toMinute: window.toMinute },
    weekdays: window.weekdays,
  }
}

/** The 5 to 95 % range of the failing calls' times, opened to whole five minutes. */
export function minuteBounds(window: TimeoutWindow, startTimes: readonly number[]): MinuteBounds {
  const since = startTimes
    .map((ms) => wallMs(window.zone, ms) / 60_000 - window.fromMinute)
    .map((minute) => ((minute % 1440) + 1440) % 1440)
    .sort((a, b) => a - b)
  const length = (window.toMinute - window.fromMinute + 1440) % 1440 || 1440
  const [low, high] = [quantile(since, 0.05), quantile(since, 0.95)]
  const from = Math.floor((low ?? 0) / 5) * 5
  // A call that began on the full minute still lies before the end.
  const to = Math.min(length, Math.floor((high ?? length) / 5) * 5 + 5)
  return {
    fromMinute: (window.fromMinute + from) % 1440,
    toMinute: (window.fromMinute + to) % 1440 || 1440,
    about: window.hits < SURE_HITS,
  }
}

export function windowFinding(window: TimeoutWindow, store: CallStore, nowMs: number): Finding {
  const filter = evidenceFilter(window)
  const { calls, sessions } = store.impact(filter)
  const bounds = minuteBounds(window, store.startTimes(filter, MAX_TIMES))
  return {
    id: window.id,
    kind: 'timeout_window',
    family: familyOf(window.class),
    grade: window.grade,
    server: window.server,
    tool: window.tool,
    class: window.class,
    sentence: windowSentence(window, bounds),
    impact: { calls, sessions },
    impactText: impactWords('failed call', { calls, sessions }),
    action: actionOf(window, nowMs),
    paste: undefined,
    check: checkOf(window, nowMs),
    evidenceQuery: printFilter(filter).toString(),
    detailPath: `/timeouts#${window.id}`,
  }
}

/** "`get_rate` times out between 02:00 and 02:20 (Europe/Berlin), 24 of 27 nights." */
export function windowSentence(window: TimeoutWindow, bounds: MinuteBounds): string {
  const about = bounds.about ? 'about ' : ''
  const clock = `between ${about}${printMinute(bounds.fromMinute)} and ${printMinute(bounds.toMinute)}`
  const days = window.weekdays.map((weekday) => `${weekdayName(weekday)}s`).join(' and ')
  const when = days ? `on ${days} ${clock}` : clock
  const times = `${window.hits} of ${window.atRisk} ${unitWord(window, bounds)}`
  return `\`${window.tool}\` ${verbOf(window.class)} ${when} (${window.zone}), ${times}.`
}

/** Nights lie wholly between 20:00 and 08:00. */
function unitWord({ weekdays, atRisk }: TimeoutWindow, bounds: MinuteBounds): string {
  const [only, second] = weekdays
  if (only !== undefined && second === undefined)
    return `${weekdayName(only)}${atRisk === 1 ? '' : 's'}`
  const isLate = (minute: number) => minute >= 20 * 60 || minute <= 8 * 60
  const length = (bounds.toMinute - bounds.fromMinute + 1440) % 1440
  const isNight = isLate(bounds.fromMinute) && isLate(bounds.toMinute) && length <= 12 * 60
  return `${isNight ? 'night' : 'day'}${atRisk === 1 ? '' : 's'}`
}

function actionOf(window: TimeoutWindow, nowMs: number): string {
  const { inside, outside } = window
  const rates = `${percentText(inside.rate)} of ${inside.calls} calls fail inside the window, ${percentText(outside.rate)} of ${outside.calls} outside`
  const next =
    window.grade === 'fading'
      ? 'It has not been seen lately'
      : `Next expected ${momentText(window.zone, nextOccurrence(window, nowMs))}`
  return `${rates}: consistent with a scheduled window at the upstream of \`${window.tool}\`. Ask its operator, or schedule calls around it. ${next}; ${clockText(window)}.`
}

/** Whether the window moves with the clocks. */
export function clockText({ fixedIn, zone }: TimeoutWindow): string {
  switch (fixedIn.kind) {
    case 'zone':
      return `it is fixed in ${fixedIn.zone}: it kept its time there when clocks changed`
    case 'unknown':
      return `whether it is fixed in ${fixedIn.zones.join(' or in ')} shows when clocks change on ${dateText(zone, fixedIn.untilMs)}`
    case 'same':
      return `clocks in ${zone} do not change`
  }
}

function checkOf(window: TimeoutWindow, nowMs: number): string {
  const needed = Math.max(3, Math.ceil((2 * window.atRisk) / Math.max(1, window.hits)))
  const unit = window.frame === 'week' || window.weekdays.length > 0 ? 'occurrences' : 'days'
  const since = window.occurrences.filter(({ hit }) => hit).at(-1)?.startMs
  const last =
    since === undefined
      ? ''
      : ` Last seen ${momentText(window.zone, since)} (${agoText(nowMs - since)}).`
  return `Over when ${needed} ${unit} in a row pass without it; it is called fading then.${last}`
}

/** In hours under two days: "a day ago" says too little of a window that is an hour long. */
function agoText(ageMs: number): string {
  const hours = Math.round(ageMs / HOUR_MS)
  if (hours < 2) return 'just now'
  return hours < 48 ? `${hours} hours ago` : `${Math.round(ageMs / DAY_MS)} days ago`
}
