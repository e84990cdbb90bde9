import { QUARTER_MS } from '../../ingest/store/schema.ts'
import type { ErrorClass } from '../../server/call-log/record.ts'
import type { QuarterSeries } from '../queries/call-store.ts'
import { DAY_MS, instantOfWall, wallMs, weekdayOfDay } from '../queries/time-zones.ts'
import { type Grade, stableId } from './finding.ts'
import type { Instance, ScannedWindow } from './recurrence-scan.ts'
import {
  type Interval,
  type RiskRatio,
  riskRatio,
  sum,
  type UnitCounts,
  wilsonInterval,
} from './statistics.ts'
import { type FrameName, type Timeline, windowsTried } from './timeline.ts'
import { gradeOf } from './window-grade.ts'

/** Whether the window keeps to a local clock or to UTC: only a change of clocks can tell. */
export type FixedIn =
  /** The zone had a change of clocks in the data; p is at least ten times smaller in `zone`. */
  | { kind: 'zone'; zone: string; p: number; otherZone: string; otherP: number }
  /** The two cannot be told apart before the clocks change next. */
  | { kind: 'unknown'; zones: readonly [string, string]; untilMs: number }
  /** The zone's clocks do not change. */
  | { kind: 'same' }

export type Occurrence = {
  /** Start and end of the window on that day. */
  startMs: number
  endMs: number
  calls: number
  failures: number
  /** More failures than chance puts there in one of ten windows. */
  hit: boolean
}

/** A time of day (or week) at which a tool keeps failing with one class, and how that is known. */
export type TimeoutWindow = {
  /** Stable while the window stays roughly where it is. */
  id: string
  server: string
  tool: string
  class: ErrorClass
  frame: FrameName
  /** Zone of all wall times here. */
  zone: string
  fixedIn: FixedIn
  /** ISO weekdays on which the window begins; empty: every day. */
  weekdays: number[]
  /** Wall minutes since midnight, multiples of 15, as in Filter.timeOfDay (1440 for midnight). */
  fromMinute: number
  toMinute: number
  grade: Grade
  /** Days (or weeks) on which it was hit, of those on which the tool was called in the window. */
  hits: number
  atRisk: number
  inside: { calls: number; failures: number; rate: number; interval: Interval | undefined }
  outside: { calls: number; failures: number; rate: number; interval: Interval | undefined }
  riskRatio: RiskRatio | undefined
  /** P of so many hits by chance, for the scan's best window alone. */
  p: number
  /** p times the number of windows tried. */
  pAdjusted: number
  windowsTried: number
  /** False discovery rate among all scans of this run. */
  q: number
  /** The days (or weeks) at risk, in order. */
  occurrences: Occurrence[]
  /** What was scanned. */
  range: { fromMs: number; toMs: number }
}

export type FoundWindow = {
  series: QuarterSeries
  timeline: Timeline
  window: ScannedWindow
  seed: ScannedWindow
  ordinal: number
  pAdjusted: number
  q: number
  fixedIn: FixedIn
  range: { fromMs: number; toMs: number }
}

/** Undefined where the evidence does not reach the lowest grade. */
export function describeWindow(found: FoundWindow): TimeoutWindow | undefined {
  const { series, timeline, window, seed } = found
  const { slotsPerUnit, quartersPerSlot, name: frame } = timeline.frame
  const weekdays = weekdaysOfWindow(timeline, window)
  const instances = window.instances.filter(({ slot }) => isOn(timeline, slot, weekdays))
  const counts = countUnits(timeline, window, instances, weekdays)
  const ratio = riskRatio(counts)
  const grade = gradeOf({
    q: found.q,
    units: instances.map(({ slot, hit }) => ({ unit: Math.floor(slot / slotsPerUnit), hit })),
    lastUnit: Math.floor((timeline.endSlot - 1) / slotsPerUnit),
    riskRatioLow: ratio?.low ?? 0,
  })
  if (!grade) return undefined
  const fromMinute = (window.start * quartersPerSlot * 15) % 1440
  const toMinute = (fromMinute + window.length * quartersPerSlot * 15) % 1440 || 1440
  return {
    id: stableId('window', [series.server, series.tool, series.class, frame, found.ordinal]),
    server: series.server,
    tool: series.tool,
    class: series.class,
    frame,
    zone: timeline.zone,
    fixedIn: found.fixedIn,
    weekdays,
    fromMinute,
    toMinute,
    grade,
    hits: instances.filter(({ hit }) => hit).length,
    atRisk: instances.length,
    inside: share(sum(counts.map((n) => n.callsIn)), sum(counts.map((n) => n.failuresIn))),
    outside: share(sum(counts.map((n) => n.callsOut)), sum(counts.map((n) => n.failuresOut))),
    riskRatio: ratio,
    p: seed.p,
    pAdjusted: found.pAdjusted,
    windowsTried: windowsTried(timeline.frame),
    q: found.q,
    occurrences: instances.map((instance) => occurrence(timeline, window, instance)),
    range: found.range,
  }
}

