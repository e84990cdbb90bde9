import { QUARTER_MS } from '../../ingest/store/schema.ts'

/**
 * All that depends on a time zone. Stored times are UTC; a bucket of time is known by its UTC
 * instant and only labelled in local time, so a repeated hour stays two buckets and a skipped one
 * has none.
 *
 * Arithmetic is done in quarter hours since 1970: a *wall quarter* is the number of quarters that
 * a clock on the wall shows since 1970-01-01 00:00 wall time. Offsets of old times that are not a
 * multiple of 15 minutes (local mean time, before 1972) are rounded to one.
 */

export const DAY_MS = 86_400_000
const QUARTERS_A_DAY = 96
/** Offsets are looked up a chunk at a time: 64 days, one probe a day, then bisection. */
const CHUNK_QUARTERS = 64 * QUARTERS_A_DAY

/** Quarters [fromQuarter, toQuarter) in which the zone's offset is the same. */
export type OffsetSpan = { fromQuarter: number; toQuarter: number; offsetQuarters: number }

export type QuarterRange = { fromQuarter: number; toQuarter: number }

export type WallTime = {
  year: number
  /** 1 to 12. */
  month: number
  day: number
  /** ISO: 1 = Monday … 7 = Sunday. */
  weekday: number
  hour: number
  minute: number
  /** What the wall is ahead of UTC. */
  offsetMinutes: number
}

type ZoneCache = { format: Intl.DateTimeFormat; chunks: Map<number, OffsetSpan[]> }

const zones = new Map<string, ZoneCache>()

/**
 * The zone in its usual case (`europe/berlin` → `Europe/Berlin`), or undefined if there is no such
 * zone. A newer name stays as it was written where Intl only knows the old one (Asia/Kolkata).
 */
export function canonicalZone(zone: string): string | undefined {
  try {
    const { timeZone } = new Intl.DateTimeFormat('en-US', { timeZone: zone }).resolvedOptions()
    // Fixed offsets (`+01:00`) are accepted by newer Node only, and are no zones.
    if (/^[+-]/.test(timeZone)) return undefined
    return timeZone.toLowerCase() === zone.toLowerCase() ? timeZone : zone
  } catch {
    return undefined
  }
}

export function quarterOf(ms: number): number {
  return Math.floor(ms / QUARTER_MS)
}

function cacheOf(zone: string): ZoneCache {
  const known = zones.get(zone)
  if (known) return known
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  const made = { format, chunks: new Map<number, OffsetSpan[]>() }
  zones.set(zone, made)
  return made
}

/** Asks Intl, which takes about a microsecond: only for filling the cache. */
function probeOffset(format: Intl.DateTimeFormat, quarter: number): number {
  const text = format.format(quarter * QUARTER_MS)
  const match = /GMT(?:([+-])(\d{2}):(\d{2}))?/.exec(text)
  if (!match) throw new Error(`Intl gave no offset in ${JSON.stringify(text)}`)
  const minutes = Number(match[2] ?? 0) * 60 + Number(match[3] ?? 0)
  return Math.round(((match[1] === '-' ? -1 : 1) * minutes) / 15)
}

function firstQuarterWithOffsetOf(
  format: Intl.DateTimeFormat,
  before: number,
  after: number,
  offset: number,
): number {
  let low = before
  let high = after
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (probeOffset(format, middle) === offset) high = middle
    else low = middle
  }
  return high
}

function readChunk(format: Intl.DateTimeFormat, chunk: number): OffsetSpan[] {
  const first = chunk * CHUNK_QUARTERS
  const end = first + CHUNK_QUARTERS
  const spans: OffsetSpan[] = []
  let start = first
  let offset = probeOffset(format, first)
  for (let probe = first + QUARTERS_A_DAY; probe <= end; probe += QUARTERS_A_DAY) {
    // The last probe is the chunk's own last quarter, not the next chunk's first.
    const at = Math.min(probe, end - 1)
    const found = probeOffset(format, at)
    if (found === offset) continue
    const change = firstQuarterWithOffsetOf(format, at - QUARTERS_A_DAY, at, found)
    spans.push({ fromQuarter: start, toQuarter: change, offsetQuarters: offset })
    start = change
    offset = found
  }
  spans.push({ fromQuarter: start, toQuarter: end, offsetQuarters: offset })
  return spans
}

function chunkSpans(zone: string, chunk: number): OffsetSpan[] {
  const cache = cacheOf(zone)
  const known = cache.chunks.get(chunk)
  if (known) return known
  const spans = readChunk(cache.format, chunk)
  cache.chunks.set(chunk, spans)
  return spans
}

/** The range cut where the zone's offset changes: one span, or two with a change of clocks in it. */
export function offsetSpans(zone: string, fromQuarter: number, toQuarter: number): OffsetSpan[] {
  const spans: OffsetSpan[] = []
  const lastChunk = Math.floor((toQuarter - 1) / CHUNK_QUARTERS)
  for (let chunk = Math.floor(fromQuarter / CHUNK_QUARTERS); chunk <= lastChunk; chunk++) {
    for (const span of chunkSpans(zone, chunk)) {
      const from = Math.max(span.fromQuarter, fromQuarter)
      const to = Math.min(span.toQuarter, toQuarter)
      const last = spans.at(-1)
      if (from >= to) continue
      if (last?.offsetQuarters === span.offsetQuarters) last.toQuarter = to
      else spans.push({ fromQuarter: from, toQuarter: to, offsetQuarters: span.offsetQuarters })
    }
  }
  return spans
}

