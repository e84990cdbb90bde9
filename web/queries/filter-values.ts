/**
 * How the parts of a filter are written: `22:00-02:00`, `mon,fri`, `!value`. Each parser returns
 * the value, or a sentence that says what to write instead.
 */

const MINUTES_A_DAY = 1440

export type TimeOfDay = { fromMinute: number; toMinute: number }

/** Snapped outwards to quarter hours; undefined where that covers the whole day. */
export function parseTimeOfDay(text: string): { window: TimeOfDay | undefined } | string {
  const help = 'write a window such as 22:00-02:00, in hours and minutes from 00:00 to 24:00'
  const match = /^(\d{1,2}):(\d{2})-(\d{1,2}):(\d{2})$/.exec(text)
  if (!match) return `${JSON.stringify(text)} is not a time of day: ${help}`
  const [from, to] = [minuteOf(match[1], match[2]), minuteOf(match[3], match[4])]
  if (from === undefined || to === undefined || from === MINUTES_A_DAY) {
    return `${JSON.stringify(text)} is not a time of day: ${help}`
  }
  if (from === to) return `${JSON.stringify(text)} begins where it ends: ${help}`
  const fromMinute = Math.floor(from / 15) * 15
  const snapped = Math.ceil(to / 15) * 15
  // A window that ends at midnight ends at 24:00 of its day.
  const toMinute = snapped === 0 ? MINUTES_A_DAY : snapped
  const wholeDay = fromMinute === toMinute || (fromMinute === 0 && toMinute === MINUTES_A_DAY)
  // 10:05-10:00 runs almost around the clock, 10:05-10:10 only a quarter.
  return { window: wholeDay ? undefined : { fromMinute, toMinute } }
}

function minuteOf(hours: string | undefined, minutes: string | undefined): number | undefined {
  const minute = Number(hours) * 60 + Number(minutes)
  return Number(minutes) < 60 && minute <= MINUTES_A_DAY ? minute : undefined
}

export function printTimeOfDay({ fromMinute, toMinute }: TimeOfDay): string {
  return `${printMinute(fromMinute)}-${printMinute(toMinute)}`
}

/** Minutes since midnight as `02:15`. */
export function printMinute(minute: number): string {
  const hour = Math.floor(minute / 60)
  return `${String(hour).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`
}

const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']

/** ISO weekdays in order; empty where all seven are meant. */
export function parseWeekdays(text: string): number[] | string {
  const days = new Set<number>()
  for (const part of text.toLowerCase().split(',')) {
    const names = part.split('-').map((name) => weekdayNumber(name.trim()))
    const [first, last] = [names[0], names.at(-1)]
    if (first === undefined || last === undefined || names.length > 2) {
      return `${JSON.stringify(part)} is not a weekday: write mon,fri or 1-5 (1 is Monday, 7 is Sunday)`
    }
    // fri-mon runs over the week's end.
    for (let day = first; ; day = (day % 7) + 1) {
      days.add(day)
      if (day === last) break
    }
  }
  return days.size === 7 ? [] : [...days].sort()
}

function weekdayNumber(text: string): number | undefined {
  if (/^[1-7]$/.test(text)) return Number(text)
  const index = WEEKDAYS.findIndex((name) => name === text || name.slice(0, 3) === text)
  return index >= 0 ? index + 1 : undefined
}

export function printWeekdays(weekdays: readonly number[]): string {
  return weekdays.map((day) => WEEKDAYS[day - 1]?.slice(0, 3)).join(',')
}

/** `!value` leaves the value out. A value that itself begins with `!` or `\` is written `\!value`. */
export function parseChosen(text: string): { value: string; exclude: boolean } {
  if (text.startsWith('!')) return { value: text.slice(1), exclude: true }
  return { value: text.startsWith('\\') ? text.slice(1) : text, exclude: false }
}

export function printChosen(value: string, exclude: boolean): string {
  if (exclude) return `!${value}`
  return /^[!\\]/.test(value) ? `\\${value}` : value
}
