import type { ArgumentIssue } from '../call-log/record.ts'
import { nearestParameter } from './argument-hints.ts'
import { formatKey } from './argument-path.ts'
import { argumentNames, fitted } from './argument-sentences.ts'
import type { Explanation } from './explain-arguments.ts'
import { isRecord } from './mcp-shapes.ts'
import type { OpenCall } from './open-call.ts'
import { ANYTHING, type SchemaView, viewOf } from './schema-view.ts'

const DUMMY_NAME = /^(?:random_string|dummy\w*|_\w*|placeholder|unused|none|noop|no_?args)$/i

/**
 * For a call whose only fault is names that the schema does not have: `ignored`, as it has run all
 * the same, or `refused`.
 */
export function explainUnknownArguments(
  call: OpenCall,
  dropped: readonly string[],
  fate: 'ignored' | 'refused',
): Explanation & { worthTelling: boolean } {
  const tool = call.context.catalogue.find(call.tool)
  const view = (tool && viewOf(tool.inputSchema)) ?? ANYTHING
  const raw = call.init.arguments
  const issues = dropped.map((path): ArgumentIssue => {
    const suggest = path.includes('.') ? undefined : suggestionFor(path, raw, view)
    return { path, code: 'unknown_key', ...(suggest === undefined ? {} : { suggest }) }
  })
  const sentences = issues.map(({ path, suggest }) =>
    suggest === undefined ? `\`${path}\`` : `\`${path}\` (did you mean \`${suggest}\`?)`,
  )
  const names = issues.every(({ suggest }) => suggest) ? [] : [argumentNames(view)]
  const quoted = `"${formatKey(call.tool)}"`
  // A low-level handler is given all that was sent; what it does with it nobody knows.
  const ignored = tool?.source === 'listed' ? 'may have ignored' : 'ignored'
  const which = issues.length === 1 ? 'this argument' : 'these arguments'
  const start =
    fate === 'refused'
      ? `Invalid arguments for ${quoted}: it does not have ${which}:`
      : `${quoted} ${ignored} ${which}, which it does not have:`
  return {
    text: fitted(start, [...sentences, ...names.filter((text) => text !== '')]),
    issues,
    // Many clients send a dummy argument to a tool that takes none; telling them is only noise.
    worthTelling: (view.properties?.size ?? 0) > 0 || !dropped.every((path) => isDummy(path, raw)),
  }
}

function isDummy(path: string, raw: unknown): boolean {
  const value = isRecord(raw) ? raw[path] : undefined
  if (value === '' || value === null) return true
  if (isRecord(value) && Object.keys(value).length === 0) return true
  return DUMMY_NAME.test(path)
}

function suggestionFor(path: string, raw: unknown, view: SchemaView): string | undefined {
  const value = isRecord(raw) ? raw[path] : undefined
  return nearestParameter({ wrong: path, value, siblings: raw, view })
}
