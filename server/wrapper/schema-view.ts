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

/** The view of what stands at a path; through unions, the first alternative that has it. */
export function viewAt(view: SchemaView, path: readonly PropertyKey[]): SchemaView | undefined {
  const [key, ...rest] = path
  if (key === undefined) return view
  const next = typeof key === 'number' ? view.items : view.properties?.get(String(key))?.view
  if (next) return viewAt(next, rest)
  for (const option of view.anyOf ?? []) {
    const found = viewAt(option, path)
    if (found) return found
  }
  return undefined
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

const MAX_VALUES_IN_WORDS = 12

/** In words: `integer from 1 to 50`, `one of "ASC", "DESC"`, `string (date-time)`. */
export function describeView(view: SchemaView): string {
  if (view.values) return describeValues(view.values)
  if (view.anyOf) return [...new Set(alternatives(view).map(describeView))].join(' or ')
  if (view.types.length === 0) return 'any value'
  const named = view.types.map((type) => (type === 'array' ? describeArray(view) : type))
  const format = view.format ? ` (${view.format})` : ''
  return `${named.join(' or ')}${format}${describeBounds(view)}`
}

/** Unions inside of unions are one union to whoever has to choose. */
function alternatives(view: SchemaView): SchemaView[] {
  return view.anyOf ? view.anyOf.flatMap(alternatives) : [view]
}

export function describeValues(values: readonly unknown[]): string {
  const shown = values
    .slice(0, MAX_VALUES_IN_WORDS)
    .map((value) => JSON.stringify(value) ?? 'undefined')
  const rest = values.length - shown.length
  const list = rest > 0 ? `${shown.join(', ')} and ${rest} more` : shown.join(', ')
  return values.length === 1 ? list : `one of ${list}`
}

function describeArray(view: SchemaView): string {
  const item = view.items
  const simple = item && !item.anyOf && !item.values && item.types.length === 1
  return simple ? `array of ${item.types[0]}s` : 'array'
}

function describeBounds({ types, minimum, maximum, minLength, maxLength }: SchemaView): string {
  const unit = types.includes('array') ? 'items' : 'characters'
  if (minimum && maximum && !minimum.exclusive && !maximum.exclusive) {
    return ` from ${minimum.value} to ${maximum.value}`
  }
  if (minimum) return ` ${minimum.exclusive ? 'above' : 'of at least'} ${minimum.value}`
  if (maximum) return ` ${maximum.exclusive ? 'below' : 'of at most'} ${maximum.value}`
  if (minLength !== undefined && maxLength !== undefined) {
    return ` of ${minLength} to ${maxLength} ${unit}`
  }
  if (minLength !== undefined) return ` of at least ${minLength} ${unit}`
  if (maxLength !== undefined) return ` of at most ${maxLength} ${unit}`
  return ''
}
