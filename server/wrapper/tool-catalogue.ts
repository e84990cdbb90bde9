import { createHash } from 'node:crypto'
import { isRecord } from './mcp-shapes.ts'
import { viewOf } from './schema-view.ts'

/** What the wrapper knows of one tool. Schemas are kept as given: zod 3 or 4, Standard, or JSON. */
export type ToolFacts = {
  name: string
  enabled: boolean
  /** The handler is in a guard, so that what it threw and returned is known. */
  guarded: boolean
  inputSchema: unknown
  outputSchema: unknown
  annotations: { readOnly: boolean; idempotent: boolean }
  /** It answers with a task only. */
  needsTask: boolean
  /** `registered`: the SDK checks and strips arguments; `listed`: only the published schema is known. */
  source: 'registered' | 'listed'
}

export type ToolCatalogue = {
  find(name: string): ToolFacts | undefined
  names(): string[]
  /** Takes the SDK's own object for a tool: its fields are read when needed, so they stay current. */
  register(name: string, live: Record<string, unknown>): void
  rename(from: string, to: string | undefined): void
  /** Learns from the answer to a `tools/list`; registered tools keep their own facts. */
  learn(listResult: unknown): void
  /** The list has changed: what was learnt from it may be wrong. */
  forgetList(): void
  /** Each known tool with a hash of its input schema, to tell versions of a server apart. */
  fingerprints(): { name: string; schema_hash: string }[]
  /** Whether a whole list has been learnt: only then is a missing name an unknown tool. */
  listed: boolean
}

export function createToolCatalogue(): ToolCatalogue {
  const registered = new Map<string, Record<string, unknown>>()
  const listed = new Map<string, ToolFacts>()
  return {
    listed: false,
    find(name) {
      const live = registered.get(name)
      return live ? factsOf(name, live) : listed.get(name)
    },
    names() {
      return [...new Set([...registered.keys(), ...listed.keys()])]
    },
    forgetList() {
      listed.clear()
      this.listed = false
    },
    fingerprints() {
      return this.names().map((name) => ({
        name,
        schema_hash: schemaHash(this.find(name)?.inputSchema),
      }))
    },
    register(name, live) {
      registered.set(name, live)
    },
    rename(from, to) {
      const live = registered.get(from)
      registered.delete(from)
      listed.delete(from)
      if (live && to !== undefined) registered.set(to, live)
    },
    learn(result) {
      if (!isRecord(result) || !Array.isArray(result.tools)) return
      for (const tool of result.tools) {
        if (isRecord(tool) && typeof tool.name === 'string') {
          listed.set(tool.name, listedFacts(tool.name, tool))
        }
      }
      if (result.nextCursor === undefined) this.listed = true
    },
  }
}

function factsOf(name: string, live: Record<string, unknown>): ToolFacts {
  return {
    name,
    enabled: live.enabled !== false,
    guarded: true,
    inputSchema: live.inputSchema,
    outputSchema: live.outputSchema,
    annotations: annotationsOf(live.annotations),
    needsTask: needsTask(live.execution),
    source: 'registered',
  }
}

function listedFacts(name: string, tool: Record<string, unknown>): ToolFacts {
  return {
    name,
    enabled: true,
    guarded: false,
    inputSchema: tool.inputSchema,
    outputSchema: tool.outputSchema,
    annotations: annotationsOf(tool.annotations),
    needsTask: needsTask(tool.execution),
    source: 'listed',
  }
}

function annotationsOf(annotations: unknown): ToolFacts['annotations'] {
  const given = isRecord(annotations) ? annotations : {}
  return { readOnly: given.readOnlyHint === true, idempotent: given.idempotentHint === true }
}

function needsTask(execution: unknown): boolean {
  return isRecord(execution) && execution.taskSupport === 'required'
}

/** Of what the schema asks for, not of how it is written: zod and JSON Schema may agree. */
function schemaHash(schema: unknown): string {
  const text = JSON.stringify(viewOf(schema) ?? null, (_key, value: unknown) => {
    if (value instanceof Map) return [...value].sort(([a], [b]) => (a < b ? -1 : 1))
    return value instanceof RegExp ? value.source : value
  })
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
