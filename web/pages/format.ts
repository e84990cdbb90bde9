const counts = new Intl.NumberFormat('en-GB')

/** A thin promise: a number that is not one is shown as a dash, never as NaN. */
export const NO_VALUE = '–'

export function formatCount(value: number | undefined): string {
  return value === undefined || !Number.isFinite(value) ? NO_VALUE : counts.format(value)
}

/** 0.123 → "12 %". Below 10 % one decimal; what is not zero never reads as zero. */
export function formatRate(rate: number | undefined): string {
  if (rate === undefined || !Number.isFinite(rate)) return NO_VALUE
  const percent = rate * 100
  if (percent === 0) return '0\u00a0%'
  if (percent < 0.1) return '<\u00a00.1\u00a0%'
  if (percent < 9.95) return `${trimZero(percent.toFixed(1))}\u00a0%`
  if (percent > 99 && percent < 100) return '>\u00a099\u00a0%'
  return `${Math.round(percent)}\u00a0%`
}

/** Milliseconds → "0.4 ms", "12 ms", "1.2 s", "2 min 5 s", "3 h 10 min". */
export function formatDuration(ms: number | undefined): string {
  if (ms === undefined || !Number.isFinite(ms)) return NO_VALUE
  if (ms < 9.95) return `${trimZero(ms.toFixed(1))}\u00a0ms`
  if (ms < 999.5) return `${Math.round(ms)}\u00a0ms`
  if (ms < 59_950) return `${trimZero((ms / 1000).toFixed(1))}\u00a0s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 3600) return twoUnits(seconds, 60, 'min', 's')
  const minutes = Math.round(ms / 60_000)
  if (minutes < 24 * 60) return twoUnits(minutes, 60, 'h', 'min')
  return twoUnits(Math.round(ms / 3_600_000), 24, 'd', 'h')
}

function twoUnits(total: number, size: number, large: string, small: string): string {
  const rest = total % size
  const head = `${Math.floor(total / size)}\u00a0${large}`
  return rest === 0 ? head : `${head} ${rest}\u00a0${small}`
}

export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes}\u00a0B`
  if (bytes < 999_500) return `${trimZero((bytes / 1e3).toFixed(1))}\u00a0kB`
  if (bytes < 999_500_000) return `${trimZero((bytes / 1e6).toFixed(1))}\u00a0MB`
  return `${trimZero((bytes / 1e9).toFixed(1))}\u00a0GB`
}

function trimZero(text: string): string {
  return text.endsWith('.0') ? text.slice(0, -2) : text
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`
}

/** "3 s ago", "5 min ago", "2 d ago"; "in 3 h" for what is to come. */
export function formatAge(ms: number, nowMs: number): string {
  const distance = Math.abs(nowMs - ms)
  if (distance < 1000) return 'just now'
  const size = oneUnit(distance)
  return ms > nowMs ? `in ${size}` : `${size} ago`
}

function oneUnit(ms: number): string {
  if (ms < 60_000) return `${Math.floor(ms / 1000)}\u00a0s`
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)}\u00a0min`
  if (ms < 2 * 86_400_000) return `${Math.floor(ms / 3_600_000)}\u00a0h`
  return `${Math.floor(ms / 86_400_000)}\u00a0d`
}

type Style = 'moment' | 'minute' | 'clock' | 'day' | 'weekdayHour'

const STYLES: Readonly<Record<Style, Intl.DateTimeFormatOptions>> = {
  moment: {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  },
  minute: { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
  clock: { hour: '2-digit', minute: '2-digit', second: '2-digit' },
  day: { weekday: 'short', day: 'numeric', month: 'short' },
  weekdayHour: { weekday: 'short', hour: '2-digit', minute: '2-digit' },
}

const formatters = new Map<string, Intl.DateTimeFormat>()

/** Building a formatter costs about 50 µs and a page needs hundreds, so they are kept. */
function formatter(style: Style, zone: string): Intl.DateTimeFormat {
  const key = `${style} ${zone}`
  const kept = formatters.get(key)
  if (kept) return kept
  const made = new Intl.DateTimeFormat('en-GB', {
    ...STYLES[style],
    timeZone: zone,
    hourCycle: 'h23',
  })
  formatters.set(key, made)
  return made
}

export function formatInstant(ms: number, zone: string, style: Style = 'moment'): string {
  if (!Number.isFinite(ms)) return NO_VALUE
  return formatter(style, zone).format(ms)
}

export function formatIso(ms: number): string {
  return Number.isFinite(ms) && Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : ''
}

/** "02:00" from minutes since midnight; 1440 is "24:00". */
export function formatMinute(minuteOfDay: number): string {
  const hour = Math.floor(minuteOfDay / 60)
  return `${String(hour).padStart(2, '0')}:${String(minuteOfDay % 60).padStart(2, '0')}`
}

export const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const

export const WEEKDAY_NAMES = [
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
  'Sunday',
] as const
