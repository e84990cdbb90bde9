import { isRecord } from './mcp-shapes.ts'
import type { PropertyView, SchemaView } from './schema-view.ts'

const MAX_DEPTH = 12

/** Schemas of zod 3 and zod 4 (classic and mini) describe themselves; zod is not imported. */
export function isZodSchema(schema: object): boolean {
  return '_zod' in schema || ('_def' in schema && 'safeParse' in schema)
}

export function viewOfZod(schema: unknown, depth = 0): SchemaView {
  const def = defOf(schema)
  if (!def || depth > MAX_DEPTH) return { types: [] }
  const inner = (part: unknown) => viewOfZod(part, depth + 1)
  switch (kindOf(def)) {
    case 'string':
      return { types: ['string'], ...stringLimits(def) }
    case 'number':
    case 'int':
      return numberView(def)
    case 'boolean':
    case 'null':
      return def.coerce === true ? { types: [] } : { types: [kindOf(def) as 'boolean' | 'null'] }
    case 'literal':
      return { types: [], values: Array.isArray(def.values) ? def.values : [def.value] }
    case 'enum':
    case 'nativeenum':
      return { types: [], values: enumValues(def) }
    case 'array':
      return {
        types: ['array'],
        items: inner(def.element ?? def.type),
        ...lengthLimits(def),
      }
    case 'set':
    case 'tuple':
      return { types: ['array'] }
    case 'object':
      return objectView(def, inner)
    case 'record':
    case 'map':
      return { types: ['object'] }
    case 'union':
    case 'discriminatedunion':
      return { types: [], anyOf: optionsOf(def).map(inner) }
    case 'nullable':
      return nullableView(inner(def.innerType))
    case 'intersection':
      return intersectionView(inner(def.left), inner(def.right))
    default:
      return unwrapped(def, inner)
  }
}

function unwrapped(def: Record<string, unknown>, inner: (part: unknown) => SchemaView): SchemaView {
  switch (kindOf(def)) {
    case 'optional':
    case 'default':
    case 'prefault':
    case 'readonly':
    case 'nonoptional':
    case 'branded':
      return inner(def.innerType ?? def.type)
    case 'catch':
      // Whatever fails is replaced: nothing is asked of the caller.
      return { types: [] }
    case 'effects':
      // A preprocess step may accept anything; a refinement or transform follows its schema.
      return isRecord(def.effect) && def.effect.type === 'preprocess'
        ? { types: [] }
        : inner(def.schema)
    case 'pipe':
    case 'pipeline':
      return inner(def.in)
    case 'lazy':
      return typeof def.getter === 'function' ? inner(def.getter()) : { types: [] }
    default:
      return { types: [] }
  }
}

function defOf(schema: unknown): Record<string, unknown> | undefined {
  if (!isRecord(schema)) return undefined
  const def = isRecord(schema._zod) ? schema._zod.def : schema._def
  return isRecord(def) ? def : undefined
}

/** zod 4 says `string`, zod 3 `ZodString`. */
function kindOf(def: Record<string, unknown>): string {
  if (typeof def.typeName === 'string') return def.typeName.replace(/^Zod/, '').toLowerCase()
  return typeof def.type === 'string' ? def.type : ''
}

/** The checks of a schema as zod 4 has them; the schema itself can be one, such as `z.email()`. */
function zod4Checks(def: Record<string, unknown>): Record<string, unknown>[] {
  const checks = checksOf(def)
    .map((check) => defOf(check))
    .filter((check) => check !== undefined)
  return def.check === undefined ? checks : [def, ...checks]
}

function checksOf(def: Record<string, unknown>): Record<string, unknown>[] {
  return Array.isArray(def.checks) ? def.checks.filter(isRecord) : []
}

/** Checks that change the text, or are told by another field of the view. */
const NO_FORMATS = new Set(
  (
    'regex trim toLowerCase toUpperCase min max length startsWith endsWith includes ' +
    'starts_with ends_with lowercase uppercase'
  ).split(' '),
)

function stringLimits(def: Record<string, unknown>): Partial<SchemaView> {
  if (def.coerce === true) return { types: [] }
  const limits = lengthLimits(def)
  for (const { kind, value, regex } of checksOf(def)) {
    const length = typeof value === 'number' ? value : undefined
    if (length !== undefined && (kind === 'min' || kind === 'length')) limits.minLength = length
    if (length !== undefined && (kind === 'max' || kind === 'length')) limits.maxLength = length
    if (regex instanceof RegExp) limits.pattern = regex
    Object.assign(limits, formatFrom(kind))
  }
  return limits
}

