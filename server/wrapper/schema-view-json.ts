import { isRecord } from './mcp-shapes.ts'
import type { Bound, JsonType, PropertyView, SchemaView } from './schema-view.ts'

const MAX_DEPTH = 12
const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'null', 'array', 'object'])

/** From a JSON Schema of any draft. `format` is a word for people; it is not enforced. */
export function viewOfJsonSchema(schema: unknown): SchemaView {
  return convert(schema, schema, 0)
}

function convert(given: unknown, root: unknown, depth: number): SchemaView {
  const schema = resolve(given, root)
  if (!isRecord(schema) || depth > MAX_DEPTH) return { types: [] }
  const options = [schema.anyOf, schema.oneOf].find(Array.isArray)
  const view: SchemaView = { types: typesOf(schema) }
  if (options) view.anyOf = options.map((option) => convert(option, root, depth + 1))
  if (Array.isArray(schema.enum)) view.values = schema.enum
  else if (schema.const !== undefined) view.values = [schema.const]
  if (typeof schema.format === 'string') view.format = schema.format
  addBounds(view, schema)
  if (isRecord(schema.items)) view.items = convert(schema.items, root, depth + 1)
  addProperties(view, schema, root, depth)
  return merged(view, schema.allOf, root, depth)
}

/** Only references inside the same document. */
function resolve(schema: unknown, root: unknown): unknown {
  let current = schema
  for (let hops = 0; hops < MAX_DEPTH && isRecord(current); hops += 1) {
    const reference = current.$ref
    if (typeof reference !== 'string') return current
    if (!reference.startsWith('#')) return undefined
    current = reference
      .slice(1)
      .split('/')
      .filter((part) => part !== '')
      .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<unknown>((at, part) => (isRecord(at) ? at[part] : undefined), root)
  }
  return isRecord(current) && current.$ref === undefined ? current : undefined
}

function typesOf({ type, nullable }: Record<string, unknown>): JsonType[] {
  const list = Array.isArray(type) ? type : [type]
  const types = list.filter((entry): entry is JsonType => TYPES.has(entry as string))
  // OpenAPI's way to say it, which many schemas still use.
  return nullable === true && types.length > 0 ? [...types, 'null'] : types
}

function addBounds(view: SchemaView, schema: Record<string, unknown>): void {
  const minimum = boundOf(schema.minimum, schema.exclusiveMinimum)
  const maximum = boundOf(schema.maximum, schema.exclusiveMaximum)
  if (minimum) view.minimum = minimum
  if (maximum) view.maximum = maximum
  if (typeof schema.multipleOf === 'number' && schema.multipleOf > 0) {
    view.multipleOf = schema.multipleOf
  }
  const minLength = schema.minLength ?? schema.minItems
  const maxLength = schema.maxLength ?? schema.maxItems
  if (typeof minLength === 'number') view.minLength = minLength
  if (typeof maxLength === 'number') view.maxLength = maxLength
  const pattern = typeof schema.pattern === 'string' ? compilePattern(schema.pattern) : undefined
  if (pattern) view.pattern = pattern
}

/** Draft 4 wrote `exclusiveMinimum: true` beside the bound; later drafts a bound of its own. */
function boundOf(inclusive: unknown, exclusive: unknown): Bound | undefined {
  if (typeof exclusive === 'number') return { value: exclusive, exclusive: true }
  if (typeof inclusive === 'number') return { value: inclusive, exclusive: exclusive === true }
  return undefined
}

function compilePattern(source: string): RegExp | undefined {
  try {
    return new RegExp(source, 'u')
  } catch {
    // Another dialect's pattern: the tool has to check it by itself.
    return undefined
  }
}

function addProperties(
  view: SchemaView,
  schema: Record<string, unknown>,
  root: unknown,
  depth: number,
): void {
  const required = new Set(Array.isArray(schema.required) ? schema.required.map(String) : [])
  if (!isRecord(schema.properties) && required.size === 0) return
  const properties = new Map<string, PropertyView>()
  for (const [name, property] of Object.entries(
    isRecord(schema.properties) ? schema.properties : {},
  )) {
    const own = convert(property, root, depth + 1)
    properties.set(name, { view: own, required: required.has(name) })
  }
  for (const name of required) {
    if (!properties.has(name)) properties.set(name, { view: { types: [] }, required: true })
  }
  view.properties = properties
  view.unknownKeys = unknownKeysOf(schema)
}

/** Under these a schema may name properties that it does not list. */
const MORE_PROPERTIES = ['anyOf', 'oneOf', 'if', 'dependentSchemas', 'dependencies']

/** Without a word on further properties, what they do is up to the tool: most ignore them. */
function unknownKeysOf(schema: Record<string, unknown>): 'strip' | 'keep' | 'refuse' {
  if (isRecord(schema.patternProperties)) return 'keep'
  if (schema.additionalProperties === false) return 'refuse'
  if (MORE_PROPERTIES.some((keyword) => schema[keyword] !== undefined)) return 'keep'
  return schema.additionalProperties === undefined ? 'strip' : 'keep'
}

/** Of `allOf` only properties are taken over; everything else in it is left to the tool. */
function merged(view: SchemaView, allOf: unknown, root: unknown, depth: number): SchemaView {
  if (!Array.isArray(allOf)) return view
  for (const part of allOf.map((each) => convert(each, root, depth + 1))) {
    if (view.types.length === 0) view.types = part.types
    if (!part.properties) continue
    view.properties = new Map([...(view.properties ?? []), ...part.properties])
    view.unknownKeys = 'keep'
  }
  return view
}
