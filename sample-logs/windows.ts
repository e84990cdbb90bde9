import { NIGHTLY_HIT_SHARE, NIGHTLY_WINDOW, WEEKLY_WINDOW, type WindowFacts } from './planted.ts'
import { createRandom, shuffled } from './random.ts'
import { createWallClock, dateOfDay, MINUTE_MS, utcWallTime } from './wall-clock.ts'

const QUARTER_MS = 15 * MINUTE_MS

export type Windows = {
  nightly: WindowFacts[]
  weekly: WindowFacts[]
  /** The window of the tool that the time lies in, whether its upstream is away in it or not. */
  at(tool: string, ms: number): WindowFacts | undefined
}

type Range = { startMs: number; endMs: number }

/** All windows that lie wholly in the range; which nights are spared is drawn by the seed. */
export function planWindows(range: Range, seed: number): Windows {
  const nightly = findNights(range)
  const spared = Math.round(nightly.length * (1 - NIGHTLY_HIT_SHARE))
  // The last three nights are hit: the finding is to be a live one.
  const candidates = nightly.slice(0, -3)
  for (const night of shuffled(candidates, createRandom(seed, 'nights')).slice(0, spared)) {
    night.hit = false
  }
  const weekly = findSundays(range)
  const nightlyByQuarter = byQuarter(nightly)
  const weeklyByQuarter = byQuarter(weekly)
  return {
    nightly,
    weekly,
    at(tool, ms) {
      if (tool === NIGHTLY_WINDOW.tool) return containing(nightlyByQuarter, ms)
      if (tool === WEEKLY_WINDOW.tool) return containing(weeklyByQuarter, ms)
      return undefined
    },
  }
}

function findNights(range: Range): WindowFacts[] {
  const wallClock = createWallClock(NIGHTLY_WINDOW.zone)
  const lengthMs = (NIGHTLY_WINDOW.toMinute - NIGHTLY_WINDOW.fromMinute) * MINUTE_MS
  return quartersOf(range).flatMap((fromMs) => {
    const { day, minuteOfDay } = wallClock(fromMs)
    if (minuteOfDay !== NIGHTLY_WINDOW.fromMinute || fromMs + lengthMs > range.endMs) return []
    return [windowFrom(day, fromMs, lengthMs)]
  })
}

function findSundays(range: Range): WindowFacts[] {
  const lengthMs = (WEEKLY_WINDOW.toMinute - WEEKLY_WINDOW.fromMinute) * MINUTE_MS
  return quartersOf(range).flatMap((fromMs) => {
    const { day, weekday, minuteOfDay } = utcWallTime(fromMs)
    const opens = weekday === WEEKLY_WINDOW.weekday && minuteOfDay === WEEKLY_WINDOW.fromMinute
    return opens && fromMs + lengthMs <= range.endMs ? [windowFrom(day, fromMs, lengthMs)] : []
  })
}

function windowFrom(day: number, fromMs: number, lengthMs: number): WindowFacts {
  return {
    date: dateOfDay(day),
    fromMs,
    toMs: fromMs + lengthMs,
    hit: true,
    calls: 0,
    failures: 0,
  }
}

function quartersOf({ startMs, endMs }: Range): number[] {
  const first = Math.ceil(startMs / QUARTER_MS) * QUARTER_MS
  const count = Math.max(0, Math.ceil((endMs - first) / QUARTER_MS))
  return Array.from({ length: count }, (_, index) => first + index * QUARTER_MS)
}

function byQuarter(windows: WindowFacts[]): Map<number, WindowFacts> {
  return new Map(
    windows.flatMap((window) =>
      quartersOf({ startMs: window.fromMs, endMs: window.toMs }).map(
        (ms) => [ms / QUARTER_MS, window] as const,
      ),
    ),
  )
}

function containing(quarters: Map<number, WindowFacts>, ms: number): WindowFacts | undefined {
  const window = quarters.get(Math.floor(ms / QUARTER_MS))
  return window && ms >= window.fromMs && ms < window.toMs ? window : undefined
}
