import { performance } from 'node:perf_hooks'
import type { CallLog } from '../call-log/writer.ts'
import { badResultText, errorResult } from './answers.ts'
import { isRecord, type JsonRpcMessage, metaOf } from './mcp-shapes.ts'
import type { OpenCall } from './open-call.ts'
import { DEFAULT_MAX_RESULT_BYTES } from './options.ts'
import { roundedMs } from './rounded-ms.ts'
import { checkSerialisable } from './serialisable.ts'

/**
 * A call that was answered with a task ends much later, in messages of their own. Whatever tells of
 * the end first (a status, or the result that the client fetched) leaves a `late` record.
 */
type Followed = {
  call: string
  tool: string
  log: CallLog | undefined
  sinceMs: number
  told?: 'succeeded' | 'failed'
}

/** For the process: without sessions each message has a server of its own. */
const followed = new Map<string, Followed>()
const MAX_FOLLOWED = 1_000
const META_RELATED_TASK = 'io.modelcontextprotocol/related-task'

/** Remembers the task that answers this call, if one does. */
export function followTask(call: OpenCall, { result }: JsonRpcMessage): void {
  const task = isRecord(result) ? result.task : undefined
  if (!isRecord(task) || typeof task.taskId !== 'string') return
  const sinceMs = performance.now() - call.ageMs
  const { log } = call.context
  followed.set(task.taskId, { call: call.id, tool: call.tool, log, sinceMs })
  if (followed.size <= MAX_FOLLOWED) return
  for (const oldest of followed.keys()) {
    followed.delete(oldest)
    break
  }
}

/**
 * Looks at a message to the client that answers no tool call. Gives the one to send: a task's result
 * that cannot be serialised would never arrive.
 */
export function watchTaskEnd(message: unknown): unknown {
  if (followed.size === 0 || !isRecord(message)) return message
  const body = message.method === 'notifications/tasks/status' ? message.params : message.result
  if (!isRecord(body)) return message
  const related = metaOf(body)[META_RELATED_TASK]
  const id = isRecord(related) ? related.taskId : body.taskId
  const task = typeof id === 'string' ? followed.get(id) : undefined
  if (!task) return message
  if (isRecord(related) && message.method === undefined) return endWithResult(message, body, task)
  if (body.status === 'completed') tell(task, 'succeeded')
  if (body.status === 'failed' || body.status === 'cancelled') tell(task, 'failed')
  return message
}

function endWithResult(
  message: JsonRpcMessage,
  result: Record<string, unknown>,
  task: Followed,
): JsonRpcMessage {
  const check = checkSerialisable(result, DEFAULT_MAX_RESULT_BYTES)
  tell(task, check.ok && result.isError !== true ? 'succeeded' : 'failed')
  if (check.ok) return message
  const told = errorResult(badResultText(task.tool, check.problem))
  return { ...message, result: { ...told, _meta: result._meta } }
}

/** Once; again only where the result that was fetched belies the status. */
function tell(task: Followed, outcome: 'succeeded' | 'failed'): void {
  if (task.told === outcome) return
  task.told = outcome
  const { call, tool, log, sinceMs } = task
  log?.record({ kind: 'late', call, tool, ms: roundedMs(performance.now() - sinceMs), outcome })
}
