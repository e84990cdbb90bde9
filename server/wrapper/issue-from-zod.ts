import { cutText } from '../call-log/limits.ts'
import { valueAt } from './argument-path.ts'
import type { ArgumentProblem } from './argument-problem.ts'
import { isRecord } from './mcp-shapes.ts'
import { describeValues } from './schema-view.ts'

const MAX_UNION_DEPTH = 5
const MAX_NOTE_LENGTH = 120
const MAX_QUOTED_LENGTH = 60

/**
 * Problems from the issues of zod 3, zod 4 or any Standard Schema. Which value was received is not
 * in the issues of zod 4, and never needed: it is looked up in the arguments themselves.
 */
export function problemsFromIssues(issues: readonly unknown[], raw: unknown): ArgumentProblem[] {
  return issues.filter(isRecord).flatMap((issue) => problemsOf(issue, raw, 0))
}

type Issue = Record<string, unknown>

function problemsOf(issue: Issue, raw: unknown, depth: number): ArgumentProblem[] {
  const path = pathOf(issue)
  const note = authorNote(issue)
  return foundIn(issue, path, raw, depth).map((problem) =>
    note === undefined || problem.path.length !== path.length ? problem : { note, ...problem },
  )
}

function foundIn(
  issue: Issue,
  path: PropertyKey[],
  raw: unknown,
  depth: number,
): ArgumentProblem[] {
  const missing = isMissing(raw, path)
  switch (issue.code) {
    case 'invalid_type':
      return [{ path, code: missing ? 'missing_required' : 'wrong_type', ...expectedOf(issue) }]
    case 'invalid_value':
    case 'invalid_enum_value':
    case 'invalid_literal':
    case 'invalid_union_discriminator':
      return [choiceProblem(issue, path, missing)]
    case 'unrecognized_keys':
      return keysOf(issue).map((key) => ({ path: [...path, key], code: 'unknown_key' }))
    case 'invalid_union':
      if (issue.discriminator !== undefined) return [choiceProblem(issue, path, missing)]
      return missing ? [{ path, code: 'missing_required' }] : unionProblems(issue, raw, path, depth)
    case 'too_small':
    case 'too_big':
      return [sizeProblem(issue, path)]
    case 'invalid_format':
    case 'invalid_string':
      return [{ path, code: 'bad_format', ...formatOf(issue) }]
    case 'not_multiple_of':
      return [
        {
          path,
          code: 'out_of_range',
          expected: `a multiple of ${String(issue.divisor ?? issue.multipleOf)}`,
        },
      ]
    default:
      return [{ path, code: missing ? 'missing_required' : 'other', ...noteOf(issue) }]
  }
}

/** Standard Schema allows `{ key }` in place of a plain key. */
function pathOf(issue: Issue): PropertyKey[] {
  const path = Array.isArray(issue.path) ? issue.path : []
  return path.map((step) => (isRecord(step) && 'key' in step ? step.key : step) as PropertyKey)
}

function isMissing(raw: unknown, path: readonly PropertyKey[]): boolean {
  return path.length > 0 && valueAt(raw, path) === undefined
}

function expectedOf(issue: Issue): { expected?: string } {
  switch (issue.expected) {
    case 'int':
      return { expected: 'integer' }
    case 'record':
      return { expected: 'object' }
    case 'nan':
    case undefined:
      return {}
    default:
      return typeof issue.expected === 'string' ? { expected: issue.expected } : {}
  }
}

function choiceProblem(issue: Issue, path: PropertyKey[], missing: boolean): ArgumentProblem {
  const code = missing ? 'missing_required' : 'not_in_enum'
  const listed = [issue.values, issue.options].find(Array.isArray)
  const values = listed ?? ('expected' in issue ? [issue.expected] : undefined)
  return values ? { path, code, values, expected: describeValues(values) } : { path, code }
}

function keysOf(issue: Issue): string[] {
  return Array.isArray(issue.keys) ? issue.keys.map(String) : []
}

function sizeProblem(issue: Issue, path: PropertyKey[]): ArgumentProblem {
  const big = issue.code === 'too_big'
  const bound = String(big ? issue.maximum : issue.minimum)
  const kind = issue.origin ?? issue.type
  const inclusive = issue.inclusive !== false
  const most = inclusive ? 'at most' : 'below'
  const least = inclusive ? 'at least' : 'above'
  const limit = `${issue.exact === true ? 'exactly' : big ? most : least} ${bound}`
  if (kind === 'string' || kind === 'array' || kind === 'set') {
    const unit = kind === 'string' ? 'characters' : 'items'
    return {
      path,
      code: big ? 'too_long' : 'too_short',
      expected: `${String(kind)} of ${limit} ${unit}`,
    }
  }
  return { path, code: 'out_of_range', expected: `${limit}` }
}

