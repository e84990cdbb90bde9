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
  if (problem.code === 'not_in_enum') return choiceHint(problem, value)
  const mistyped = problem.code === 'wrong_type' || problem.code === 'union_no_match'
  if (!mistyped) return {}
  const wanted = wantedTypes(problem, root)
  if (value === null) return nullHint(problem, root)
  if (typeof value !== 'string') return {}
  return stringHint(value, wanted)
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
  if (wanted.has('array') || wanted.has('object')) return jsonTextHint(text, wanted)
  const trimmed = text.trim()
  if (wanted.has('number') || wanted.has('integer')) {
    const whole = /^-?\d+$/.test(trimmed)
    const fits = whole || (wanted.has('number') && /^-?\d*\.?\d+(?:[eE][+-]?\d+)?$/.test(trimmed))
    if (fits)
      return {
        subtype: 'stringified_number',
        advice: `send ${shortNumber(trimmed)} without quotes`,
      }
  }
  if (wanted.has('boolean') && /^(?:true|false)$/i.test(trimmed)) {
    return {
      subtype: 'stringified_boolean',
      advice: `send ${trimmed.toLowerCase()} without quotes`,
    }
  }
  return {}
}

function shortNumber(text: string): string {
  return text.length <= 30 ? text : 'the number'
}

function jsonTextHint(text: string, wanted: Set<string>): Hint {
  const container = wanted.has('array') ? 'array' : 'object'
  if (text.trim() === '') {
    return { advice: `send ${container === 'array' ? '[]' : '{}'} or leave it out` }
  }
  if (!/^\s*[[{]/.test(text) || text.length > MAX_PARSED_LENGTH) return {}
  const parsed = parse(text)
  if (parsed === undefined) return { code: 'malformed_json' }
  const type: JsonType = Array.isArray(parsed) ? 'array' : 'object'
  if (!wanted.has(type)) return {}
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

function choiceHint(problem: ArgumentProblem, value: unknown): Hint {
  if (typeof value !== 'string') return {}
  const words = (problem.values ?? []).filter((word) => typeof word === 'string')
  const sameWord = words.find((word) => word.toLowerCase() === value.trim().toLowerCase())
  if (sameWord !== undefined) {
    return {
      subtype: 'case_mismatch',
      suggest: sameWord,
      advice: `send ${JSON.stringify(sameWord)}`,
    }
  }
  const nearest = nearestName(
    value,
    words.map((name) => ({ name })),
  )
  if (!nearest) return {}
  return { suggest: nearest.name, advice: `did you mean ${JSON.stringify(nearest.name)}?` }
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
