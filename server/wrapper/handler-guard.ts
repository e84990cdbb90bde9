import { performance } from 'node:perf_hooks'
import { badResultText, silentErrorText } from './answers.ts'
import { type Classification, classify } from './classify.ts'
import { findBrokenSpot, isUnfinished } from './content-shape.ts'
import { describeError } from './describe-error.ts'
import {
  type Decision,
  decisionOnFailure,
  isUrlElicitation,
  refuseUnknown,
  resultAnswer,
} from './failure-decision.ts'
import { type Handler, isRecord } from './mcp-shapes.ts'
import { callContext, type OpenCall } from './open-call.ts'
import { findOutputProblem } from './output-problem.ts'
import { plainError } from './recorded-error.ts'
import { isEmptyResult } from './result-facts.ts'
import type { RetryResult } from './retry.ts'
import { observing } from './warn-once.ts'

export type GuardOptions = {
  /** True: a transient failure of this handler may be repeated, whatever its annotations say. */
  retry?: boolean
}

/** Runs before the handler; a decision keeps it from running. */
export type BeforeHandler = (call: OpenCall, context: unknown) => Promise<Decision | undefined>

const guarded = new WeakSet<Handler>()

/**
 * Puts a tool handler behind the three lines of defence: what it throws is classified, retried
 * where that is safe, and answered; what it returns is checked. Arguments, context, `this` and the
 * return value pass through as they are. It needs the transport tap to know which call it serves;
 * outside of one, and inside another guarded handler, it steps aside.
 */
export function guard<H extends Handler>(handler: H, options: GuardOptions = {}): H {
  return guardWith(handler, options)
}

/** `guard`, with a step before the handler for servers that have no check of their own. */
export function guardWith<H extends Handler>(
  handler: H,
  options: GuardOptions & { before?: BeforeHandler },
): H {
  if (typeof handler !== 'function' || guarded.has(handler)) return handler
  const run = handler as unknown as (...args: unknown[]) => unknown
  const wrapped = function (this: unknown, ...args: unknown[]): unknown {
    const call = callContext.getStore()
    if (!call || !mayRun(call)) return run.apply(this, args)
    const handle = () => run.apply(this, args)
    return runGuarded({ call, handle, context: args.at(-1) }, options)
  }
  // SDKs and their users may look at a handler's name and arity.
  Object.defineProperty(wrapped, 'length', { value: handler.length, configurable: true })
  Object.defineProperty(wrapped, 'name', { value: handler.name, configurable: true })
  guarded.add(wrapped)
  return wrapped as unknown as H
}

/**
 * Once a call; again where it has asked for input and the SDK brings the answer within the same
 * call, as SDK v2 does for clients of earlier revisions.
 */
function mayRun({ handler }: OpenCall): boolean {
  if (handler.state === 'not_run') return true
  return handler.state === 'returned' && isRecord(handler.value) && isUnfinished(handler.value)
}

type Guarded = { call: OpenCall; handle: () => unknown; context: unknown }

/** Without a needless promise: each one costs more than all else this does to a call that is well. */
function runGuarded(guarded: Guarded, options: GuardOptions & { before?: BeforeHandler }): unknown {
  const { call, context } = guarded
  call.beginRun()
  call.handler = { state: 'running', since: performance.now() }
  if (!options.before) return refuseOrRun(guarded, options, undefined)
  return options.before(call, context).then((refusal) => refuseOrRun(guarded, options, refusal))
}

function refuseOrRun(
  { call, handle, context }: Guarded,
  options: GuardOptions,
  refused: Decision | undefined,
): unknown {
  const refusal = refused ?? observing('Checking for unknown arguments', () => refuseUnknown(call))
  if (refusal) return decide(call, refusal)
  const signal = signalOf(context)
  const { deadline } = call
  return call.context.retry.run(
    {
      attempt(report) {
        call.attempt = report
        call.handler = { state: 'running', since: performance.now() }
        return handle()
      },
      classify: (error) => classificationOf(call, error, signal),
      mayRepeat: () => mayRepeat(call, options),
      signal,
      attempts: call.attempts,
      timeLeftMs: deadline && (() => deadline.leftMs()),
    },
    (result) => settle(call, result),
  )
}

