import { readProperty } from '../safe-read.ts'
import {
  deadlineText,
  disabledToolText,
  errorResult,
  failureText,
  namelessText,
  noTaskText,
  silentErrorText,
  taskOnlyText,
  textBlock,
} from './answers.ts'
import { isUnfinished } from './content-shape.ts'
import { argumentsError, explainArguments } from './explain-arguments.ts'
import { flattenSdkMessage } from './flatten-sdk-message.ts'
import { judgeSuccess } from './judge-success.ts'
import { answerWith, badResult, type Judgement } from './judgement.ts'
import {
  isRecord,
  type JsonRpcError,
  type JsonRpcMessage,
  type ToolResult,
  URL_ELICITATION_REQUIRED,
} from './mcp-shapes.ts'
import type { OpenCall } from './open-call.ts'
import { plainError } from './recorded-error.ts'
import { resultExcerpt, resultFacts, saysNothing } from './result-facts.ts'
import { checkSerialisable } from './serialisable.ts'
import type { ToolFacts } from './tool-catalogue.ts'
import { isUnlisted, unknownToolAnswer } from './unknown-tool.ts'
import { warnOnce } from './warn-once.ts'

/**
 * Joins the answer the SDK is about to send with what the guard saw. Facts first: what the handler
 * did, then the kind of the answer, its words last. Only a refused call takes another look at its
 * arguments, which may wait for a schema; every other judgement is made at once.
 */
export function judgeAnswer(
  call: OpenCall,
  message: JsonRpcMessage,
): Judgement | Promise<Judgement> {
  const { handler } = call
  if (handler.state === 'decided') return decidedByGuard(call, message, handler)
  if (message.error) {
    if (message.error.code === URL_ELICITATION_REQUIRED) return untouched(message)
    const problem = flattenSdkMessage(message.error.message)
    if (handler.state === 'returned') {
      const isTask = isRecord(handler.value) && isUnfinished(handler.value)
      if (call.init.asksForTask && !isTask) return noTask(call, message)
      return badResult(call, message, problem)
    }
    return refused(call, message, problem, message.error)
  }
  const result = isRecord(message.result) ? message.result : {}
  if (isUnfinished(result)) return untouched(message)
  if (result.isError === true) return judgeError(call, message, result)
  return judgeSuccess(call, message, result)
}

function saysSame(sent: ToolResult, ours: ToolResult): boolean {
  return sent.isError === true && resultExcerpt(sent) === resultExcerpt(ours)
}

type Decided = Extract<OpenCall['handler'], { state: 'decided' }>

function decidedByGuard(call: OpenCall, message: JsonRpcMessage, decided: Decided): Judgement {
  const { ending, answer } = decided
  if (answer.kind === 'untouched') {
    if (message.error?.code === URL_ELICITATION_REQUIRED) return { message, ending }
    // Revision 2026-07-28 has no such error: the SDK says so in place of passing it on.
    return badResult(call, message, flattenSdkMessage(message.error?.message))
  }
  // The SDK may have put a message of its own in place of ours, as it does for tasks.
  const kept = isRecord(message.result) && saysSame(message.result, answer.result)
  return {
    message: kept ? message : answerWith(call, message, answer.result),
    ending,
    fatal: answer.fatal,
  }
}

function judgeError(
  call: OpenCall,
  message: JsonRpcMessage,
  result: ToolResult,
): Judgement | Promise<Judgement> {
  const said = resultExcerpt(result)
  const { handler } = call
  if (handler.state === 'not_run') {
    const tool = call.context.catalogue.find(call.tool)
    // Without a guard nobody knows whether the tool spoke or the SDK: the arguments decide.
    return refused(call, message, flattenSdkMessage(said), tool?.guarded === false ? 'tool' : 'sdk')
  }
  // The tool reported no error, so this one is the SDK's: the result breaks its output schema.
  if (handler.state === 'returned' && !mayBeError(handler.value)) {
    return badResult(call, message, flattenSdkMessage(said))
  }
  return toolError(call, message, result)
}

/** What a task's handler returned is the task: its result comes from elsewhere. */
function mayBeError(returned: unknown): boolean {
  if (readProperty(returned, 'isError') === true) return true
  return isRecord(returned) && isUnfinished(returned)
}

