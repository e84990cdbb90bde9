import { QUARTER_MS } from '../../ingest/store/schema.ts'
import {
  ERROR_CLASSES,
  type ErrorClass,
  OUTCOMES,
  type Outcome,
} from '../../server/call-log/record.ts'
import {
  type Refuse,
  readChoice,
  readParsed,
  readSingle,
  refuseUnknownNames,
} from './filter-parameters.ts'
import {
  parseTimeOfDay,
  parseWeekdays,
  printChosen,
  printTimeOfDay,
  printWeekdays,
} from './filter-values.ts'
import { parseTimeText } from './time-text.ts'
import { canonicalZone } from './time-zones.ts'

/** Values to keep and values to leave out. Both empty: everything. */
export type Choice<T extends string = string> = { include: readonly T[]; exclude: readonly T[] }

/** Marks of single calls that a list can be narrowed to. `loop`: part of a retry loop. */
export const FLAG_NAMES = ['empty', 'suspect', 'dropped', 'undelivered', 'loop'] as const
export type FlagName = (typeof FLAG_NAMES)[number]

/** Stands for the client of calls whose client did not tell its name. */
export const UNKNOWN_CLIENT = '(unknown)'

/**
 * What every question is asked about: one small value, parsed from and printed to a URL and to
 * command-line flags by this file alone. Get one from `parseFilter`, `defaultFilter` or
 * `filterFromFlags`, and change parts with `withValue`, `withRange` or a spread.
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
  /** Versions of servers. */
  version: Choice
  tool: Choice
  class: Choice<ErrorClass>
  outcome: Choice<Outcome>
  client: Choice
  flag: Choice<FlagName>
  session: string | undefined
  /** Fingerprint of a malformed-argument signature: only the calls that show it. */
  signature: string | undefined
  /** Text that the arguments or the error hold, in any case (of ASCII letters). */
  text: string | undefined
  /** Minutes since local midnight, multiples of 15; `from` may be later than `to` (over midnight). */
  timeOfDay: { fromMinute: number; toMinute: number } | undefined
  /** ISO weekdays, 1 = Monday; empty: all. A window over midnight belongs to the day it began on. */
  weekdays: readonly number[]
  /** IANA zone in which times of day, weekdays and days are meant. */
  zone: string
}

export type FilterContext = {
  nowMs: number
  /** The zone where none is asked for. */
  defaultZone: string
  /** Parameters that belong to the page, not to the filter: `cursor`, `limit`, `sort` … */
  alsoAllowed?: readonly string[] | undefined
}

/** `name` is the parameter's; `message` is a sentence that says what to write instead. */
export type Problem = { name: string; message: string }

export type ParsedFilter = { ok: true; filter: Filter } | { ok: false; problems: Problem[] }

/** The dimensions of which several values may be chosen. */
export const CHOICE_NAMES = [
  'server',
  'version',
  'tool',
  'class',
  'outcome',
  'client',
  'flag',
] as const
export type ChoiceName = (typeof CHOICE_NAMES)[number]

const SINGLE_NAMES = ['session', 'signature', 'q', 'from', 'to', 'tod', 'dow', 'tz'] as const
export const PARAMETER_NAMES = [...CHOICE_NAMES, ...SINGLE_NAMES] as const

export const DEFAULT_FROM = 'now-28d'
export const DEFAULT_TO = 'now'

const MAX_RANGE_DAYS = 1100

/**
 * Reads the canonical parameters. Empty values count as absent, since forms send them; unknown and
 * wrongly repeated parameters and unknown values of closed lists are refused by name.
 */
export function parseFilter(params: URLSearchParams, context: FilterContext): ParsedFilter {
  const problems: Problem[] = []
  const refuse: Refuse = (name, message) => problems.push({ name, message })
  refuseUnknownNames(params, [...PARAMETER_NAMES, ...(context.alsoAllowed ?? [])], refuse)

  const single = (name: (typeof SINGLE_NAMES)[number]) => readSingle(params, name, refuse)
  const open = (name: ChoiceName) => readChoice<string>(params, name, undefined, refuse)
  const zone = readZone(single('tz'), context.defaultZone, refuse)
  const filter: Filter = {
    ...readRange(single('from'), single('to'), { nowMs: context.nowMs, zone }, refuse),
    server: open('server'),
    version: open('version'),
    tool: open('tool'),
    class: readChoice(params, 'class', ERROR_CLASSES, refuse),
    outcome: readChoice(params, 'outcome', OUTCOMES, refuse),
    client: open('client'),
    flag: readChoice(params, 'flag', FLAG_NAMES, refuse),
    session: single('session'),
    signature: single('signature'),
    text: single('q'),
    timeOfDay: readParsed(single('tod'), 'tod', parseTimeOfDay, refuse)?.window,
    weekdays: readParsed(single('dow'), 'dow', parseWeekdays, refuse) ?? [],
    zone,
  }
  return problems.length === 0 ? { ok: true, filter } : { ok: false, problems }
}

/** The filter of a URL without parameters. */
export function defaultFilter(context: FilterContext): Filter {
  const parsed = parseFilter(new URLSearchParams(), context)
  if (parsed.ok) return parsed.filter
  throw new RangeError(parsed.problems.map((problem) => problem.message).join('; '))
}