function settle(call: OpenCall, result: RetryResult<unknown>): unknown {
  if (call.closed) call.recordLate(result.ok ? 'succeeded' : 'failed')
  return result.ok ? settleReturned(call, result.value) : settleThrown(call, result)
}

function classificationOf(
  call: OpenCall,
  error: unknown,
  signal: AbortSignal | undefined,
): Classification {
  // The client acts on this one, so it is neither a failure nor worth another attempt.
  if (isUrlElicitation(error)) return { class: 'unexpected', transient: false }
  const custom = call.context.settings.classify
  return classify(error, { ...(custom ? { custom } : {}), ...(signal ? { signal } : {}) })
}

function mayRepeat(call: OpenCall, options: GuardOptions): boolean {
  const chosen = call.settings.retry ?? options.retry
  if (chosen !== undefined) return chosen
  const annotations = call.context.catalogue.find(call.tool)?.annotations
  return annotations !== undefined && (annotations.readOnly || annotations.idempotent)
}

function settleReturned(call: OpenCall, value: unknown): unknown {
  const problem = problemOf(call, value)
  if (!(problem instanceof Promise)) return settleChecked(call, value, problem)
  return problem.then((found) => settleChecked(call, value, found))
}

function settleChecked(call: OpenCall, value: unknown, problem: string | undefined): unknown {
  if (problem !== undefined) {
    return decide(call, {
      ending: { outcome: 'failed', error: plainError('bad_result', problem) },
      answer: resultAnswer(badResultText(call.tool, problem)),
    })
  }
  if (isSilentError(value)) {
    const text = silentErrorText(call.tool)
    return decide(call, {
      ending: { outcome: 'failed', error: plainError('tool_error', text) },
      answer: resultAnswer(text),
    })
  }
  call.handler = { state: 'returned', value }
  return value
}

/** A promise only where an output schema has to be asked. */
function problemOf(
  call: OpenCall,
  value: unknown,
): string | undefined | Promise<string | undefined> {
  try {
    const found = findBrokenSpot(value)?.problem ?? findOutputProblem(call, value)
    return found instanceof Promise ? found.catch(unreadable) : found
  } catch (error) {
    return unreadable(error)
  }
}

/** A getter or a Proxy of the tool's own: the SDK could not read it either. */
function unreadable(error: unknown): string {
  return `it cannot be read: ${describeError(error).message}`
}

/** `isError` without a word: the client would know that it failed, and nothing else. */
function isSilentError(value: unknown): boolean {
  return isRecord(value) && value.isError === true && isEmptyResult(value)
}

function settleThrown(call: OpenCall, failed: Extract<RetryResult<unknown>, { ok: false }>) {
  const { error, suppressed } = failed
  if (suppressed !== undefined) call.retrySuppressed = suppressed
  if (isUrlElicitation(error)) {
    call.handler = {
      state: 'decided',
      ending: { outcome: 'deferred' },
      answer: { kind: 'untouched' },
    }
    throw error
  }
  return decide(call, decisionOnFailure(call, failed))
}

function decide(call: OpenCall, { ending, answer }: Decision): unknown {
  call.handler = { state: 'decided', ending, answer }
  return answer.kind === 'result' ? answer.result : undefined
}

/** The context is the last argument in both SDKs: `extra` in v1, `ctx` in v2. */
function signalOf(context: unknown): AbortSignal | undefined {
  if (!isRecord(context)) return undefined
  const inner = isRecord(context.mcpReq) ? context.mcpReq : undefined
  const signal = context.signal ?? inner?.signal
  return signal instanceof AbortSignal ? signal : undefined
}