export function offsetQuarters(zone: string, quarter: number): number {
  const spans = chunkSpans(zone, Math.floor(quarter / CHUNK_QUARTERS))
  for (const span of spans) if (quarter < span.toQuarter) return span.offsetQuarters
  throw new RangeError(`quarter ${quarter} is not a whole number`)
}

export function wallQuarter(zone: string, quarter: number): number {
  return quarter + offsetQuarters(zone, quarter)
}

/** Day 0 is Thursday 1970-01-01. */
export function weekdayOfDay(day: number): number {
  return ((((day + 3) % 7) + 7) % 7) + 1
}

export function wallTime(zone: string, ms: number): WallTime {
  const offset = offsetQuarters(zone, quarterOf(ms))
  const wall = new Date(ms + offset * QUARTER_MS)
  return {
    year: wall.getUTCFullYear(),
    month: wall.getUTCMonth() + 1,
    day: wall.getUTCDate(),
    weekday: weekdayOfDay(Math.floor(wall.getTime() / DAY_MS)),
    hour: wall.getUTCHours(),
    minute: wall.getUTCMinutes(),
    offsetMinutes: offset * 15,
  }
}

/** Milliseconds that a wall clock shows since 1970-01-01 00:00 wall time. */
export function wallMs(zone: string, ms: number): number {
  return ms + offsetQuarters(zone, quarterOf(ms)) * QUARTER_MS
}

/**
 * The instant at which the wall shows `wall` (see wallMs). A repeated time means its first
 * occurrence; a skipped one means the instant of the change.
 */
export function instantOfWall(zone: string, wall: number): number {
  const around = quarterOf(wall)
  for (const span of offsetSpans(zone, around - 2 * QUARTERS_A_DAY, around + 2 * QUARTERS_A_DAY)) {
    const instant = wall - span.offsetQuarters * QUARTER_MS
    if (instant < span.toQuarter * QUARTER_MS) {
      return Math.max(instant, span.fromQuarter * QUARTER_MS)
    }
  }
  throw new RangeError(`no instant for the wall time ${wall} in ${zone}`)
}

/** The same wall time some days later or earlier: 24 h are not always a day. */
export function addLocalDays(zone: string, ms: number, days: number): number {
  return instantOfWall(zone, wallMs(zone, ms) + days * DAY_MS)
}

/** When the zone next changes its offset, up to 400 days ahead. */
export function nextOffsetChange(zone: string, afterMs: number): number | undefined {
  const from = quarterOf(afterMs)
  const [now, next] = offsetSpans(zone, from, from + 400 * QUARTERS_A_DAY)
  return now && next ? next.fromQuarter * QUARTER_MS : undefined
}

/** When, on the wall: a window of time and the weekdays on which it begins. */
export type WallClockPattern = {
  /** Minutes since midnight, multiples of 15; `from` later than `to` runs over midnight. */
  timeOfDay: { fromMinute: number; toMinute: number } | undefined
  /** ISO weekdays; empty: all. After midnight a window still belongs to the day it began on. */
  weekdays: readonly number[]
}

/**
 * A pattern in numbers, for a quarter q of an offset span:
 * `w = q + offset − startQuarter` matches when `w mod 96 < lengthQuarters` and the bit of the
 * weekday of day ⌊w / 96⌋ (bit 0 = Monday) is set in `weekdayMask`.
 */
export type PatternNumbers = { startQuarter: number; lengthQuarters: number; weekdayMask: number }

const ALL_WEEKDAYS = 0b1111111

export function patternNumbers(pattern: WallClockPattern): PatternNumbers | undefined {
  const { timeOfDay, weekdays } = pattern
  if (!timeOfDay && weekdays.length === 0) return undefined
  const start = (timeOfDay?.fromMinute ?? 0) / 15
  const end = (timeOfDay?.toMinute ?? 1440) / 15
  const mask = weekdays.reduce((bits, weekday) => bits | (1 << (weekday - 1)), 0)
  return {
    startQuarter: start,
    lengthQuarters: end > start ? end - start : end - start + QUARTERS_A_DAY,
    weekdayMask: weekdays.length === 0 ? ALL_WEEKDAYS : mask,
  }
}

export function matchesPattern(numbers: PatternNumbers, wall: number): boolean {
  const shifted = wall - numbers.startQuarter
  const day = Math.floor(shifted / QUARTERS_A_DAY)
  if (shifted - day * QUARTERS_A_DAY >= numbers.lengthQuarters) return false
  return ((numbers.weekdayMask >> (weekdayOfDay(day) - 1)) & 1) === 1
}

/** The UTC quarters of a range in which the pattern holds, merged and in order. */
export function quartersOf(
  zone: string,
  range: QuarterRange,
  pattern: WallClockPattern,
): QuarterRange[] {
  const numbers = patternNumbers(pattern)
  if (!numbers) return range.fromQuarter < range.toQuarter ? [{ ...range }] : []
  const found: QuarterRange[] = []
  for (const span of offsetSpans(zone, range.fromQuarter, range.toQuarter)) {
    for (let quarter = span.fromQuarter; quarter < span.toQuarter; quarter++) {
      if (!matchesPattern(numbers, quarter + span.offsetQuarters)) continue
      const last = found.at(-1)
      if (last?.toQuarter === quarter) last.toQuarter++
      else found.push({ fromQuarter: quarter, toQuarter: quarter + 1 })
    }
  }
  return found
}