/** Canonical order, defaults left out. The zone is left out only where `defaultZone` says so. */
export function printFilter(
  filter: Filter,
  options: { defaultZone?: string | undefined } = {},
): URLSearchParams {
  const params = new URLSearchParams()
  for (const name of CHOICE_NAMES) {
    const { include, exclude } = filter[name]
    for (const value of [...include].sort()) params.append(name, printChosen(value, false))
    for (const value of [...exclude].sort()) params.append(name, printChosen(value, true))
  }
  const { timeOfDay, weekdays } = filter
  if (filter.session !== undefined) params.set('session', filter.session)
  if (filter.signature !== undefined) params.set('signature', filter.signature)
  if (filter.text !== undefined) params.set('q', filter.text)
  if (filter.from !== DEFAULT_FROM) params.set('from', filter.from)
  if (filter.to !== DEFAULT_TO) params.set('to', filter.to)
  if (timeOfDay) params.set('tod', printTimeOfDay(timeOfDay))
  if (weekdays.length > 0) params.set('dow', printWeekdays(weekdays))
  if (filter.zone !== options.defaultZone) params.set('tz', filter.zone)
  return params
}

export type ChoiceState = 'include' | 'exclude' | undefined

export function stateOf(filter: Filter, name: ChoiceName, value: string): ChoiceState {
  const { include, exclude }: Choice = filter[name]
  if (include.includes(value)) return 'include'
  return exclude.includes(value) ? 'exclude' : undefined
}

/** The filter with a value kept, left out, or (undefined) not mentioned. */
export function withValue(
  filter: Filter,
  name: ChoiceName,
  value: string,
  state: ChoiceState,
): Filter {
  const { include, exclude }: Choice = filter[name]
  const without = (values: readonly string[]) => values.filter((other) => other !== value)
  const choice: Choice = {
    include: state === 'include' ? [...without(include), value].sort() : without(include),
    exclude: state === 'exclude' ? [...without(exclude), value].sort() : without(exclude),
  }
  return { ...filter, [name]: choice }
}

/** For facet links: switches the value on, or off where it is in that state already. */
export function toggleValue(
  filter: Filter,
  name: ChoiceName,
  value: string,
  state: 'include' | 'exclude' = 'include',
): Filter {
  const now = stateOf(filter, name, value)
  return withValue(filter, name, value, now === state ? undefined : state)
}

/** An absolute range, snapped outwards to quarter hours. */
export function withRange(filter: Filter, fromMs: number, toMs: number): Filter {
  const snapped = {
    fromMs: Math.floor(fromMs / QUARTER_MS) * QUARTER_MS,
    toMs: Math.ceil(toMs / QUARTER_MS) * QUARTER_MS,
  }
  const iso = (ms: number) => new Date(ms).toISOString().replace('.000Z', 'Z')
  return { ...filter, ...snapped, from: iso(snapped.fromMs), to: iso(snapped.toMs) }
}

/** The filter with its relative times made absolute: the link still shows the same calls tomorrow. */
export function frozen(filter: Filter): Filter {
  return withRange(filter, filter.fromMs, filter.toMs)
}

/** True where nothing but the range and the zone is set. */
export function isUnfiltered(filter: Filter): boolean {
  return (
    CHOICE_NAMES.every((name) => isOpen(filter[name])) &&
    filter.session === undefined &&
    filter.signature === undefined &&
    filter.text === undefined &&
    filter.timeOfDay === undefined &&
    filter.weekdays.length === 0
  )
}

export function isOpen(choice: Choice): boolean {
  return choice.include.length === 0 && choice.exclude.length === 0
}

function readZone(text: string | undefined, defaultZone: string, refuse: Refuse): string {
  const zone = canonicalZone(text ?? defaultZone)
  if (zone !== undefined) return zone
  refuse('tz', `${JSON.stringify(text ?? defaultZone)} is no time zone: write Europe/Berlin or UTC`)
  return 'UTC'
}

function readRange(
  from: string | undefined,
  to: string | undefined,
  context: { nowMs: number; zone: string },
  refuse: Refuse,
): Pick<Filter, 'fromMs' | 'toMs' | 'from' | 'to'> {
  const start = parseTimeText(from ?? DEFAULT_FROM, { ...context, edge: 'start' })
  const end = parseTimeText(to ?? DEFAULT_TO, { ...context, edge: 'end' })
  if (typeof start === 'string') refuse('from', start)
  if (typeof end === 'string') refuse('to', end)
  if (typeof start === 'string' || typeof end === 'string') {
    return { fromMs: 0, toMs: 0, from: DEFAULT_FROM, to: DEFAULT_TO }
  }
  if (start.ms >= end.ms) {
    refuse('from', `the range begins at ${start.text}, not before its end ${end.text}: swap them`)
  } else if (end.ms - start.ms > MAX_RANGE_DAYS * 86_400_000) {
    refuse('from', `the range is longer than ${MAX_RANGE_DAYS} days: choose a later start`)
  }
  return {
    fromMs: Math.floor(start.ms / QUARTER_MS) * QUARTER_MS,
    toMs: Math.ceil(end.ms / QUARTER_MS) * QUARTER_MS,
    from: start.text,
    to: end.text,
  }
}
