/**
 * Reads a moment as programs write it, and returns epoch milliseconds: numbers (or digits in a
 * string) of seconds, milliseconds, microseconds or nanoseconds, told apart by their size, and ISO
 * 8601 in its common dialects. A time without a zone is in this machine's. Undefined where the value
 * is none of these; whether the moment is plausible is for the caller to say.
 */
export function readTimestamp(value: unknown): number | undefined {
  if (typeof value === 'number') return fromNumber(value)
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  if (/^-?\d+(\.\d+)?$/.test(text) && !/^\d{8}$/.test(text)) return fromNumber(Number(text))
  return fromIso(text)
}

/** 1e11 seconds is the year 5138, 1e11 milliseconds is 1973. */
function fromNumber(value: number): number | undefined {
  if (!Number.isFinite(value)) return undefined
  const size = Math.abs(value)
  if (size < 1e11) return Math.round(value * 1e3)
  if (size < 1e14) return Math.round(value)
  if (size < 1e17) return Math.round(value / 1e3)
  return Math.round(value / 1e6)
}

const ISO =
  /^(\d{4})-?(\d{2})-?(\d{2})[T ](\d{2}):?(\d{2}):?(\d{2})(?:[.,](\d{1,9}))?\s?(Z|[+-]\d{2}(?::?\d{2})?)?$/i

function fromIso(text: string): number | undefined {
  const match = ISO.exec(text)
  if (!match) return undefined
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 24 || minute > 59 || second > 60) {
    return undefined
  }
  const millisecond = Math.trunc(Number(`0.${match[7] ?? '0'}`) * 1000)
  const zone = match[8]
  if (zone === undefined) {
    return new Date(year, month - 1, day, hour, minute, second, millisecond).getTime()
  }
  return (
    Date.UTC(year, month - 1, day, hour, minute, second, millisecond) - offsetMinutes(zone) * 60_000
  )
}

function offsetMinutes(zone: string): number {
  if (zone.toUpperCase() === 'Z') return 0
  const sign = zone.startsWith('-') ? -1 : 1
  const digits = zone.slice(1).replace(':', '')
  return sign * (Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2, 4) || 0))
}