function share(calls: number, failures: number): TimeoutWindow['inside'] {
  const rate = calls === 0 ? 0 : failures / calls
  return { calls, failures, rate, interval: wilsonInterval(failures, calls) }
}

function weekdayOfSlot(timeline: Timeline, slot: number): number {
  const wall = timeline.firstWallQuarter + slot * timeline.frame.quartersPerSlot
  return weekdayOfDay(Math.floor(wall / 96))
}

function isOn(timeline: Timeline, slot: number, weekdays: readonly number[]): boolean {
  return weekdays.length === 0 || weekdays.includes(weekdayOfSlot(timeline, slot))
}

/** Share of hits that one or two weekdays must have, and share of those days that must be hit. */
const WEEKLY_SHARE = 0.6

/**
 * The weekday of a weekly window; for a daily one, the one or two weekdays that hold most of its
 * hits and keep being hit. Empty: every day.
 */
export function weekdaysOfWindow(timeline: Timeline, window: ScannedWindow): number[] {
  if (timeline.frame.name === 'week') return [weekdayOfSlot(timeline, window.start)]
  const hits = new Map<number, number>()
  const atRisk = new Map<number, number>()
  for (const { slot, hit } of window.instances) {
    const weekday = weekdayOfSlot(timeline, slot)
    atRisk.set(weekday, (atRisk.get(weekday) ?? 0) + 1)
    if (hit) hits.set(weekday, (hits.get(weekday) ?? 0) + 1)
  }
  const order = [...hits.keys()].sort((a, b) => (hits.get(b) ?? 0) - (hits.get(a) ?? 0) || a - b)
  for (const count of [1, 2]) {
    const chosen = order.slice(0, count)
    const hit = sum(chosen.map((weekday) => hits.get(weekday) ?? 0))
    const called = sum(chosen.map((weekday) => atRisk.get(weekday) ?? 0))
    // A weekday that was hit once recurs in nothing.
    const recurs = chosen.every((weekday) => (hits.get(weekday) ?? 0) >= 2) && hit >= 3
    if (recurs && hit >= WEEKLY_SHARE * window.hits && hit >= WEEKLY_SHARE * called) {
      return chosen.sort()
    }
  }
  return []
}

/**
 * Each instance against the rest of its cycle: the time until the next instance could begin.
 * Instances that the data cover only in part are left out of both.
 */
function countUnits(
  timeline: Timeline,
  window: ScannedWindow,
  instances: readonly Instance[],
  weekdays: readonly number[],
): UnitCounts[] {
  const cycle = timeline.frame.slotsPerUnit
  const starts = new Set(instances.map(({ slot }) => slot))
  const units: UnitCounts[] = []
  for (let from = window.start - cycle; from < timeline.endSlot; from += cycle) {
    const unit = { callsIn: 0, failuresIn: 0, callsOut: 0, failuresOut: 0 }
    for (let slot = Math.max(0, from); slot < Math.min(from + cycle, timeline.endSlot); slot++) {
      const calls = timeline.calls[slot] ?? 0
      const failures = timeline.failures[slot] ?? 0
      if (slot >= from + window.length || !isOn(timeline, from, weekdays)) {
        unit.callsOut += calls
        unit.failuresOut += failures
      } else if (starts.has(from)) {
        unit.callsIn += calls
        unit.failuresIn += failures
      }
    }
    if (unit.callsIn + unit.callsOut > 0) units.push(unit)
  }
  return units
}

function occurrence(timeline: Timeline, window: ScannedWindow, instance: Instance): Occurrence {
  const { quartersPerSlot } = timeline.frame
  const wall = timeline.firstWallQuarter + instance.slot * quartersPerSlot
  const instant = (wallQuarter: number) => instantOfWall(timeline.zone, wallQuarter * QUARTER_MS)
  const { calls, failures, hit } = instance
  return {
    startMs: instant(wall),
    endMs: instant(wall + window.length * quartersPerSlot),
    calls,
    failures,
    hit,
  }
}

/** When the window next begins after `nowMs`. */
export function nextOccurrence(
  window: Pick<TimeoutWindow, 'zone' | 'weekdays' | 'fromMinute'>,
  nowMs: number,
): number {
  const today = Math.floor(wallMs(window.zone, nowMs) / DAY_MS)
  for (let day = today; day <= today + 8; day++) {
    if (window.weekdays.length > 0 && !window.weekdays.includes(weekdayOfDay(day))) continue
    const start = instantOfWall(window.zone, day * DAY_MS + window.fromMinute * 60_000)
    if (start > nowMs) return start
  }
  throw new RangeError('a window begins at least once a week')
}
