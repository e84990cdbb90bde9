import { NIGHTLY_WINDOW } from './planted.ts'
import { createWallClock, DAY_MS, HOUR_MS, MINUTE_MS, type WallTime } from './wall-clock.ts'

/** Traffic is planned a slice at a time. */
export const SLICE_MS = 15 * MINUTE_MS

/** People work in the zone of the nightly window. */
const OFFICE_ZONE = NIGHTLY_WINDOW.zone

const officeWallTime = createWallClock(OFFICE_ZONE)

/** Relative volume of people's sessions by hour of a weekday. */
const HOURLY = [
  0.02, 0.01, 0.01, 0.01, 0.01, 0.03, 0.1, 0.35, 0.75, 1, 1, 0.95, 0.65, 0.85, 0.95, 0.9, 0.75, 0.5,
  0.3, 0.2, 0.15, 0.12, 0.08, 0.04,
]

/** Monday first. */
const DAILY = [1, 1.05, 1.05, 1, 0.85, 0.14, 0.12]

export type Traffic = {
  slices: number
  /** The last slice may be longer than the others: it goes to the end. */
  slice(slice: number): { fromMs: number; toMs: number }
  /** Share of all sessions' calls that are due by the end of the slice: 1 at the last. */
  shareBy(slice: number): number
}

export function planTraffic({ startMs, endMs }: { startMs: number; endMs: number }): Traffic {
  const slices = Math.floor((endMs - startMs) / SLICE_MS)
  const sums = new Float64Array(slices)
  let sum = 0
  for (let slice = 0; slice < slices; slice += 1) {
    sum += volumeAt(officeWallTime(startMs + slice * SLICE_MS))
    sums[slice] = sum
  }
  return {
    slices,
    slice: (slice) => ({
      fromMs: startMs + slice * SLICE_MS,
      toMs: slice + 1 < slices ? startMs + (slice + 1) * SLICE_MS : endMs,
    }),
    shareBy: (slice) => (sums[slice] ?? sum) / sum,
  }
}

function volumeAt({ weekday, minuteOfDay }: WallTime): number {
  return (HOURLY[Math.floor(minuteOfDay / 60)] ?? 0) * (DAILY[weekday - 1] ?? 0)
}

/**
 * How dense the calls and beats are that a clock makes. Sparse is for samples of less than a
 * thousand calls a day: fewer calls round the clock, but still one in each quarter hour of the night,
 * so that the window stays in evidence.
 */
export type Density = 'sparse' | 'dense'

export function densityFor(days: number, calls: number): Density {
  return calls / days < 1_000 ? 'sparse' : 'dense'
}

export type Schedule = {
  tool: 'get_exchange_rate' | 'reindex_collection'
  everyMs: number
  /** Added to each multiple of `everyMs`. */
  offsetMs: number
  isDue(wall: WallTime): boolean
}

const always = (): boolean => true
const atNight = ({ minuteOfDay }: WallTime): boolean => minuteOfDay < 360 || minuteOfDay >= 1_320

export const SCHEDULES: Record<Density, readonly Schedule[]> = {
  sparse: [
    { tool: 'get_exchange_rate', everyMs: 15 * MINUTE_MS, offsetMs: 0, isDue: atNight },
    { tool: 'reindex_collection', everyMs: 2 * HOUR_MS, offsetMs: 20 * MINUTE_MS, isDue: always },
  ],
  dense: [
    { tool: 'get_exchange_rate', everyMs: 5 * MINUTE_MS, offsetMs: 0, isDue: always },
    { tool: 'reindex_collection', everyMs: HOUR_MS, offsetMs: 20 * MINUTE_MS, isDue: always },
  ],
}

export const BEAT_MS: Record<Density, number> = { sparse: 2 * HOUR_MS, dense: 30 * MINUTE_MS }

/** Times at which the schedule is due in [fromMs, toMs). */
export function* dueTimes(schedule: Schedule, fromMs: number, toMs: number): Iterable<number> {
  const { everyMs, offsetMs, isDue } = schedule
  let dueMs = Math.ceil((fromMs - offsetMs) / everyMs) * everyMs + offsetMs
  for (; dueMs < toMs; dueMs += everyMs) {
    if (isDue(officeWallTime(dueMs))) yield dueMs
  }
}

/** Calls that are due in [fromMs, toMs), of all schedules. */
export function scheduledCalls(density: Density, fromMs: number, toMs: number): number {
  return SCHEDULES[density].reduce(
    (sum, schedule) => sum + [...dueTimes(schedule, fromMs, toMs)].length,
    0,
  )
}

/** On a day of 24 hours. */
export function scheduledCallsPerDay(density: Density): number {
  return scheduledCalls(density, 0, DAY_MS)
}
