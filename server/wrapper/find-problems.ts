import type { ArgumentProblem } from './argument-problem.ts'
import { checkAgainstView } from './check-against-view.ts'
import { problemsFromIssues } from './issue-from-zod.ts'
import { isRecord } from './mcp-shapes.ts'
import { viewOf } from './schema-view.ts'

type Callable = (value: unknown) => unknown

/**
 * What a schema says against a value. A schema that validates is asked itself; a JSON Schema is
 * checked by the wrapper. Rejects if the schema's own code throws.
 */
export async function findProblems(schema: unknown, value: unknown): Promise<ArgumentProblem[]> {
  const validate = validatorOf(schema)
  if (!validate) {
    const view = viewOf(schema)
    return view ? checkAgainstView(view, value) : []
  }
  const outcome = await validate(value)
  return problemsFromIssues(issuesOf(outcome), value)
}

function validatorOf(schema: unknown): Callable | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined
  const methods = schema as Record<string, unknown>
  const standard = methods['~standard']
  if (isRecord(standard) && typeof standard.validate === 'function') {
    return standard.validate.bind(standard) as Callable
  }
  // zod before 3.24.
  return typeof methods.safeParseAsync === 'function'
    ? (methods.safeParseAsync.bind(methods) as Callable)
    : undefined
}

function issuesOf(outcome: unknown): unknown[] {
  if (!isRecord(outcome)) return []
  if (Array.isArray(outcome.issues)) return outcome.issues
  return isRecord(outcome.error) && Array.isArray(outcome.error.issues) ? outcome.error.issues : []
}
