import { valueAt } from './argument-path.ts'
import type { ArgumentProblem } from './argument-problem.ts'
import { isRecord } from './mcp-shapes.ts'
import { describeValues } from './schema-view.ts'

const MAX_UNION_DEPTH = 5
const MAX_NOTE_LENGTH = 120

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
  const values = [issue.values, issue.options].find(Array.isArray) ?? [issue.expected]
  const code = missing ? 'missing_required' : 'not_in_enum'
  return { path, code, values, expected: describeValues(values) }
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
  const limit = `${big ? most : least} ${bound}`
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

function formatOf(issue: Issue): { expected: string } {
  const format = issue.format ?? issue.validation
  if (format === 'regex' || typeof format !== 'string') {
    const pattern = typeof issue.pattern === 'string' ? issue.pattern : ''
    const shown =
      pattern !== '' && pattern.length <= 60 ? ` matching ${pattern}` : ' in another format'
    return { expected: `string${shown}` }
  }
  return { expected: `string (${format === 'datetime' ? 'date-time' : format})` }
}

function noteOf(issue: Issue): { note?: string } {
  if (typeof issue.message !== 'string' || issue.message === '') return {}
  return { note: issue.message.slice(0, MAX_NOTE_LENGTH) }
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
