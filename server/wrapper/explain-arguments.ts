import type { ArgumentIssue, RecordedError } from '../call-log/record.ts'
import { redact, redactText } from '../call-log/redact.ts'
import { cutText } from './answers.ts'
import { type Hint, hintFor, wrapperKey } from './argument-hints.ts'
import { formatKey, formatPath, ROOT_PATH, valueAt } from './argument-path.ts'
import type { ArgumentProblem } from './argument-problem.ts'
import { argumentNames, fitted, formatCount } from './argument-sentences.ts'
import { findProblems } from './find-problems.ts'
import { isRecord } from './mcp-shapes.ts'
import type { OpenCall } from './open-call.ts'
import { plainError } from './recorded-error.ts'
import {
  ANYTHING,
  describeView,
  jsonTypeOf,
  type SchemaView,
  typeFits,
  viewAt,
  viewOf,
} from './schema-view.ts'
import type { ToolFacts } from './tool-catalogue.ts'

export type Explanation = {
  /** For the client: at most 500 characters. */
  text: string
  /** For the log: without values. */
  issues: ArgumentIssue[]
}

const MAX_RECORDED_ISSUES = 20
const MAX_VALUE_LENGTH = 40

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

type Worded = { issue: ArgumentIssue; sentence: string; problem: ArgumentProblem }

function explain(
  tool: string,
  raw: Record<string, unknown> | unknown,
  problems: ArgumentProblem[],
  view: SchemaView,
): Explanation {
  const wrapper = wrapperKey(raw, view)
  if (wrapper !== undefined) return wrappedExplanation(tool, wrapper)
  const all = [...problems, ...strippedKeys(raw, view, problems)]
  const worded = grouped(all.map((problem) => word(problem, raw, view)))
  const sentences = paired(worded, raw, view)
  return { text: fitted(opening(tool), sentences), issues: issuesOf(worded) }
}

function wrappedExplanation(tool: string, key: string): Explanation {
  const path = formatKey(redactText(key))
  const text = `${opening(tool)} the arguments are wrapped in \`${path}\`: send its fields directly.`
  const issue = { path, code: 'unknown_key', subtype: 'wrapped_args', received: 'object' } as const
  return { text: cutText(text), issues: [issue] }
}

/** Unknown names that the schema would have stripped without a word: often the cause of the rest. */
function strippedKeys(
  raw: unknown,
  view: SchemaView,
  problems: ArgumentProblem[],
): ArgumentProblem[] {
  if (!isRecord(raw) || !view.properties || view.unknownKeys !== 'strip') return []
  const told = new Set(problems.filter(({ path }) => path.length === 1).map(({ path }) => path[0]))
  return Object.keys(raw)
    .filter((key) => !view.properties?.has(key) && !told.has(key))
    .map((key) => ({ path: [key], code: 'unknown_key' }))
}

function word(problem: ArgumentProblem, raw: unknown, root: SchemaView): Worded {
  const hint = hintFor(problem, raw, root)
  const code = hint.code ?? problem.code
  const value = valueAt(raw, problem.path)
  const view = viewAt(root, problem.path)
  const known =
    view && view.types.length + (view.values?.length ?? 0) + (view.anyOf?.length ?? 0) > 0
  const expected = known && code !== 'unknown_key' ? describeView(view) : problem.expected
  const received = jsonTypeOf(value)
  const issue: ArgumentIssue = { path: redactText(formatPath(problem.path)), code }
  if (hint.subtype) issue.subtype = hint.subtype
  if (expected !== undefined) issue.expected = redactText(expected)
  if (received !== undefined && code !== 'missing_required') issue.received = received
  if (hint.suggest !== undefined) issue.suggest = redactText(hint.suggest)
  return { issue, problem, sentence: sentenceOf({ ...problem, code }, issue, value, hint) }
}

function sentenceOf(
  problem: ArgumentProblem,
  issue: ArgumentIssue,
  value: unknown,
  hint: Hint,
): string {
  const name = `\`${issue.path}\``
  const advice = hint.advice === undefined ? '' : `; ${redactText(hint.advice)}`
  switch (problem.code) {
    case 'missing_required':
      return `${name} is missing (required${issue.expected ? `, ${issue.expected}` : ''})`
    case 'unknown_key':
      return `${name} is not an argument of this tool${advice}`
    case 'other':
      return `${name}: ${redactText(problem.note ?? 'invalid value')}${advice}`
    default:
      return `${name}: expected ${issue.expected ?? 'another value'}, received ${received(problem, value)}${advice}`
  }
}

