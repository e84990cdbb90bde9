import type { QuarterSeries } from '../queries/call-store.ts'
import {
  nextOffsetChange,
  offsetSpans,
  quarterOf,
  wallQuarter,
  weekdayOfDay,
} from '../queries/time-zones.ts'
import { GRADES } from './finding.ts'
import { createJudge, type ScannedWindow, scanTimeline } from './recurrence-scan.ts'
import { benjaminiHochberg } from './statistics.ts'
import { runToEnd, type Steps } from './steps.ts'
import {
  dayTimeline,
  instanceStarts,
  type Timeline,
  weekTimeline,
  withoutFailuresIn,
} from './timeline.ts'
import {
  describeWindow,
  type FixedIn,
  type TimeoutWindow,
  weekdaysOfWindow,
} from './timeout-window.ts'
import { growBounds } from './window-bounds.ts'

/** Windows that are looked for in one series and frame, each after taking out the one before. */
const MAX_WINDOWS = 3
const LARGEST_P_TO_GO_ON = 0.05
const MIN_FAILING_DAYS = 3
export const MIN_DAYS = 7
export const MIN_DAYS_FOR_WEEKS = 21
/** How much smaller p must be in one zone for saying that the window keeps to its clock. */
const TELLING_RATIO = 10

export type WindowScanOptions = {
  /** Whole quarters; calls outside are left out. */
  range: { fromMs: number; toMs: number }
  zone: string
}

export type WindowScan = {
  /** Best grade first, then most hits. */
  windows: TimeoutWindow[]
  /** Tool × class series in which a window could have been found. */
  seriesTested: number
  /** Failures on fewer than three days: nothing can recur there. */
  seriesTooFew: number
  /** Failures on three days or more, of tools that are called for less than seven days. */
  seriesTooYoung: number
  /** How many p values the false discovery rate is about. */
  scans: number
}

type Candidate = {
  timeline: Timeline
  seed: ScannedWindow
  window: ScannedWindow
  /** Index of its scan's p value. */
  scan: number
  /** 1 for the first window of a series and frame, 2 for the one found after taking that out … */
  ordinal: number
}

/** Looks for times of the day and of the week at which a tool keeps failing with one class. */
export function findTimeoutWindows(
  allSeries: readonly QuarterSeries[],
  options: WindowScanOptions,
): WindowScan {
  return runToEnd(windowScanSteps(allSeries, options))
}

/** The same, a series a step: some ten milliseconds each. */
export function* windowScanSteps(
  allSeries: readonly QuarterSeries[],
  options: WindowScanOptions,
): Steps<WindowScan> {
  const pValues: number[] = []
  const counts = { seriesTested: 0, seriesTooFew: 0, seriesTooYoung: 0 }
  const found: { series: QuarterSeries; candidate: Candidate; fixedIn: FixedIn }[] = []
  for (const series of allSeries) {
    const state = triage(series, options)
    counts[state]++
    if (state !== 'seriesTested') continue
    const { candidates, fixedIn } = scanSeries(series, options, pValues)
    found.push(...candidates.map((candidate) => ({ series, candidate, fixedIn })))
    yield
  }
  const q = benjaminiHochberg(pValues)
  const windows = found.flatMap(({ series, candidate, fixedIn }) => {
    const pAdjusted = pValues[candidate.scan] ?? 1
    const rate = q[candidate.scan] ?? 1
    const { range } = options
    return describeWindow({ ...candidate, series, fixedIn, pAdjusted, q: rate, range }) ?? []
  })
  return { windows: windows.sort(byGrade), ...counts, scans: pValues.length }
}

function byGrade(a: TimeoutWindow, b: TimeoutWindow): number {
  return GRADES.indexOf(a.grade) - GRADES.indexOf(b.grade) || b.hits - a.hits || a.q - b.q
}

type Triage = 'seriesTested' | 'seriesTooFew' | 'seriesTooYoung'

function triage({ quarters }: QuarterSeries, { range, zone }: WindowScanOptions): Triage {
  const inRange = quarters.filter(({ quarter }) => isInside(quarter, range))
  const failing = inRange.filter(({ failures }) => failures > 0)
  const days = new Set(failing.map(({ quarter }) => Math.floor(wallQuarter(zone, quarter) / 96)))
  if (days.size < MIN_FAILING_DAYS) return 'seriesTooFew'
  return historyDays(inRange, range) < MIN_DAYS ? 'seriesTooYoung' : 'seriesTested'
}

function isInside(quarter: number, range: { fromMs: number; toMs: number }): boolean {
  return quarter >= quarterOf(range.fromMs) && quarter < quarterOf(range.toMs)
}

/** Since the tool's first call, to the end of the range. */
function historyDays(quarters: readonly { quarter: number }[], range: { toMs: number }): number {
  const [first] = quarters
  return first ? (quarterOf(range.toMs) - first.quarter) / 96 : 0
}

type SeriesScan = { candidates: Candidate[]; fixedIn: FixedIn }

