import { readProperty, readString } from '../safe-read.ts'
import { cleanMessage, cutText, errorResult, failureText, silentErrorText } from './answers.ts'
import type { Classification } from './classify.ts'
import { describeError, errorLine } from './describe-error.ts'
import { isFatalError, isInvalidArgumentsError, isToolError } from './errors.ts'
import { argumentsError } from './explain-arguments.ts'
import { explainUnknownArguments } from './explain-unknown.ts'
import { URL_ELICITATION_REQUIRED } from './mcp-shapes.ts'
import { oddCharacterHint } from './odd-characters.ts'
import type { Ending, GuardAnswer, OpenCall } from './open-call.ts'
import { plainError, recordedError } from './recorded-error.ts'
import type { RetryResult } from './retry.ts'
import { isUnlisted, unknownToolAnswer } from './unknown-tool.ts'
import { observing } from './warn-once.ts'

/** How a call ends that the guard itself answers. */
export type Decision = { ending: Ending; answer: GuardAnswer }

/** What a failed handler comes to. */
export function decisionOnFailure(
  call: OpenCall,
  { error, classification, suppressed }: Extract<RetryResult<unknown>, { ok: false }>,
): Decision {
  if (classification.class === 'unexpected' && isUnlisted(call, describeError(error).message)) {
    return unknownToolDecision(call)
  }
  const ending: Ending = {
    outcome: 'failed',
    error: recordedError(error, classification),
    ...(isInvalidArgumentsError(error) && error.issues.length > 0 ? { issues: error.issues } : {}),
  }
  const text = answerTo(call, error, classification, suppressed)
  const fatal = isFatalError(error) ? { fatal: error } : {}
  return { ending, answer: { ...resultAnswer(text), ...fatal } }
}

/** A low-level handler throws for a name it does not know; the list says whether that is why. */
function unknownToolDecision(call: OpenCall): Decision {
  const text = unknownToolAnswer(call)
  return {
    ending: { outcome: 'failed', error: plainError('unknown_tool', text) },
    answer: resultAnswer(text),
  }
}

function answerTo(
  call: OpenCall,
  error: unknown,
  classification: Classification,
  suppressed: string | undefined,
): string {
  // These two speak to the model on purpose; a ToolError word for word.
  if (isToolError(error)) return readString(error, 'message') || silentErrorText(call.tool)
  if (isInvalidArgumentsError(error)) {
    const said = cleanMessage(describeError(error).message)
    return cutText(`Invalid arguments for "${call.tool}": ${said}`)
  }
  return failureText({
    tool: call.tool,
    call: call.id,
    classification,
    attempts: call.attempts,
    suppressed,
    message: call.settings.errorText === 'message' ? errorLine(describeError(error)) : undefined,
    hint:
      classification.class === 'unexpected'
        ? observing('Looking at the arguments', () => oddCharacterHint(call.init.arguments))
        : undefined,
  })
}

/** Where unknown arguments are refused, and there are some. */
export function refuseUnknown(call: OpenCall): Decision | undefined {
  if (call.settings.unknownArguments !== 'reject' || !call.dropped) return undefined
  const explanation = explainUnknownArguments(call, call.dropped, 'refused')
  return {
    ending: {
      outcome: 'failed',
      error: argumentsError(call, explanation),
      issues: explanation.issues,
    },
    answer: resultAnswer(explanation.text),
  }
}

export function resultAnswer(text: string): GuardAnswer & { kind: 'result' } {
  return { kind: 'result', result: errorResult(text) }
}

export function isUrlElicitation(error: unknown): boolean {
  return readProperty(error, 'code') === URL_ELICITATION_REQUIRED
}
