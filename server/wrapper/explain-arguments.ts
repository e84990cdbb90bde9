import type { ArgumentIssue, RecordedError } from '../call-log/record.ts'
import { redactText } from '../call-log/redact.ts'
import { cutText } from './answers.ts'
import { wrapperKey } from './argument-hints.ts'
import { formatKey, pathKey, ROOT_PATH, valueAt } from './argument-path.ts'
import type { ArgumentProblem } from './argument-problem.ts'
import { fitted, withCount } from './argument-sentences.ts'
import { findProblems } from './find-problems.ts'
import { isRecord } from './mcp-shapes.ts'
import type { OpenCall } from './open-call.ts'
import { pairedSentences } from './pair-arguments.ts'
import { plainError } from './recorded-error.ts'
import { ANYTHING, jsonTypeOf, type SchemaView, viewAt, viewOf } from './schema-view.ts'
import type { ToolFacts } from './tool-catalogue.ts'
import { type Worded, wordProblem } from './word-problem.ts'

export type Explanation = {
  /** For the client: at most 500 characters. */
  text: string
  /** For the log: without values. */
  issues: ArgumentIssue[]
}

const MAX_RECORDED_ISSUES = 20

/** For the log. The text quotes short values, which only a full capture may keep. */
export function argumentsError(call: OpenCall, { text, issues }: Explanation): RecordedError {
  if (call.settings.capture === 'full') return plainError('invalid_arguments', text)
  const paths = issues.map(({ path, code }) => `${path} (${code})`).join(', ')
  return plainError('invalid_arguments', `${opening(call.tool)} ${paths}`)
}

/** What is wrong with a call's arguments; undefined where nothing is, as far as anyone can tell. */
export async function explainArguments(
  call: OpenCall,
  tool: ToolFacts | undefined,
): Promise<Explanation | undefined> {
  const raw = call.init.arguments
  if (raw !== undefined && !isRecord(raw)) return rootExplanation(call.tool, raw)
  if (!tool || tool.inputSchema === undefined) return undefined
  const problems = await findProblems(tool.inputSchema, raw ?? {})
  if (problems.length === 0) return undefined
  return explain(call.tool, raw ?? {}, problems, viewOf(tool.inputSchema) ?? ANYTHING)
}

/** Words for problems that a check has found already. */
export function explainProblems(
  call: OpenCall,
  tool: ToolFacts,
  problems: ArgumentProblem[],
): Explanation {
  const view = viewOf(tool.inputSchema) ?? ANYTHING
  return explain(call.tool, call.init.arguments ?? {}, problems, view)
}

function rootExplanation(tool: string, raw: unknown): Explanation {
  const received = jsonTypeOf(raw) ?? 'nothing'
  const encoded = typeof raw === 'string' && raw.trim().startsWith('{')
  const advice = encoded ? ': send a JSON object, not a JSON-encoded string' : ''
  const issue: ArgumentIssue = { path: ROOT_PATH, code: 'wrong_type', expected: 'object', received }
  if (encoded) issue.subtype = 'stringified_json'
  return {
    text: cutText(`${opening(tool)} arguments must be an object, received ${received}${advice}.`),
    issues: [issue],
  }
}

function opening(tool: string): string {
  return `Invalid arguments for "${formatKey(tool)}":`
}

function explain(
  tool: string,
  raw: unknown,
  problems: ArgumentProblem[],
  view: SchemaView,
): Explanation {
  const wrapper = wrapperKey(raw, view)
  if (wrapper !== undefined) return wrappedExplanation(tool, wrapper)
  const all = [...problems, ...strippedKeys(raw, view, problems)]
  const worded = grouped(all.map((problem) => wordProblem(problem, raw, view)))
  const sentences = pairedSentences(worded, raw, view)
  const issues = worded.slice(0, MAX_RECORDED_ISSUES).map(({ issue }) => issue)
  return { text: fitted(opening(tool), sentences), issues }
}

/** For a call that was refused because of it. */
export function wrappedExplanation(tool: string, key: string): Explanation {
  const path = formatKey(redactText(key))
  const text = `${opening(tool)} the arguments are wrapped in \`${path}\`: send its fields directly.`
  return { text: cutText(text), issues: [wrappedIssue(path)] }
}

export function wrappedIssue(path: string): ArgumentIssue {
  return { path, code: 'unknown_key', subtype: 'wrapped_args', received: 'object' }
}

/**
 * Unknown names that the schema would have stripped without a word, at the top and wherever a
 * required name is missing: often the cause of the rest.
 */
function strippedKeys(
  raw: unknown,
  root: SchemaView,
  problems: ArgumentProblem[],
): ArgumentProblem[] {
  const told = new Set(problems.map(({ path }) => pathKey(path)))
  const parents = new Map<string, PropertyKey[]>([['', []]])
  for (const { path, code } of problems) {
    const parent = path.slice(0, -1)
    if (code === 'missing_required') parents.set(pathKey(parent), parent)
  }
  return [...parents.values()].flatMap((parent) => {
    const held = valueAt(raw, parent)
    const view = viewAt(root, parent)
    if (!isRecord(held) || !view?.properties || view.unknownKeys !== 'strip') return []
    return Object.keys(held)
      .filter((key) => !view.properties?.has(key))
      .map((key): ArgumentProblem => ({ path: [...parent, key], code: 'unknown_key' }))
      .filter(({ path }) => !told.has(pathKey(path)))
  })
}

/** One entry for each kind of mistake: thousands of bad items in a list are one mistake. */
function grouped(all: Worded[]): Worded[] {
  const groups = new Map<string, Worded>()
  for (const each of all) {
    const { path, code, subtype, expected, received } = each.issue
    const key = [path.replace(/\[\d+\]/g, '[*]'), code, subtype, expected, received].join('|')
    const first = groups.get(key)
    if (first) first.count += 1
    else groups.set(key, each)
  }
  return [...groups.values()].map((first) => ({
    ...first,
    sentence: withCount(first.sentence, first.count),
  }))
}
