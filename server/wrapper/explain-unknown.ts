import type { ArgumentIssue } from '../call-log/record.ts'
import { redactText } from '../call-log/redact.ts'
import { nearestParameter, wrapperKey } from './argument-hints.ts'
import { formatKey, valueAt } from './argument-path.ts'
import { argumentNames, fitted } from './argument-sentences.ts'
import { type Explanation, wrappedExplanation, wrappedIssue } from './explain-arguments.ts'
import { isRecord } from './mcp-shapes.ts'
import type { OpenCall } from './open-call.ts'
import { ANYTHING, type SchemaView, viewAt, viewOf } from './schema-view.ts'

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
  // Many clients send a dummy argument to a tool that takes none; telling them is only noise.
  const worthTelling =
    (view.properties?.size ?? 0) > 0 || !dropped.every((path) => isDummy(path, raw))
  const wrapper = wrapperKey(raw, view)
  if (wrapper !== undefined && fate === 'refused') {
    return { ...wrappedExplanation(call.tool, wrapper), worthTelling }
  }
  const quoted = `"${formatKey(call.tool)}"`
  // A low-level handler is given all that was sent; what it does with it nobody knows.
  const ignored = tool?.source === 'listed' ? 'may have ignored' : 'ignored'
  if (wrapper !== undefined) {
    const path = formatKey(redactText(wrapper))
    const text = `${quoted} ${ignored} all arguments: they are wrapped in \`${path}\`. Send its fields directly.`
    return { text, issues: [wrappedIssue(path)], worthTelling }
  }
  const issues = dropped.map((path) => issueOf(path, raw, view))
  const which = issues.length === 1 ? 'this argument' : 'these arguments'
  const start =
    fate === 'refused'
      ? `Invalid arguments for ${quoted}: it does not have ${which}:`
      : `${quoted} ${ignored} ${which}, which it does not have:`
  return { text: fitted(start, sentencesOf(issues, view)), issues, worthTelling }
}

function sentencesOf(issues: readonly ArgumentIssue[], view: SchemaView): string[] {
  const sentences = issues.map(({ path, suggest }) =>
    suggest === undefined ? `\`${path}\`` : `\`${path}\` (did you mean \`${suggest}\`?)`,
  )
  const names = issues.every(({ suggest }) => suggest) ? '' : argumentNames(view)
  return names === '' ? sentences : [...sentences, names]
}

function issueOf(path: string, raw: unknown, root: SchemaView): ArgumentIssue {
  const steps = stepsOf(path)
  const parent = steps.slice(0, -1)
  const suggest = nearestParameter({
    wrong: String(steps.at(-1)),
    value: valueAt(raw, steps),
    siblings: valueAt(raw, parent),
    view: viewAt(root, parent),
  })
  return { path, code: 'unknown_key', ...(suggest === undefined ? {} : { suggest }) }
}

/** Of `rows[*].id`, the first row's. A key with a dot in it is not found again: no suggestion. */
function stepsOf(path: string): PropertyKey[] {
  return path
    .replaceAll('[*]', '.[*]')
    .split('.')
    .map((step) => (step === '[*]' ? 0 : step))
}

function isDummy(path: string, raw: unknown): boolean {
  const value = isRecord(raw) ? raw[path] : undefined
  if (value === '' || value === null) return true
  if (isRecord(value) && Object.keys(value).length === 0) return true
  return DUMMY_NAME.test(path)
}