/** Nothing where only the schema itself knows the pattern. */
function formatOf(issue: Issue): { expected?: string } {
  const format = issue.format ?? issue.validation
  // zod 3 puts the words into `validation`, zod 4 beside the format.
  const words = isRecord(format) ? format : issue
  const start = words.startsWith ?? words.prefix
  const end = words.endsWith ?? words.suffix
  if (typeof start === 'string') return { expected: `string that starts with ${quoted(start)}` }
  if (typeof end === 'string') return { expected: `string that ends with ${quoted(end)}` }
  if (typeof words.includes === 'string') {
    return { expected: `string that contains ${quoted(words.includes)}` }
  }
  if (typeof format !== 'string' || format === 'regex') return {}
  if (format === 'lowercase') return { expected: 'string in lower case' }
  if (format === 'uppercase') return { expected: 'string in upper case' }
  return { expected: `string (${format === 'datetime' ? 'date-time' : format})` }
}

function quoted(text: string): string {
  return JSON.stringify(cutText(text, MAX_QUOTED_LENGTH))
}

function noteOf(issue: Issue): { note?: string } {
  if (typeof issue.message !== 'string' || issue.message === '') return {}
  return { note: cutText(issue.message, MAX_NOTE_LENGTH) }
}

/** The messages that zod 3 and zod 4 write by themselves. */
const ZOD_MESSAGE =
  /^(?:Required$|Invalid(?: (?:input|option|string|number|key|value|enum value|literal value|discriminator value)\b.*| (?:ISO )?[\w-]+(?: \w+)?)?$|Expected |Too (?:big|small)\b|(?:String|Number|Array|Set|Date|BigInt|Function) must |Unrecognized key|Input not instance|Intersection)/s

/** What the schema's author says of this fault, where it is not the library's own message. */
function authorNote(issue: Issue): string | undefined {
  const { note } = noteOf(issue)
  return note === undefined || ZOD_MESSAGE.test(note) ? undefined : note
}

/** zod 4 gives the issues of each alternative with paths from the union on, zod 3 from the root. */
function branchesOf(issue: Issue, path: PropertyKey[]): Issue[][] {
  if (Array.isArray(issue.errors)) {
    return issue.errors
      .filter(Array.isArray)
      .map((branch) =>
        branch.filter(isRecord).map((inner) => ({ ...inner, path: [...path, ...pathOf(inner)] })),
      )
  }
  if (!Array.isArray(issue.unionErrors)) return []
  return issue.unionErrors.map((error) =>
    isRecord(error) && Array.isArray(error.issues) ? error.issues.filter(isRecord) : [],
  )
}

/**
 * A union fails in each of its alternatives. Where none has the right type, all types are named;
 * else the alternative that came closest speaks: fewest problems, then deepest.
 */
function unionProblems(
  issue: Issue,
  raw: unknown,
  path: PropertyKey[],
  depth: number,
): ArgumentProblem[] {
  const branches = branchesOf(issue, path)
    .map((branch) => branch.flatMap((inner) => problemsOf(inner, raw, depth + 1)))
    .filter((problems) => problems.length > 0)
  if (branches.length === 0 || depth > MAX_UNION_DEPTH) return [{ path, code: 'union_no_match' }]
  const inside = branches.filter((problems) => !problems.some((each) => isAt(each, path)))
  const best = inside.sort((a, b) => a.length - b.length || deepest(b) - deepest(a))[0]
  if (best) return best
  const wanted = branches.flatMap((problems) => problems.map((each) => each.expected ?? each.note))
  const words = [...new Set(wanted.filter((word) => word !== undefined))].join(' or ')
  const typesOnly = branches.every((problems) =>
    problems.every((each) => each.code === 'wrong_type'),
  )
  return [
    {
      path,
      code: typesOnly ? 'wrong_type' : 'union_no_match',
      ...(words ? { expected: words } : {}),
    },
  ]
}

function isAt(problem: ArgumentProblem, path: readonly PropertyKey[]): boolean {
  return problem.path.length === path.length
}

function deepest(problems: ArgumentProblem[]): number {
  return Math.max(...problems.map(({ path }) => path.length))
}