/** Of strings in zod 4, of arrays in both. */
function lengthLimits(def: Record<string, unknown>): Partial<SchemaView> {
  const limits: Partial<SchemaView> = {}
  for (const { minimum, maximum, length, format, pattern } of zod4Checks(def)) {
    const low = length ?? minimum
    const high = length ?? maximum
    if (typeof low === 'number') limits.minLength = low
    if (typeof high === 'number') limits.maxLength = high
    if (pattern instanceof RegExp) limits.pattern = pattern
    Object.assign(limits, formatFrom(format))
  }
  for (const [bound, key] of [
    [def.minLength ?? def.exactLength, 'minLength'],
    [def.maxLength ?? def.exactLength, 'maxLength'],
  ] as const) {
    if (isRecord(bound) && typeof bound.value === 'number') limits[key] = bound.value
  }
  return limits
}

function formatFrom(format: unknown): Partial<SchemaView> {
  if (typeof format !== 'string' || NO_FORMATS.has(format)) return {}
  return { format: format === 'datetime' ? 'date-time' : format }
}

function numberView(def: Record<string, unknown>): SchemaView {
  if (def.coerce === true) return { types: [] }
  const view: SchemaView = { types: ['number'] }
  for (const { check, format, value, inclusive } of zod4Checks(def)) {
    if (check === 'number_format' && /int/.test(String(format))) view.types = ['integer']
    if (!isLimit(value)) continue
    const bound = { value, exclusive: inclusive === false }
    if (check === 'greater_than') view.minimum = bound
    if (check === 'less_than') view.maximum = bound
    if (check === 'multiple_of') view.multipleOf = value
  }
  for (const { kind, value, inclusive } of checksOf(def)) {
    if (kind === 'int') view.types = ['integer']
    if (!isLimit(value)) continue
    const bound = { value, exclusive: inclusive === false }
    if (kind === 'min') view.minimum = bound
    if (kind === 'max') view.maximum = bound
    if (kind === 'multipleOf') view.multipleOf = value
  }
  return view
}

/** The bounds of all safe integers say nothing that `integer` does not. */
function isLimit(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER
}

function enumValues(def: Record<string, unknown>): unknown[] {
  if (Array.isArray(def.values)) return def.values
  const entries = isRecord(def.entries) ? def.entries : isRecord(def.values) ? def.values : {}
  // A numeric TypeScript enum also maps its numbers back to their names.
  const numbers = new Set(Object.values(entries).filter((value) => typeof value === 'number'))
  return Object.entries(entries)
    .filter(([name]) => !numbers.has(Number(name)))
    .map(([, value]) => value)
}

function optionsOf(def: Record<string, unknown>): unknown[] {
  if (def.options instanceof Map) return [...def.options.values()]
  return Array.isArray(def.options) ? def.options : []
}

function objectView(
  def: Record<string, unknown>,
  inner: (part: unknown) => SchemaView,
): SchemaView {
  const shape = typeof def.shape === 'function' ? def.shape() : def.shape
  const properties = new Map<string, PropertyView>()
  for (const [name, field] of Object.entries(isRecord(shape) ? shape : {})) {
    properties.set(name, { view: inner(field), required: !isOptional(field) })
  }
  return { types: ['object'], properties, unknownKeys: unknownKeysOf(def) }
}

function unknownKeysOf(def: Record<string, unknown>): 'strip' | 'keep' | 'refuse' {
  if (def.unknownKeys === 'passthrough') return 'keep'
  if (def.unknownKeys === 'strict') return 'refuse'
  const rest = defOf(def.catchall)
  if (!rest) return 'strip'
  // zod 3 gives every object a catch-all of `never`, which then means nothing.
  if (kindOf(rest) === 'never') return def.unknownKeys === undefined ? 'refuse' : 'strip'
  return 'keep'
}

function isOptional(field: unknown): boolean {
  // 'optional', or 'defaulted'.
  if (isRecord(field) && isRecord(field._zod)) return field._zod.optin !== undefined
  const def = defOf(field)
  if (!def) return false
  const kind = kindOf(def)
  if (kind === 'optional' || kind === 'default' || kind === 'catch') return true
  if (kind === 'effects') return isOptional(def.schema)
  return ['nullable', 'readonly', 'branded'].includes(kind) && isOptional(def.innerType ?? def.type)
}

function nullableView(view: SchemaView): SchemaView {
  if (view.types.length > 0 && !view.values) return { ...view, types: [...view.types, 'null'] }
  return view.values || view.anyOf ? { types: [], anyOf: [view, { types: ['null'] }] } : view
}

function intersectionView(left: SchemaView, right: SchemaView): SchemaView {
  if (!left.properties || !right.properties) return { types: left.types }
  const properties = new Map([...left.properties, ...right.properties])
  return { types: ['object'], properties, unknownKeys: 'keep' }
}
