import { addLocalDays, DAY_MS, instantOfWall, wallMs, weekdayOfDay } from './time-zones.ts'

/**
 * Times as people write them in a URL or on a command line:
 *
 *   now   now-7d   now-90m   now/d   now-1d/d      relative; /d cuts to the local day
 *   -7d   24h                                      short for now-7d, now-24h
 *   2026-03-08   2026-03-08T02:15   …+01:00   …Z   without an offset: in the filter's zone
 *   1773000000000                                  epoch milliseconds
 *
 * Units: m, h, d, w. Days and weeks are calendar ones: the same wall time on another day. Where
 * `edge` is `end`, a cut (`/d`) or a bare date means the end of that day.
 */
export type TimeTextContext = { nowMs: number; zone: string; edge: 'start' | 'end' }

export type ParsedTime = { ms: number; text: string }

const HELP = 'write now-7d, now, 24h, 2026-03-08, 2026-03-08T02:15, or epoch milliseconds'
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const EARLIEST_MS = Date.UTC(2000, 0, 1)
const LATEST_MS = Date.UTC(2100, 0, 1)

/** The instant and the text in its canonical form, or a sentence that says what to write instead. */
export function parseTimeText(text: string, context: TimeTextContext): ParsedTime | string {
  const parsed =
    parseRelative(text, context) ?? parseEpoch(text) ?? parseIso(text, context) ?? undefined
  if (!parsed || Number.isNaN(parsed.ms)) return `${JSON.stringify(text)} is not a time: ${HELP}`
  if (parsed.ms < EARLIEST_MS || parsed.ms > LATEST_MS) {
    return `${JSON.stringify(text)} is not between the years 2000 and 2100`
  }
  return parsed
}

function parseRelative(text: string, context: TimeTextContext): ParsedTime | undefined {
  const short = /^-?(\d{1,6}[mhdw])$/.exec(text)
  const full = short ? `now-${short[1]}` : text
  if (!/^now(?:[+-]\d{1,6}[mhdw]|\/[hdw])*$/.test(full)) return undefined
  let ms = context.nowMs
  for (const [step] of full.slice(3).matchAll(/[+-]\d+[mhdw]|\/[hdw]/g)) {
    ms = step.startsWith('/')
      ? cutTo(ms, step.slice(1), context)
      : shift(ms, Number(step.slice(0, -1)), step.slice(-1), context.zone)
  }
  return { ms, text: full }
}

function shift(ms: number, amount: number, unit: string, zone: string): number {
  if (unit === 'm') return ms + amount * MINUTE_MS
  if (unit === 'h') return ms + amount * HOUR_MS
  const days = unit === 'w' ? amount * 7 : amount
  // Out of any calendar: left to the caller's check of the years.
  if (Math.abs(days) > 40_000) return Number.NaN
  return addLocalDays(zone, ms, days)
}

function cutTo(ms: number, unit: string, { zone, edge }: TimeTextContext): number {
  const wall = wallMs(zone, ms)
  const day = Math.floor(wall / DAY_MS)
  const ahead = edge === 'end' ? 1 : 0
  if (unit === 'h') return ms - (wall % HOUR_MS) + ahead * HOUR_MS
  if (unit === 'd') return instantOfWall(zone, (day + ahead) * DAY_MS)
  return instantOfWall(zone, (day - (weekdayOfDay(day) - 1) + ahead * 7) * DAY_MS)
}

function parseEpoch(text: string): ParsedTime | undefined {
  if (!/^\d{12,14}$/.test(text)) return undefined
  const ms = Number(text)
  const instant = new Date(ms)
  return { ms, text: Number.isNaN(instant.getTime()) ? text : instant.toISOString() }
}

const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?(Z|[+\- ]\d{2}:?\d{2})?)?$/

function parseIso(text: string, { zone, edge }: TimeTextContext): ParsedTime | undefined {
  const match = ISO.exec(text)
  if (!match) return undefined
  const [, year, month, day, hour, minute, second, fraction, offset] = match
  const date = Date.UTC(Number(year), Number(month) - 1, Number(day))
  const wall = date + clockMs(hour, minute, second, fraction)
  if (new Date(date).getUTCDate() !== Number(day) || Number(month) > 12) return undefined
  if (Number.isNaN(wall)) return undefined
  // A `+` that was not escaped in a URL arrives as a space.
  const written = offset?.replace(' ', '+')
  const unsigned = offset === undefined ? text : text.slice(0, -offset.length)
  const canonical = unsigned.replace(' ', 'T') + (written ?? '')
  if (hour === undefined) {
    return { ms: instantOfWall(zone, date + (edge === 'end' ? DAY_MS : 0)), text: canonical }
  }
  if (written === undefined) return { ms: instantOfWall(zone, wall), text: canonical }
  return { ms: wall - offsetMs(written), text: canonical }
}

function clockMs(hour = '0', minute = '0', second = '0', fraction = '0'): number {
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return Number.NaN
  const seconds = Number(hour) * 3600 + Number(minute) * 60 + Number(second)
  return seconds * 1000 + Number(fraction.padEnd(3, '0'))
}

function offsetMs(written: string): number {
  if (written === 'Z') return 0
  const digits = written.replace(':', '')
  const minutes = Number(digits.slice(1, 3)) * 60 + Number(digits.slice(3, 5))
  return (digits.startsWith('-') ? -minutes : minutes) * MINUTE_MS
}
