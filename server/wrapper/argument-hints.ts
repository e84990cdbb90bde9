import type { IssueCode, IssueSubtype } from '../call-log/record.ts'
import { valueAt } from './argument-path.ts'
import type { ArgumentProblem } from './argument-problem.ts'
import { isRecord } from './mcp-shapes.ts'
import { nearestName } from './nearest-name.ts'
import { type JsonType, type SchemaView, typeFits, viewAt } from './schema-view.ts'

export type Hint = {
  code?: IssueCode
  subtype?: IssueSubtype
  suggest?: string
  /** What to send instead, as the end of a sentence. */
  advice?: string
}

/** Larger texts are not parsed only to word a hint. */
const MAX_PARSED_LENGTH = 100_000

/** The habit behind a mistake, where it is one of those that models have. */
export function hintFor(problem: ArgumentProblem, raw: unknown, root: SchemaView): Hint {
  const value = valueAt(raw, problem.path)
  if (problem.code === 'unknown_key') return unknownKeyHint(problem, raw, root)
  const isHinted = ['wrong_type', 'not_in_enum', 'union_no_match'].includes(problem.code)
  if (!isHinted) return {}
  if (value === null) return nullHint(problem, root)
  const choices = problem.values ?? choicesAt(root, problem.path)
  const chosen = choiceHint(choices, value)
  if (chosen || typeof value !== 'string') return chosen ?? {}
  return stringHint(value, wantedTypes(problem, root))
}

function choicesAt(root: SchemaView, path: readonly PropertyKey[]): unknown[] {
  const view = viewAt(root, path)
  return [view, ...(view?.anyOf ?? [])].flatMap((part) => part?.values ?? [])
}

function wantedTypes(problem: ArgumentProblem, root: SchemaView): Set<string> {
  const types = new Set<string>()
  const view = viewAt(root, problem.path)
  for (const part of view?.anyOf ?? (view ? [view] : [])) {
    for (const type of part.types) types.add(type)
  }
  if (types.size === 0) for (const word of problem.expected?.split(/\W+/) ?? []) types.add(word)
  return types
}

function stringHint(text: string, wanted: Set<string>): Hint {
  const json = wanted.has('array') || wanted.has('object') ? jsonTextHint(text, wanted) : undefined
  if (json) return json
  const trimmed = text.trim()
  if (isNumberFor(trimmed, wanted)) {
    return { subtype: 'stringified_number', advice: `send ${shortNumber(trimmed)} without quotes` }
  }
  if (wanted.has('boolean') && /^(?:true|false)$/i.test(trimmed)) {
    const word = trimmed.toLowerCase()
    return { subtype: 'stringified_boolean', advice: `send ${word} without quotes` }
  }
  return {}
}

function isNumberFor(text: string, wanted: Set<string>): boolean {
  if (wanted.has('number')) return /^-?\d*\.?\d+(?:[eE][+-]?\d+)?$/.test(text)
  return wanted.has('integer') && /^-?\d+$/.test(text)
}

function shortNumber(text: string): string {
  return text.length <= 30 ? text : 'the number'
}

function jsonTextHint(text: string, wanted: Set<string>): Hint | undefined {
  const container = wanted.has('array') ? 'array' : 'object'
  if (text.trim() === '') {
    return { advice: `send ${container === 'array' ? '[]' : '{}'} or leave it out` }
  }
  if (!/^\s*[[{]/.test(text) || text.length > MAX_PARSED_LENGTH) return undefined
  const parsed = parse(text)
  if (parsed === undefined) return { code: 'malformed_json' }
  const type: JsonType = Array.isArray(parsed) ? 'array' : 'object'
  if (!wanted.has(type)) return undefined
  return { subtype: 'stringified_json', advice: `send a JSON ${type}, not a JSON-encoded string` }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function nullHint(problem: ArgumentProblem, root: SchemaView): Hint {
  const parent = viewAt(root, problem.path.slice(0, -1))
  const property = parent?.properties?.get(String(problem.path.at(-1)))
  if (!property || property.required) return {}
  return { subtype: 'null_for_optional', advice: 'it is optional: leave it out instead of null' }
}

function choiceHint(choices: readonly unknown[], value: unknown): Hint | undefined {
  const words = choices.filter((choice) => typeof choice === 'string')
  if (typeof value !== 'string') {
    const word = words.find((choice) => choice === String(value))
    return word === undefined ? undefined : { advice: `send ${JSON.stringify(word)}, with quotes` }
  }
  const plain = choices.find((choice) => isPlain(choice) && String(choice) === value.trim())
  if (isPlain(plain)) {
    const subtype = typeof plain === 'number' ? 'stringified_number' : 'stringified_boolean'
    return { subtype, advice: `send ${String(plain)} without quotes` }
  }
  return wordHint(words, value)
}

function isPlain(choice: unknown): choice is number | boolean {
  return typeof choice === 'number' || typeof choice === 'boolean'
}

function wordHint(words: readonly string[], value: string): Hint | undefined {
  const sameWord = words.find((word) => word.toLowerCase() === value.trim().toLowerCase())
  if (sameWord !== undefined) {
    const advice = `send ${JSON.stringify(sameWord)}`
    return { subtype: 'case_mismatch', suggest: sameWord, advice }
  }
  const candidates = words.map((name) => ({ name }))
  const nearest = nearestName(value, candidates)?.name
  if (nearest === undefined) return undefined
  return { suggest: nearest, advice: `did you mean ${JSON.stringify(nearest)}?` }
}

function unknownKeyHint(problem: ArgumentProblem, raw: unknown, root: SchemaView): Hint {
  const parentPath = problem.path.slice(0, -1)
  const suggest = nearestParameter({
    wrong: String(problem.path.at(-1)),
    value: valueAt(raw, problem.path),
    siblings: valueAt(raw, parentPath),
    view: viewAt(root, parentPath),
  })
  return suggest === undefined ? {} : { suggest, advice: `did you mean \`${suggest}\`?` }
}

/** The parameter that was probably meant, among those that were not sent as well. */
export function nearestParameter(asked: {
  wrong: string
  value: unknown
  siblings: unknown
  view: SchemaView | undefined
}): string | undefined {
  const sent = isRecord(asked.siblings) ? asked.siblings : {}
  const candidates = [...(asked.view?.properties ?? [])]
    .filter(([name]) => !Object.hasOwn(sent, name))
    .map(([name, property]) => ({
      name,
      fits: typeFits(property.view, asked.value),
      missing: property.required,
    }))
  return nearestName(asked.wrong, candidates)?.name
}

const WRAPPERS = new Set([
  'params',
  'parameters',
  'arguments',
  'args',
  'input',
  'inputs',
  'data',
  'body',
  'payload',
  'request',
  'kwargs',
  'options',
  'properties',
])

/** `{"params": {…}}`: the key that holds what should have been the arguments themselves. */
export function wrapperKey(raw: unknown, view: SchemaView): string | undefined {
  if (!isRecord(raw) || !view.properties) return undefined
  const keys = Object.keys(raw)
  const [key] = keys
  if (keys.length !== 1 || key === undefined || view.properties.has(key)) return undefined
  const held = raw[key]
  const inner = typeof held === 'string' && held.length < MAX_PARSED_LENGTH ? parse(held) : held
  if (!isRecord(inner)) return undefined
  const innerKeys = Object.keys(inner)
  const real = innerKeys.filter((name) => view.properties?.has(name)).length
  const wrapped = real > 0 || (WRAPPERS.has(key.toLowerCase()) && innerKeys.length > 0)
  return wrapped ? key : undefined
}
