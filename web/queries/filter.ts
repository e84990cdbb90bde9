import type { ErrorClass, Outcome } from '../../server/call-log/record.ts'

/** Values to keep and values to leave out. Both empty: everything. */
export type Choice<T extends string = string> = { include: readonly T[]; exclude: readonly T[] }

/**
 * What every question is asked about: one small value, parsed from and printed to a URL and to
 * command-line flags by this file alone.
 */
export type Filter = {
  /** Epoch ms, snapped down to a quarter hour; inclusive. */
  fromMs: number
  /** Epoch ms, snapped up to a quarter hour; exclusive. */
  toMs: number
  /** As the user wrote them (`now-7d`, an ISO time), so that a relative range stays relative. */
  from: string
  to: string
  server: Choice
  tool: Choice
  class: Choice<ErrorClass>
  outcome: Choice<Outcome>
  client: Choice
  session: string | undefined
  /** Minutes since local midnight, multiples of 15; `from` may be later than `to` (over midnight). */
  timeOfDay: { fromMinute: number; toMinute: number } | undefined
  /** ISO weekdays, 1 = Monday; empty: all. */
  weekdays: readonly number[]
  /** IANA zone in which times of day, weekdays and days are meant. */
  zone: string
}
