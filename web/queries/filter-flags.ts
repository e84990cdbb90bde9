import {
  type ChoiceName,
  type FilterContext,
  type PARAMETER_NAMES,
  type ParsedFilter,
  parseFilter,
} from './filter.ts'

type Parameter = (typeof PARAMETER_NAMES)[number]

export type FilterFlag = {
  /** Without the dashes; also the key under which `filterFromFlags` looks for its value. */
  flag: string
  parameter: Parameter
  /** For the help: `--tool <name>`. */
  placeholder: string
  /** May be given several times. */
  repeatable: boolean
  help: string
}

const choice = (parameter: ChoiceName, placeholder: string, help: string): FilterFlag => ({
  flag: parameter,
  parameter,
  placeholder,
  repeatable: true,
  help: `${help}; repeatable, !${placeholder} leaves it out`,
})

const single = (
  flag: string,
  parameter: Parameter,
  placeholder: string,
  help: string,
): FilterFlag => ({ flag, parameter, placeholder, repeatable: false, help })

/** The filter on the command line, in the order of the help. */
export const FILTER_FLAGS: readonly FilterFlag[] = [
  choice('server', 'name', 'only calls of this server'),
  choice('version', 'version', 'only calls of servers of this version'),
  choice('tool', 'name', 'only calls of this tool'),
  choice('class', 'class', 'only failures of this error class'),
  choice('outcome', 'outcome', 'succeeded, retried, failed or deferred'),
  choice('client', 'name', 'only calls of this client'),
  choice('flag', 'mark', 'empty, suspect, dropped, undelivered or loop'),
  single('session', 'session', 'key', 'only calls of this session'),
  single('signature', 'signature', 'id', 'only calls with this malformed-argument signature'),
  single('text', 'q', 'text', 'only calls whose arguments or error hold this text'),
  single('since', 'from', 'time', 'from when: 24h, -7d, now-7d/d, 2026-03-08, an ISO time'),
  single('until', 'to', 'time', 'until when, written like --since; default now'),
  single('tod', 'tod', 'window', 'time of day: 22:00-02:00'),
  single('dow', 'dow', 'days', 'weekdays: mon,fri or 1-5'),
  single('tz', 'tz', 'zone', 'time zone of days and times of day: Europe/Berlin, UTC'),
]

/** As commander gives them: a string, a list where repeatable, undefined where absent. */
export type FlagValues = Readonly<Record<string, string | readonly string[] | undefined>>

/** Problems carry the flag's name (`--since`) in place of the parameter's. */
export function filterFromFlags(values: FlagValues, context: FilterContext): ParsedFilter {
  const params = new URLSearchParams()
  for (const { flag, parameter } of FILTER_FLAGS) {
    const value = values[flag]
    for (const text of typeof value === 'string' ? [value] : (value ?? [])) {
      params.append(parameter, text)
    }
  }
  const parsed = parseFilter(params, context)
  if (parsed.ok) return parsed
  const flagOf = (name: string) =>
    `--${FILTER_FLAGS.find(({ parameter }) => parameter === name)?.flag ?? name}`
  const problems = parsed.problems.map(({ name, message }) => ({ name: flagOf(name), message }))
  return { ok: false, problems }
}
