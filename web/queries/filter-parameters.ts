import type { Choice } from './filter.ts'
import { parseChosen } from './filter-values.ts'

/** Tells of a parameter that was refused, with a sentence that says what to write instead. */
export type Refuse = (name: string, message: string) => void

const MAX_VALUE_LENGTH = 200

export function refuseUnknownNames(
  params: URLSearchParams,
  allowed: readonly string[],
  refuse: Refuse,
): void {
  for (const name of new Set(params.keys())) {
    if (allowed.includes(name)) continue
    refuse(name, `there is no parameter ${JSON.stringify(name)} here: use ${allowed.join(', ')}`)
  }
}

export function readSingle(
  params: URLSearchParams,
  name: string,
  refuse: Refuse,
): string | undefined {
  const values = params.getAll(name).filter((value) => value !== '')
  if (values.length > 1) refuse(name, `${name} is given ${values.length} times: give it once`)
  const [value] = values
  if (value === undefined || isTooLong(value, name, refuse)) return undefined
  return value
}

function isTooLong(value: string, name: string, refuse: Refuse): boolean {
  if (value.length <= MAX_VALUE_LENGTH) return false
  refuse(name, `a value of ${name} has ${value.length} characters: at most ${MAX_VALUE_LENGTH}`)
  return true
}

export function readChoice<T extends string>(
  params: URLSearchParams,
  name: string,
  allowed: readonly T[] | undefined,
  refuse: Refuse,
): Choice<T> {
  const include = new Set<T>()
  const exclude = new Set<T>()
  const isAllowed = (value: string): value is T =>
    !allowed || (allowed as readonly string[]).includes(value)
  for (const text of params.getAll(name)) {
    const { value, exclude: leaveOut } = parseChosen(text)
    if (value === '' || isTooLong(value, name, refuse)) continue
    if (isAllowed(value)) (leaveOut ? exclude : include).add(value)
    else refuse(name, `${JSON.stringify(value)} is no ${name}: write one of ${allowed?.join(', ')}`)
  }
  for (const value of include) {
    if (!exclude.has(value)) continue
    refuse(name, `${JSON.stringify(value)} is both kept and left out: give it once`)
  }
  return { include: [...include].sort(), exclude: [...exclude].sort() }
}

export function readParsed<T>(
  text: string | undefined,
  name: string,
  parse: (text: string) => T | string,
  refuse: Refuse,
): T | undefined {
  if (text === undefined) return undefined
  const parsed = parse(text)
  if (typeof parsed !== 'string') return parsed
  refuse(name, parsed)
  return undefined
}
