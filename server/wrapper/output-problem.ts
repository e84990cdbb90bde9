import { formatPath, valueAt } from './argument-path.ts'
import type { ArgumentProblem } from './argument-problem.ts'
import { isUnfinished } from './content-shape.ts'
import { findProblems } from './find-problems.ts'
import { isRecord } from './mcp-shapes.ts'
import type { OpenCall } from './open-call.ts'
import { describeView, jsonTypeOf, viewAt, viewOf } from './schema-view.ts'

const MAX_SHOWN = 3

/**
 * What is wrong with a result by its tool's output schema, where no SDK looks: results without a
 * `content` key (SDK v1 skips them), and low-level servers. Undefined: nothing, or not ours to say.
 * A promise only where a schema has to be asked.
 */
export function findOutputProblem(
  call: OpenCall,
  value: unknown,
): Promise<string | undefined> | string | undefined {
  if (!isRecord(value) || value.isError === true || isUnfinished(value)) return undefined
  const tool = call.context.catalogue.find(call.tool)
  if (!tool?.outputSchema) return undefined
  if (tool.source === 'registered' && value.content !== undefined) return undefined
  if (value.structuredContent === undefined) {
    return 'it has an output schema, but the result has no structuredContent'
  }
  return schemaProblem(tool.outputSchema, value)
}

async function schemaProblem(
  schema: unknown,
  value: Record<string, unknown>,
): Promise<string | undefined> {
  try {
    const problems = await findProblems(schema, value.structuredContent)
    return problems.length === 0 ? undefined : inWords(problems, schema, value)
  } catch {
    // A schema whose own code fails says nothing about the result.
    return undefined
  }
}

function inWords(
  problems: ArgumentProblem[],
  schema: unknown,
  { structuredContent }: Record<string, unknown>,
): string {
  const view = viewOf(schema)
  const shown = problems.slice(0, MAX_SHOWN).map(({ path, expected, note }) => {
    const at = formatPath(['structuredContent', ...path])
    const wanted = (view && viewAt(view, path)) ?? undefined
    const words = wanted && wanted.types.length > 0 ? describeView(wanted) : (expected ?? note)
    const received = jsonTypeOf(valueAt(structuredContent, path)) ?? 'nothing'
    return `${at}: expected ${words ?? 'another value'}, received ${received}`
  })
  const rest = problems.length - shown.length
  return rest > 0 ? `${shown.join('; ')}; and ${rest} more` : shown.join('; ')
}
