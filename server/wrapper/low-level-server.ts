import { setTimeout } from 'node:timers/promises'
import { errorResult } from './answers.ts'
import { checkAgainstView } from './check-against-view.ts'
import {
  argumentsError,
  type Explanation,
  explainArguments,
  explainProblems,
} from './explain-arguments.ts'
import type { Decision } from './failure-decision.ts'
import type { BeforeHandler } from './handler-guard.ts'
import { isRecord } from './mcp-shapes.ts'
import type { OpenCall } from './open-call.ts'
import { viewOf } from './schema-view.ts'
import { warnOnce } from './warn-once.ts'
import type { WrapperContext } from './wrapper-context.ts'

export type ListHandler = (request: unknown, context: unknown) => unknown

/** A tool call must not wait longer than this for a list. */
const MAX_LIST_WAIT_MS = 1_000
const MAX_PAGES = 20

/**
 * A low-level server checks nothing before its handler. Its own list says what each tool takes, so
 * the list is asked once, and arguments that break the schema never reach the handler.
 */
export function checkBeforeHandler(
  context: WrapperContext,
  listHandler: () => ListHandler | undefined,
): BeforeHandler {
  let learning: Promise<void> | undefined
  let failed = false
  return async (call, extra) => {
    const list = failed ? undefined : listHandler()
    if (list && !context.catalogue.listed) {
      learning ??= learnList(context, list, extra)
        .catch(() => {
          failed = true
          warnOnce('the tools/list handler failed: arguments are not checked before tools run.')
        })
        .finally(() => {
          learning = undefined
        })
      await Promise.race([learning, setTimeout(MAX_LIST_WAIT_MS, undefined, { ref: false })])
    }
    return context.settings.checkArguments ? checkArguments(call) : undefined
  }
}

async function learnList(
  { catalogue }: WrapperContext,
  list: ListHandler,
  extra: unknown,
): Promise<void> {
  let cursor: unknown
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = cursor === undefined ? {} : { cursor }
    const result = await list({ method: 'tools/list', params }, extra)
    catalogue.learn(result)
    cursor = isRecord(result) ? result.nextCursor : undefined
    if (cursor === undefined) return
  }
}

async function checkArguments(call: OpenCall): Promise<Decision | undefined> {
  const tool = call.context.catalogue.find(call.tool)
  const raw = call.init.arguments
  if (raw !== undefined && !isRecord(raw)) return refusal(call, await explainArguments(call, tool))
  const view = tool && viewOf(tool.inputSchema)
  if (!view) return undefined
  const problems = checkAgainstView(view, raw ?? {})
  return problems.length === 0 ? undefined : refusal(call, explainProblems(call, tool, problems))
}

function refusal(call: OpenCall, explanation: Explanation | undefined): Decision | undefined {
  if (!explanation) return undefined
  const { text, issues } = explanation
  return {
    ending: { outcome: 'failed', error: argumentsError(call, explanation), issues },
    answer: { kind: 'result', result: errorResult(text) },
  }
}
