import { setTimeout } from 'node:timers/promises'
import { errorResult } from './answers.ts'
import { checkAgainstView } from './check-against-view.ts'
import {
  argumentsError,
  type Explanation,
  explainArguments,
  explainProblems,
} from './explain-arguments.ts'
import type { BeforeHandler, Decision } from './handler-guard.ts'
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
  return async (call, extra) => {
    if (!context.catalogue.listed) {
      learning ??= learnList(context, listHandler(), extra)
      await Promise.race([learning, setTimeout(MAX_LIST_WAIT_MS, undefined, { ref: false })])
    }
    return context.settings.checkArguments ? checkArguments(call) : undefined
  }
}

async function learnList(
  { catalogue }: WrapperContext,
  list: ListHandler | undefined,
  extra: unknown,
): Promise<void> {
  if (!list) return
  let cursor: unknown
  try {
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const params = cursor === undefined ? {} : { cursor }
      const result = await list({ method: 'tools/list', params }, extra)
      catalogue.learn(result)
      cursor = isRecord(result) ? result.nextCursor : undefined
      if (cursor === undefined) return
    }
  } catch {
    warnOnce('the tools/list handler failed: arguments are not checked before the tools run.')
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
