import type { ResultFacts } from '../call-log/record.ts'
import {
  emptyResultText,
  emptyWarning,
  errorResult,
  suspectResultText,
  textBlock,
} from './answers.ts'
import { explainUnknownArguments } from './explain-unknown.ts'
import { answerWith, badResult, type Judgement } from './judgement.ts'
import type { JsonRpcMessage, ToolResult } from './mcp-shapes.ts'
import type { Ending, OpenCall } from './open-call.ts'
import { plainError } from './recorded-error.ts'
import { isEmptyResult, resultExcerpt, resultFacts } from './result-facts.ts'
import { checkSerialisable } from './serialisable.ts'
import { suspectRule } from './suspect-rules.ts'

/** A result that is no error, as far as the tool and the SDK say. */
export function judgeSuccess(
  call: OpenCall,
  message: JsonRpcMessage,
  result: ToolResult,
): Judgement {
  const serialisable = checkSerialisable(result, call.context.settings.maxResultBytes)
  if (!serialisable.ok) return badResult(call, message, serialisable.problem)
  const facts = resultFacts(result, serialisable.textLength)
  const rule = suspectRule(result)
  if (rule !== undefined) facts.suspect = rule
  if (rule !== undefined && call.settings.suspect === 'error') {
    return suspectAsError(call, message, result, { rule, facts })
  }
  if (facts.empty && call.settings.empty === 'error' && isEmptyResult(result)) {
    return emptyAsError(call, message, facts)
  }
  return passed(call, message, result, facts)
}

function suspectAsError(
  call: OpenCall,
  message: JsonRpcMessage,
  result: ToolResult,
  { rule, facts }: { rule: string; facts: ResultFacts },
): Judgement {
  const excerpt = resultExcerpt(result)
  const content = Array.isArray(result.content) ? result.content : []
  const text = textBlock(suspectResultText(call.tool, excerpt))
  return {
    // Keeps what the tool said, after one sentence that says it is an error.
    message: answerWith(call, message, { ...result, content: [text, ...content], isError: true }),
    ending: {
      outcome: 'failed',
      error: plainError('tool_error', `${rule}: ${excerpt}`),
      result: facts,
    },
  }
}

function emptyAsError(call: OpenCall, message: JsonRpcMessage, facts: ResultFacts): Judgement {
  const readOnly = call.context.catalogue.find(call.tool)?.annotations.readOnly === true
  return {
    message: answerWith(call, message, errorResult(emptyResultText(call.tool, !readOnly))),
    ending: { outcome: 'failed', error: plainError('bad_result', 'empty result'), result: facts },
  }
}

/** The tool's own answer; what there is to say of it stands in blocks after its own. */
function passed(
  call: OpenCall,
  message: JsonRpcMessage,
  result: ToolResult,
  facts: ResultFacts,
): Judgement {
  const ending: Ending = {
    outcome: call.attempts.length > 1 ? 'retried' : 'succeeded',
    result: facts,
  }
  const notes: string[] = []
  if (facts.empty && call.settings.empty === 'warn' && isEmptyResult(result)) {
    notes.push(emptyWarning(call.tool, resultExcerpt(result)))
  }
  if (call.dropped) {
    const { text, issues, worthTelling } = explainUnknownArguments(call, call.dropped, 'ignored')
    if (worthTelling) ending.issues = issues
    if (worthTelling && call.settings.unknownArguments === 'warn') notes.push(text)
  }
  if (notes.length === 0) return { message, ending }
  // A client that reads one block reads the tool's.
  const own = Array.isArray(result.content) ? result.content : []
  const content = [...own, ...notes.map((note) => textBlock(note))]
  return { message: { ...message, result: { ...result, content } }, ending }
}