function scanSeries(
  series: QuarterSeries,
  { range, zone }: WindowScanOptions,
  pValues: number[],
): SeriesScan {
  const spans = offsetSpans(zone, quarterOf(range.fromMs), quarterOf(range.toMs))
  const local = scanZone(series, range, zone, pValues)
  if (spans.length < 2 || zone === 'UTC') {
    const next = nextOffsetChange(zone, range.toMs)
    const fixedIn: FixedIn =
      next === undefined
        ? { kind: 'same' }
        : { kind: 'unknown', zones: [zone, 'UTC'], untilMs: next }
    return { candidates: local.candidates, fixedIn }
  }
  const utc = scanZone(series, range, 'UTC', pValues)
  const [better, zoneOfBetter, other, zoneOfOther] =
    utc.p < local.p ? [utc, 'UTC', local, zone] : [local, zone, utc, 'UTC']
  const next = nextOffsetChange(zone, range.toMs)
  const tells = better.p * TELLING_RATIO <= other.p || next === undefined
  return {
    candidates: better.candidates,
    fixedIn: tells
      ? { kind: 'zone', zone: zoneOfBetter, p: better.p, otherZone: zoneOfOther, otherP: other.p }
      : { kind: 'unknown', zones: [zone, 'UTC'], untilMs: next },
  }
}

/** `p` is the smallest adjusted one of the zone. */
type ZoneScan = { candidates: Candidate[]; p: number }

function scanZone(
  series: QuarterSeries,
  range: { fromMs: number; toMs: number },
  zone: string,
  pValues: number[],
): ZoneScan {
  const firstScan = pValues.length
  const timeline = dayTimeline(series.quarters, range, zone)
  const daily = peel(timeline, pValues)
  const inRange = series.quarters.filter(({ quarter }) => isInside(quarter, range))
  const p = () => Math.min(...pValues.slice(firstScan))
  if (historyDays(inRange, range) < MIN_DAYS_FOR_WEEKS) return { candidates: daily, p: p() }
  // What recurs every day would light up each weekday, so it is taken out first. What the day's
  // frame found on one or two weekdays stays in: the week's frame may tell it better.
  const everyDay = daily.filter((candidate) => weekdaysOf(candidate).length === 0)
  const rest = everyDay.reduce((left, { window }) => withoutFailuresIn(left, window), timeline)
  const weekly = peel(weekTimeline(rest), pValues)
  return { candidates: preferred([...daily, ...weekly], pValues), p: p() }
}

function weekdaysOf({ timeline, window }: Candidate): number[] {
  return weekdaysOfWindow(timeline, window)
}

/** Of two candidates that share a quarter hour of the week, the one that chance explains worse. */
function preferred(candidates: readonly Candidate[], pValues: readonly number[]): Candidate[] {
  const kept: Candidate[] = []
  const p = ({ scan }: Candidate) => pValues[scan] ?? 1
  for (const candidate of [...candidates].sort((a, b) => p(a) - p(b))) {
    if (!kept.some((other) => overlap(other, candidate))) kept.push(candidate)
  }
  return kept
}

const WEEK_QUARTERS = 7 * 96

function overlap(a: Candidate, b: Candidate): boolean {
  const quarters = new Set(quartersOfWeek(a))
  return quartersOfWeek(b).some((quarter) => quarters.has(quarter))
}

/** Wall quarters since a Thursday midnight that the window takes of a week. */
function quartersOfWeek({ timeline, window }: Candidate): number[] {
  const { quartersPerSlot } = timeline.frame
  const weekdays = weekdaysOfWindow(timeline, window)
  const length = window.length * quartersPerSlot
  return instanceStarts(timeline, window).flatMap((slot) => {
    const first = timeline.firstWallQuarter + slot * quartersPerSlot
    const isOn = weekdays.length === 0 || weekdays.includes(weekdayOfDay(Math.floor(first / 96)))
    return isOn ? Array.from({ length }, (_, i) => (first + i) % WEEK_QUARTERS) : []
  })
}

/** Finds a window, takes its failures out, and looks again. */
function peel(timeline: Timeline, pValues: number[]): Candidate[] {
  const candidates: Candidate[] = []
  let rest = timeline
  while (candidates.length < MAX_WINDOWS) {
    const { best, pAdjusted } = scanTimeline(rest)
    const scan = pValues.push(pAdjusted) - 1
    if (!best || pAdjusted > LARGEST_P_TO_GO_ON) break
    const grown = createJudge(rest).evaluate(growBounds(rest, best))
    // Wider bounds raise the bar for each day; where that loses days, the scan's own window stays.
    const window = hitShare(grown) >= hitShare(best) ? grown : best
    candidates.push({ timeline: rest, seed: best, window, scan, ordinal: candidates.length + 1 })
    rest = withoutFailuresIn(rest, window)
  }
  return candidates
}

function hitShare({ hits, instances }: ScannedWindow): number {
  return instances.length === 0 ? 0 : hits / instances.length
}