function toolError(call: OpenCall, message: JsonRpcMessage, result: ToolResult): Judgement {
  const serialisable = checkSerialisable(result, call.context.settings.maxResultBytes)
  if (!serialisable.ok) return badResult(call, message, serialisable.problem)
  const said = resultExcerpt(result)
  // Most clients show a model the content only.
  const spoken = saysNothing(result)
    ? { ...result, content: [textBlock(silentErrorText(call.tool, said))] }
    : result
  return {
    message: spoken === result ? message : { ...message, result: spoken },
    ending: {
      outcome: 'failed',
      error: plainError(isUnlisted(call, said) ? 'unknown_tool' : 'tool_error', said),
      result: resultFacts(result, serialisable.textLength),
    },
  }
}

/** For want of a judgement: the SDK's own answer, taken at its word. */
export function plainJudgement(message: JsonRpcMessage): Judgement {
  const failed = message.error !== undefined || readProperty(message.result, 'isError') === true
  return {
    message,
    ending: failed
      ? { outcome: 'failed', error: plainError('unexpected', 'not judged') }
      : { outcome: 'succeeded' },
  }
}

/** The handler never ran, or nothing is known of it. */
async function refused(
  call: OpenCall,
  message: JsonRpcMessage,
  problem: string,
  by: JsonRpcError | 'sdk' | 'tool',
): Promise<Judgement> {
  if (call.init.nameFault !== undefined) {
    const names = call.context.catalogue.names()
    return failed(call, message, 'unknown_tool', namelessText(call.init.nameFault, names))
  }
  const tool = call.context.catalogue.find(call.tool)
  if (tool && !tool.enabled) {
    return failed(call, message, 'unknown_tool', disabledToolText(call.tool))
  }
  if (isUnknown(call, tool, problem))
    return failed(call, message, 'unknown_tool', unknownToolAnswer(call))
  if (tool?.needsTask && !call.init.asksForTask) {
    return failed(call, message, 'invalid_arguments', taskOnlyText(call.tool))
  }
  const explanation = await explainArguments(call, tool).catch(() => {
    warnOnce(`the input schema of ${call.tool} failed when it was asked what is wrong`)
    return undefined
  })
  if (explanation) {
    const { text, issues } = explanation
    const error = argumentsError(call, explanation)
    return {
      message: answerWith(call, message, errorResult(text)),
      ending: { outcome: 'failed', error, issues },
    }
  }
  if (by === 'tool') return toolError(call, message, message.result as ToolResult)
  return unexplained(call, message, problem)
}

/** A name in no list, or one that the SDK itself does not find where there is no list to ask. */
function isUnknown(call: OpenCall, tool: ToolFacts | undefined, problem: string): boolean {
  if (tool) return false
  if (call.context.catalogue.listed) return true
  return /not found|unknown tool|disabled/i.test(problem) && problem.includes(call.tool)
}

function unexplained(call: OpenCall, message: JsonRpcMessage, problem: string): Judgement {
  const text = failureText({
    tool: call.tool,
    call: call.id,
    classification: { class: 'unexpected', transient: false },
    attempts: call.attempts,
    suppressed: undefined,
    message: call.settings.errorText === 'message' ? problem : undefined,
  })
  return {
    message: answerWith(call, message, errorResult(text)),
    ending: { outcome: 'failed', error: plainError('unexpected', problem) },
  }
}

/** The client takes a task and nothing else, and the SDK has thrown away what the tool gave it. */
function noTask(call: OpenCall, message: JsonRpcMessage): Judgement {
  const text = noTaskText(call.tool)
  return {
    message: answerWith(call, message, errorResult(text)),
    ending: { outcome: 'failed', error: plainError('bad_result', text) },
  }
}

function failed(
  call: OpenCall,
  message: JsonRpcMessage,
  kind: 'unknown_tool' | 'invalid_arguments',
  text: string,
): Judgement {
  return {
    message: answerWith(call, message, errorResult(text)),
    ending: { outcome: 'failed', error: plainError(kind, text) },
  }
}

/** The call has used up its time. */
export function deadlineJudgement(call: OpenCall, ms: number): Judgement {
  const readOnly = call.context.catalogue.find(call.tool)?.annotations.readOnly === true
  const text = deadlineText(call.tool, ms, !readOnly)
  const error = { ...plainError('timeout', text), by: 'deadline' as const }
  return {
    message: answerWith(call, {}, errorResult(text)),
    ending: { outcome: 'failed', error },
  }
}

function untouched(message: JsonRpcMessage): Judgement {
  return { message, ending: { outcome: 'deferred' } }
}
