import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import type { OpenCallEntry } from '../call-log/open-journal.ts'
import type {
  ArgumentIssue,
  Attempt,
  CallRecord,
  NameAndVersion,
  Outcome,
  RecordedError,
  ResultFacts,
  Transport,
} from '../call-log/record.ts'
import type { RedactedArguments } from '../call-log/redacted-arguments.ts'
import { captureArguments } from './capture-arguments.ts'
import type { Deadline } from './deadline.ts'
import type { FatalError } from './errors.ts'
import type { JsonRpcId, ToolResult } from './mcp-shapes.ts'
import type { ToolSettings } from './options.ts'
import type { AttemptReport } from './retry.ts'
import { roundedMs } from './rounded-ms.ts'
import { observing } from './warn-once.ts'
import type { WrapperContext } from './wrapper-context.ts'

/** Longest tool name or request id that goes into a record: a client may send a megabyte of it. */
const MAX_NAME_LENGTH = 200

/** How a call ended, as far as the record tells it. */
export type Ending = {
  outcome: Outcome
  error?: RecordedError | undefined
  issues?: ArgumentIssue[] | undefined
  result?: ResultFacts | undefined
  delivered?: false | undefined
}

/** What the guard knows about the handler; the tap joins it with the answer that goes out. */
export type HandlerState =
  | { state: 'not_run' }
  /** `since`: when the latest attempt began. */
  | { state: 'running'; since: number }
  | { state: 'returned'; value: unknown }
  | { state: 'decided'; ending: Ending; answer: GuardAnswer }

/** What the guard gave the SDK in place of the handler's own result. */
export type GuardAnswer =
  | { kind: 'result'; result: ToolResult; fatal?: FatalError }
  /** An error the client must see as it is, such as a URL elicitation. */
  | { kind: 'untouched' }

export type CallInit = {
  tool: string
  request: JsonRpcId
  arguments: unknown
  /** Whether the request speaks a revision whose results must carry a `resultType`. */
  modern: boolean
  /** The client wants a task in place of the result: it takes nothing else but an error. */
  asksForTask: boolean
  /** What is wrong with the tool's name where there is none: `missing`, `a number`. */
  nameFault?: string | undefined
  session?: string | undefined
  client?: NameAndVersion | undefined
  protocol?: string | undefined
  transport: Transport
  trace?: string | undefined
}

/** The call that the running code belongs to. */
export const callContext = new AsyncLocalStorage<OpenCall>()

const processPrefix = randomBytes(6).toString('hex')
let callCount = 0

/** Unique over processes and hosts; short enough to be read aloud. */
function newCallId(): string {
  callCount += 1
  return `${processPrefix}-${callCount.toString(36)}`
}

/** One `tools/call` from its arrival until its one record is written. */
export class OpenCall {
  readonly id = newCallId()
  readonly init: CallInit
  readonly context: WrapperContext
  readonly startedAt: number
  /** The arguments as they arrived, redacted at once: a handler may change its own. */
  readonly args: RedactedArguments | undefined
  handler: HandlerState = { state: 'not_run' }
  readonly attempts: Attempt[] = []
  /** What the running attempt's code has to say to the retry policy. */
  attempt: AttemptReport | undefined
  retrySuppressed: string | undefined
  dropped: string[] | undefined
  /** Writes to stdout during the call that were sent to stderr. */
  strayStdout: number | undefined
  deadline: Deadline | undefined
  /** The reason of a cancellation that came by another transport, where there are no sessions. */
  givenUp: string | undefined
  /** The answer is on its way; whatever ends now, this is how the call ended. */
  answering: Ending | undefined
  #closed = false
  #earlierRunsMs = 0
  readonly #since = performance.now()

  constructor(init: CallInit, context: WrapperContext) {
    this.init = init
    this.context = context
    this.startedAt = context.settings.now()
    const { capture } = context.settings.forTool(init.tool)
    this.args =
      context.log || context.settings.tellOwnLogger
        ? captureArguments(init.arguments, capture)
        : undefined
  }

  get tool(): string {
    return this.init.tool
  }

  get settings(): ToolSettings {
    return this.context.settings.forTool(this.init.tool)
  }

  get closed(): boolean {
    return this.#closed
  }

  get ageMs(): number {
    return roundedMs(performance.now() - this.#since)
  }

  /** Writes the call's one record. Later calls of it do nothing. */
  close(ending: Ending): void {
    if (this.#closed) return
    this.#closed = true
    this.deadline?.stop()
    const { log, settings } = this.context
    if (!log && !settings.tellOwnLogger) return
    observing('Writing a call record', () => {
      const record = this.#recordOf(ending)
      log?.record(record)
      settings.tellOwnLogger?.(record)
    })
  }

  /** A handler that ended after its call was closed. */
  recordLate(outcome: 'succeeded' | 'failed'): void {
    const { log } = this.context
    observing('Writing a late record', () =>
      log?.record({
        kind: 'late',
        call: this.id,
        tool: cut(this.tool),
        ms: this.ageMs,
        outcome,
      }),
    )
  }

  /** The handler starts, or starts over with the input that its first run has asked for. */
  beginRun(): void {
    this.#earlierRunsMs += timeOf(this.attempts) ?? 0
    this.attempts.length = 0
  }

  /** The running attempt, if there is one, ends with the call. */
  #attemptsAtEnd(ending: Ending): Attempt[] {
    const last = this.attempts.at(-1)
    const { handler } = this
    if (handler.state !== 'running' || !last || last.class !== undefined) return this.attempts
    const ms = roundedMs(performance.now() - handler.since)
    const ended = { ...last, ms, ...(ending.error ? { class: ending.error.class } : {}) }
    return [...this.attempts.slice(0, -1), ended]
  }

  /** What the journal keeps of it while it runs. */
  entry(): OpenCallEntry {
    const { init } = this
    return {
      server: this.context.serverName(),
      call: this.id,
      tool: cut(init.tool),
      request: typeof init.request === 'string' ? cut(init.request) : init.request,
      session: init.session,
      client: init.client,
      protocol: init.protocol,
      transport: init.transport,
      trace: init.trace,
      started: this.startedAt,
      args: this.args,
    }
  }

  /** In the order of the format. What is undefined here is absent from the line. */
  #recordOf(ending: Ending): CallRecord {
    const { init } = this
    const attempts = this.#attemptsAtEnd(ending)
    return {
      kind: 'call',
      server: this.context.serverName(),
      call: this.id,
      tool: cut(init.tool),
      request: typeof init.request === 'string' ? cut(init.request) : init.request,
      session: init.session,
      client: init.client,
      protocol: init.protocol,
      transport: init.transport,
      trace: init.trace,
      started: this.startedAt,
      duration_ms: this.ageMs,
      handler_ms: timeOf(attempts, this.#earlierRunsMs),
      args_hash: this.args?.hash,
      dropped: this.dropped,
      outcome: ending.outcome,
      attempts,
      error: ending.error,
      issues: ending.issues,
      result: ending.result,
      delivered: ending.delivered,
      retry_suppressed: this.retrySuppressed,
      stray_stdout: this.strayStdout,
      args: this.args,
    }
  }
}

/** Undefined where no attempt was made. */
function timeOf(attempts: readonly Attempt[], earlierMs = 0): number | undefined {
  const [first] = attempts
  if (!first || (attempts.length === 1 && earlierMs === 0)) return first?.ms
  return roundedMs(attempts.reduce((sum, { ms }) => sum + ms, earlierMs))
}

function cut(text: string): string {
  return text.length <= MAX_NAME_LENGTH ? text : `${text.slice(0, MAX_NAME_LENGTH)}…`
}
