import { redactText } from '../call-log/redact.ts'
import { EVERY_ITEM, formatKey, formatPath } from './argument-path.ts'
import { isRecord } from './mcp-shapes.ts'
import type { OpenCall } from './open-call.ts'
import { type SchemaView, viewOf } from './schema-view.ts'

const MAX_DROPPED = 20
const MAX_DEPTH = 6

/**
 * Argument keys that the tool's schema does not have and would strip in silence, as paths. Runs on
 * every call; costs one look-up a key, and goes deeper only where the schema describes objects.
 */
export function droppedArguments(call: OpenCall): string[] | undefined {
  const tool = call.context.catalogue.find(call.tool)
  const raw = call.init.arguments
  if (!tool || !isRecord(raw)) return undefined
  const dropped: string[] = []
  // Without a schema the SDK hands the tool no arguments at all.
  if (tool.inputSchema === undefined) dropped.push(...Object.keys(raw).map(formatKey))
  else collect(viewOf(tool.inputSchema), raw, [], dropped)
  if (dropped.length === 0) return undefined
  return dropped.slice(0, MAX_DROPPED).map((path) => redactText(path))
}

function addOnce(list: string[], entry: string): void {
  if (!list.includes(entry)) list.push(entry)
}

function collect(
  view: SchemaView | undefined,
  value: unknown,
  path: readonly PropertyKey[],
  dropped: string[],
): void {
  if (!view || path.length > MAX_DEPTH || dropped.length >= MAX_DROPPED) return
  if (Array.isArray(value)) {
    if (!view.items?.properties) return
    for (const item of value) collect(view.items, item, [...path, EVERY_ITEM], dropped)
    return
  }
  const { properties, unknownKeys } = view
  if (!properties || !isRecord(value)) return
  for (const key of Object.keys(value)) {
    const property = properties.get(key)
    const entry = value[key]
    if (property && typeof entry !== 'object') continue
    if (property) collect(property.view, entry, [...path, key], dropped)
    else if (unknownKeys === 'strip') addOnce(dropped, formatPath([...path, key]))
  }
}
