import { readString } from '../safe-read.ts'
import { badResultText, errorResult } from './answers.ts'
import type { FatalError } from './errors.ts'
import { INTERNAL_ERROR, type JsonRpcMessage, type ToolResult } from './mcp-shapes.ts'
import type { Ending, OpenCall } from './open-call.ts'
import { plainError } from './recorded-error.ts'

/** What goes out in place of the SDK's message, and how the call's record ends. */
export type Judgement = { message: JsonRpcMessage; ending: Ending; fatal?: FatalError | undefined }

/** The message, with this result in place of what the SDK had to say. */
export function answerWith(
  call: OpenCall,
  message: JsonRpcMessage,
  result: ToolResult,
): JsonRpcMessage {
  const id = message.id ?? call.init.request
  if (call.init.asksForTask && message.result === undefined) {
    // In place of a task a client reads an error, and no result at all.
    const error = { code: message.error?.code ?? INTERNAL_ERROR, message: firstText(result) }
    return { jsonrpc: '2.0', id, error }
  }
  // From revision 2026-07-28 on a result without `resultType` is refused; before, it is unknown.
  const complete = call.init.modern ? { resultType: 'complete', ...result } : result
  return { jsonrpc: '2.0', id, result: complete }
}

function firstText({ content }: ToolResult): string {
  const [first] = Array.isArray(content) ? content : []
  return readString(first, 'text') ?? ''
}

export function badResult(call: OpenCall, message: JsonRpcMessage, problem: string): Judgement {
  const text = badResultText(call.tool, problem)
  return {
    message: answerWith(call, message, errorResult(text)),
    ending: { outcome: 'failed', error: plainError('bad_result', problem) },
  }
}
