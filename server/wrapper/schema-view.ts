import { cutText } from '../call-log/limits.ts'
import { isRecord } from './mcp-shapes.ts'
import { viewOfJsonSchema } from './schema-view-json.ts'
import { isZodSchema, viewOfZod } from './schema-view-zod.ts'

export type JsonType = 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'array' | 'object'

/**
 * What a schema asks for, whoever wrote it: zod 3, zod 4, Standard Schema or JSON Schema. It serves
 * words, suggestions and, for JSON Schema, the check itself. It may ask for less than the schema
 * does, never for more: what it does not understand it lets pass.
 */
export type SchemaView = {
  /** Empty: anything. */
  types: JsonType[]
  values?: unknown[]
  format?: string
  /** Shown where there is no format; enforced where the schema is a JSON Schema. */
  pattern?: RegExp
  minimum?: Bound
  maximum?: Bound
  multipleOf?: number
  /** Characters of a string, items of an array. */
  minLength?: number
  maxLength?: number
  items?: SchemaView
  properties?: Map<string, PropertyView>
  /** What becomes of keys that are not in `properties`. */
  unknownKeys?: 'strip' | 'keep' | 'refuse'
  anyOf?: SchemaView[]
}

export type Bound = { value: number; exclusive: boolean }
export type PropertyView = { view: SchemaView; required: boolean }

export const ANYTHING: SchemaView = { types: [] }

const cache = new WeakMap<object, SchemaView>()

/** Compiled once for each schema object; undefined where nothing is known. */
export function viewOf(schema: unknown): SchemaView | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined
  const known = cache.get(schema)
  if (known) return known
  const view = compile(schema)
  cache.set(schema, view)
  return view
}

function compile(schema: object): SchemaView {
  if (isZodSchema(schema)) return viewOfZod(schema)
  const standard = (schema as Record<string, unknown>)['~standard']
  if (!isRecord(standard)) return viewOfJsonSchema(schema)
  const converter = isRecord(standard.jsonSchema) ? standard.jsonSchema.input : undefined
  if (typeof converter !== 'function') return ANYTHING
  try {
    return viewOfJsonSchema(converter.call(standard.jsonSchema, { target: 'draft-2020-12' }))
  } catch {
    // A schema that has no JSON form is checked by its own validator alone.
    return ANYTHING
  }
}

/** The view of what stands at a path; of alternatives that all have it, their union. */
export function viewAt(view: SchemaView, path: readonly PropertyKey[]): SchemaView | undefined {
  const found = viewsAt(view, path)
  if (found.length < 2) return found[0]
  if (!found.every(({ values }) => values)) return { types: [], anyOf: found }
  return { types: [], values: [...new Set(found.flatMap(({ values }) => values ?? []))] }
}

/** More than one where the path leads through a union. */
export function viewsAt(view: SchemaView, path: readonly PropertyKey[]): SchemaView[] {
  const [key, ...rest] = path
  if (key === undefined) return [view]
  const next = typeof key === 'number' ? view.items : view.properties?.get(String(key))?.view
  if (next) return viewsAt(next, rest)
  return (view.anyOf ?? []).flatMap((option) => viewsAt(option, path))
}

export function jsonTypeOf(value: unknown): JsonType | undefined {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'number':
    case 'object':
      return typeof value as JsonType
    default:
      return undefined
  }
}

/** Whether a value could be meant for this view, by type alone. */
export function typeFits(view: SchemaView, value: unknown): boolean {
  if (view.anyOf) return view.anyOf.some((option) => typeFits(option, value))
  const type = jsonTypeOf(value)
  if (view.types.length === 0) return true
  return view.types.some(
    (wanted) => wanted === type || (wanted === 'integer' && Number.isInteger(value)),
  )
}

/** Longer lists of choices are cut with a count. */
const MAX_CHOICES_LENGTH = 160
const MAX_CHOICE_LENGTH = 60
const MAX_PATTERN_LENGTH = 60

/** In words: `integer from 1 to 50`, `one of "ASC", "DESC"`, `string (date-time)`. */
export function describeView(view: SchemaView): string {
  if (view.values) return describeValues(view.values)
  if (view.anyOf) return fewOf([...new Set(alternatives(view).map(describeView))], ' or ')
  if (view.types.length === 0) return 'any value'
  const named = view.types.map((type) => (type === 'array' ? describeArray(view) : type))
  return `${named.join(' or ')}${describeFormat(view)}${describeBounds(view)}`
}

/** Unions inside of unions are one union to whoever has to choose. */
function alternatives(view: SchemaView): SchemaView[] {
  return view.anyOf ? view.anyOf.flatMap(alternatives) : [view]
}

export function describeValues(values: readonly unknown[]): string {
  const list = fewOf(values.map(describeValue), ', ')
  return values.length === 1 ? list : `one of ${list}`
}

function describeValue(value: unknown): string {
  const short = typeof value === 'string' ? cutText(value, MAX_CHOICE_LENGTH) : value
  return JSON.stringify(short) ?? String(value)
}

/** As many as are short together, at least one; the rest is counted. */
function fewOf(parts: readonly string[], separator: string): string {
  let text = ''
  for (const [index, part] of parts.entries()) {
    const longer = index === 0 ? part : `${text}${separator}${part}`
    if (index > 0 && longer.length > MAX_CHOICES_LENGTH) {
      return `${text} and ${parts.length - index} more`
    }
    text = longer
  }
  return text
}

function describeArray({ items }: SchemaView): string {
  if (!items || items.anyOf) return 'array'
  if (items.values) return `array of ${describeValues(items.values)}`
  return items.types.length === 1 ? `array of ${items.types[0]}s` : 'array'
}

function describeFormat({ format, pattern }: SchemaView): string {
  if (format) return ` (${format})`
  return pattern && pattern.source.length <= MAX_PATTERN_LENGTH ? ` matching ${pattern.source}` : ''
}

/** Whether `describeView` says more of it than its type. */
export function hasBounds({ minimum, maximum, minLength, maxLength, multipleOf }: SchemaView) {
  return [minimum, maximum, minLength, maxLength, multipleOf].some((bound) => bound !== undefined)
}

function describeBounds(view: SchemaView): string {
  const { types, minLength, maxLength, multipleOf } = view
  const unit = types.includes('array') ? 'items' : 'characters'
  const steps = multipleOf === undefined ? '' : `, a multiple of ${multipleOf}`
  return `${describeRange(view)}${describeLength(minLength, maxLength, unit)}${steps}`
}

function describeRange({ minimum, maximum }: SchemaView): string {
  if (minimum && maximum && !minimum.exclusive && !maximum.exclusive) {
    return ` from ${minimum.value} to ${maximum.value}`
  }
  const low = minimum && ` ${minimum.exclusive ? 'above' : 'of at least'} ${minimum.value}`
  const high = maximum && ` ${maximum.exclusive ? 'below' : 'of at most'} ${maximum.value}`
  return low && high ? `${low} and${high}` : (low ?? high ?? '')
}

function describeLength(low: number | undefined, high: number | undefined, unit: string): string {
  if (low === undefined && high === undefined) return ''
  if (low === high) return ` of exactly ${low} ${unit}`
  if (low === undefined) return ` of at most ${high} ${unit}`
  return high === undefined ? ` of at least ${low} ${unit}` : ` of ${low} to ${high} ${unit}`
}
