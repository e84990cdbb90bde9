import { cutText } from '../call-log/limits.ts'
import type { ArgumentIssue } from '../call-log/record.ts'
import { redact, redactText } from '../call-log/redact.ts'
import { type Hint, hintFor } from './argument-hints.ts'
import { formatPath, valueAt } from './argument-path.ts'
import type { ArgumentProblem } from './argument-problem.ts'
import { checkAgainstView } from './check-against-view.ts'
import { isRecord } from './mcp-shapes.ts'
import {
  describeView,
  hasBounds,
  jsonTypeOf,
  type SchemaView,
  viewAt,
  viewsAt,
} from './schema-view.ts'

/** A problem in words: for the log without values, and as a part of a sentence for the client. */
export type Worded = {
  problem: ArgumentProblem
  issue: ArgumentIssue
  sentence: string
  /** Of how many like it this is the first. */
  count: number
}

const MAX_VALUE_LENGTH = 40

export function wordProblem(found: ArgumentProblem, raw: unknown, root: SchemaView): Worded {
  const problem = sharpened(found, raw, root)
  const hint = hintFor(problem, raw, root)
  const code = hint.code ?? problem.code
  const value = valueAt(raw, problem.path)
  const expected = expectedWords({ ...problem, code }, root)
  const received = jsonTypeOf(value)
  const issue: ArgumentIssue = { path: redactText(formatPath(problem.path)), code }
  if (hint.subtype) issue.subtype = hint.subtype
  if (expected !== undefined) issue.expected = redactText(expected)
  if (received !== undefined && code !== 'missing_required') issue.received = received
  if (hint.suggest !== undefined) issue.suggest = redactText(hint.suggest)
  const sentence = sentenceOf({ ...problem, code }, issue, value, hint)
  return { issue, problem, sentence, count: 1 }
}

/** Some validators only say that something is wrong; the schema's view may know what. */
function sharpened(problem: ArgumentProblem, raw: unknown, root: SchemaView): ArgumentProblem {
  const view = problem.code === 'other' ? viewAt(root, problem.path) : undefined
  const value = valueAt(raw, problem.path)
  if (!view || value === undefined) return problem
  const own = checkAgainstView(view, value).find(({ path }) => path.length === 0)
  return own ? { ...problem, ...own, path: problem.path } : problem
}

/** The schema's own words say most; those of the check that failed, where they are more exact. */
function expectedWords({ path, code, expected }: ArgumentProblem, root: SchemaView) {
  if (code === 'unknown_key') return undefined
  const views = viewsAt(root, path)
  const isExact = code === 'bad_format' || (code === 'wrong_type' && views.length > 1)
  const view = viewAt(root, path)
  if (!view || isUnknown(view) || (isExact && expected !== undefined)) return expected
  const needsBounds = code === 'out_of_range' || code === 'too_long' || code === 'too_short'
  return needsBounds && !hasBounds(view) ? (expected ?? describeView(view)) : describeView(view)
}

function isUnknown({ types, values, anyOf }: SchemaView): boolean {
  return types.length + (values?.length ?? 0) + (anyOf?.length ?? 0) === 0
}

function sentenceOf(
  problem: ArgumentProblem,
  issue: ArgumentIssue,
  value: unknown,
  hint: Hint,
): string {
  const name = `\`${issue.path}\``
  const note = problem.note === undefined ? undefined : redactText(problem.note)
  const help = hint.advice === undefined ? note : redactText(hint.advice)
  const advice = help === undefined ? '' : `; ${help}`
  switch (problem.code) {
    case 'missing_required':
      return `${name} is missing (required${issue.expected ? `, ${issue.expected}` : ''})`
    case 'unknown_key':
      return `${name} is not an argument of this tool${advice}`
    case 'other':
      return `${name}: ${note ?? 'invalid value'}${receivedPart(problem, value)}${hint.advice === undefined ? '' : advice}`
    default:
      return `${name}: expected ${issue.expected ?? 'another value'}, received ${receivedWords(problem, value)}${advice}`
  }
}

function receivedPart(problem: ArgumentProblem, value: unknown): string {
  return value === undefined ? '' : ` (received ${receivedWords(problem, value)})`
}

/** Type and value, where the value is short and no secret; its length, where that is the fault. */
function receivedWords({ path, code }: ArgumentProblem, value: unknown): string {
  const type = jsonTypeOf(value) ?? 'nothing'
  if (value === '') return 'an empty string'
  const isAboutLength = code === 'too_long' || code === 'too_short'
  if (isAboutLength && Array.isArray(value)) return `array of ${value.length} items`
  if (type !== 'string' && type !== 'number' && type !== 'boolean') return type
  const key = String(path.at(-1) ?? '')
  const safe = redact({ [key]: value })
  const shown = isRecord(safe) ? Object.values(safe)[0] : undefined
  if (typeof shown !== type) return `${type} (hidden)`
  if (typeof shown !== 'string') return `${type} ${JSON.stringify(shown)}`
  const length = isAboutLength ? ` of ${[...String(value)].length} characters` : ''
  return `string ${JSON.stringify(cutText(shown, MAX_VALUE_LENGTH))}${length}`
}