/** Type and value, where the value is short and no secret. */
function received(problem: ArgumentProblem, value: unknown): string {
  const type = jsonTypeOf(value) ?? 'nothing'
  if (value === '') return 'an empty string'
  if (type !== 'string' && type !== 'number' && type !== 'boolean') return type
  const key = String(problem.path.at(-1) ?? '')
  const safe = redact({ [key]: value })
  const shown = isRecord(safe) ? Object.values(safe)[0] : undefined
  if (typeof shown !== type) return `${type} (hidden)`
  const text = JSON.stringify(shown)
  return `${type} ${text.length <= MAX_VALUE_LENGTH ? text : `${text.slice(0, MAX_VALUE_LENGTH)}…"`}`
}

/** One entry for each kind of mistake: thousands of bad items in a list are one mistake. */
function grouped(all: Worded[]): Worded[] {
  const groups = new Map<string, { first: Worded; count: number }>()
  for (const each of all) {
    const { path, code, subtype, expected, received } = each.issue
    const key = [path.replace(/\[\d+\]/g, '[*]'), code, subtype, expected, received].join('|')
    const group = groups.get(key)
    if (group) group.count += 1
    else groups.set(key, { first: each, count: 1 })
  }
  return [...groups.values()].map(({ first, count }) =>
    count === 1
      ? first
      : { ...first, sentence: `${first.sentence} (and ${formatCount(count - 1)} more like it)` },
  )
}

/**
 * Merges the one unknown name with the one missing parameter of a fitting type: with nothing else
 * to choose from, the first was meant as the second, even where the words share nothing.
 */
function paired(worded: Worded[], raw: unknown, root: SchemaView): string[] {
  const unknown = worded.filter(({ issue }) => issue.code === 'unknown_key')
  const missing = worded.filter(({ issue }) => issue.code === 'missing_required')
  const [wrong] = unknown
  const [wanted] = missing
  const alone = unknown.length === 1 && missing.length === 1 && wrong && wanted
  if (!alone || !sameParent(wrong, wanted) || !fitsMissing(wrong, wanted, raw, root)) {
    return withArgumentNames(worded, root)
  }
  wrong.issue.suggest = wanted.issue.path.split('.').at(-1)
  const type = wanted.issue.expected ? ` (${wanted.issue.expected})` : ''
  const merged =
    `\`${wanted.issue.path}\`${type} is missing and \`${wrong.issue.path}\` is not an argument; ` +
    `did you mean \`${wrong.issue.suggest}\`?`
  const others = worded.filter((each) => each !== wrong && each !== wanted)
  return [merged, ...others.map(({ sentence }) => sentence)]
}

function sameParent(a: Worded, b: Worded): boolean {
  const parent = ({ problem }: Worded) => problem.path.slice(0, -1).map(String).join('\u0000')
  return parent(a) === parent(b)
}

/** By type; and no other parameter has the better name. */
function fitsMissing(wrong: Worded, wanted: Worded, raw: unknown, root: SchemaView): boolean {
  const view = viewAt(root, wanted.problem.path)
  const fits = !view || typeFits(view, valueAt(raw, wrong.problem.path))
  const named = wrong.issue.suggest
  return fits && (named === undefined || named === String(wanted.problem.path.at(-1)))
}

/** An unknown name without a near one: say which names there are. */
function withArgumentNames(worded: Worded[], root: SchemaView): string[] {
  const sentences = worded.map(({ sentence }) => sentence)
  const helpless = worded.some(({ issue }) => issue.code === 'unknown_key' && !issue.suggest)
  const names = helpless ? argumentNames(root) : ''
  return names === '' ? sentences : [...sentences, names]
}

function issuesOf(worded: Worded[]): ArgumentIssue[] {
  return worded.slice(0, MAX_RECORDED_ISSUES).map(({ issue }) => issue)
}
