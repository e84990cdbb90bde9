export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000

const QUARTER_MS = 15 * MINUTE_MS

export type WallTime = {
  /** Days on the wall since 1970-01-01: a day of 23 or 25 hours is one day. */
  day: number
  /** ISO: 1 = Monday … 7 = Sunday. */
  weekday: number
  minuteOfDay: number
}

/**
 * What a clock on the wall shows. Kept apart from the dashboard's own zone arithmetic on purpose:
 * the samples are what that arithmetic is checked against.
 */
export function createWallClock(zone: string): (ms: number) => WallTime {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  // Every zone's offset is constant within a quarter hour, and asking Intl for each call is slow.
  const offsets = new Map<number, number>()
  return (ms) => {
    const quarter = Math.floor(ms / QUARTER_MS)
    let offsetMs = offsets.get(quarter)
    if (offsetMs === undefined) {
      offsetMs = offsetAt(format, quarter * QUARTER_MS)
      offsets.set(quarter, offsetMs)
    }
    return wallTimeOf(ms + offsetMs)
  }
}

/** `2026-03-29` */
export function dateOfDay(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10)
}

export function utcWallTime(ms: number): WallTime {
  return wallTimeOf(ms)
}

function wallTimeOf(localMs: number): WallTime {
  const day = Math.floor(localMs / DAY_MS)
  return {
    day,
    // 1970-01-01 was a Thursday.
    weekday: ((day + 3) % 7) + 1,
    minuteOfDay: Math.floor((localMs - day * DAY_MS) / MINUTE_MS),
  }
}

function offsetAt(format: Intl.DateTimeFormat, ms: number): number {
  const name = format.formatToParts(ms).find((part) => part.type === 'timeZoneName')?.value ?? ''
  const match = /([+-])(\d\d):(\d\d)$/.exec(name)
  if (!match) return 0
  const minutes = Number(match[2]) * 60 + Number(match[3])
  return (match[1] === '-' ? -minutes : minutes) * MINUTE_MS
}
