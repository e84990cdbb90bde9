import type {
  ArgumentIssue,
  Attempt,
  Outcome,
  RecordedError,
  ResultFacts,
} from '../server/call-log/record.ts'
import { type AttemptFailure, failedAttempt, milliseconds } from './failures.ts'
import type { Plant } from './planted.ts'
import type { Random } from './random.ts'
import type { Tool } from './world.ts'

/** The wrapper's defaults. */
const MOST_ATTEMPTS = 3
const RETRY_BASE_MS = 200

/** How a call goes: the part of its record that is not known when it starts. */
export type Fate = {
  outcome: Outcome
  durationMs: number
  handlerMs?: number | undefined
  attempts: Attempt[]
  error?: RecordedError | undefined
  issues?: ArgumentIssue[] | undefined
  dropped?: string[] | undefined
  result?: ResultFacts | undefined
  delivered?: false | undefined
  retrySuppressed?: string | undefined
  /** The handler ended only this long after the call's start, when nobody waited for it. */
  lateMs?: number | undefined
  plant?: Plant | undefined
}

/** Time that the call took outside its handler. */
function overheadMs(random: Random): number {
  return random.logNormal(0.35, 0.5)
}

export function succeeded(tool: Tool, random: Random): Fate {
  const ms = milliseconds(random.logNormal(tool.medianMs, tool.sigma))
  return {
    outcome: 'succeeded',
    durationMs: milliseconds(ms + overheadMs(random)),
    handlerMs: ms,
    attempts: [{ ms }],
    result: resultOf(tool, random),
  }
}

function resultOf(tool: Tool, random: Random): ResultFacts {
  return { bytes: Math.round(tool.resultBytes * (0.25 + 0.75 * random.next())), blocks: 1 }
}

/** Answered before the handler was reached. */
export function refused(
  random: Random,
  issues: ArgumentIssue[] | undefined,
  error: RecordedError,
): Fate {
  const durationMs = milliseconds(random.logNormal(0.9, 0.4))
  return { outcome: 'failed', durationMs, attempts: [], error, ...(issues && { issues }) }
}

/** Failed for good: after all attempts where the wrapper may repeat the call, else after one. */
export function failed(tool: Tool, fail: () => AttemptFailure, random: Random): Fate {
  const last = fail()
  const attempts = [failedAttempt(last)]
  if (last.transient && tool.repeatable) {
    while (attempts.length < MOST_ATTEMPTS) {
      attempts.push({ ...failedAttempt(fail()), ...secondTry(last, attempts.length, random) })
    }
  }
  return {
    ...timesOf(attempts, random),
    outcome: 'failed',
    attempts,
    error: last.error,
    ...(last.transient && !tool.repeatable && { retrySuppressed: 'unsafe' }),
  }
}

export function rescued(tool: Tool, failure: AttemptFailure, random: Random): Fate {
  const ms = milliseconds(random.logNormal(tool.medianMs, tool.sigma))
  const attempts = [failedAttempt(failure), { ms, ...secondTry(failure, 1, random) }]
  return {
    ...timesOf(attempts, random),
    outcome: 'retried',
    attempts,
    result: resultOf(tool, random),
    plant: 'rescued',
  }
}

/** Full jitter over a base that doubles; a client is opened anew after a connection failure. */
function secondTry(failure: AttemptFailure, attemptsSoFar: number, random: Random) {
  const waitMs = random.next() * RETRY_BASE_MS * 2 ** (attemptsSoFar - 1)
  return {
    wait_ms: milliseconds(waitMs),
    ...(failure.error.class === 'connection' && { reconnected: true }),
  }
}

function timesOf(attempts: Attempt[], random: Random): { durationMs: number; handlerMs: number } {
  const handlerMs = attempts.reduce((sum, { ms }) => sum + ms, 0)
  const waitMs = attempts.reduce((sum, { wait_ms = 0 }) => sum + wait_ms, 0)
  return {
    durationMs: milliseconds(handlerMs + waitMs + overheadMs(random)),
    handlerMs: milliseconds(handlerMs),
  }
}

/** Closed before its handler had ended. */
export function abandoned(durationMs: number, random: Random, error: RecordedError): Fate {
  return {
    outcome: 'failed',
    durationMs: milliseconds(durationMs),
    attempts: [{ ms: milliseconds(durationMs), class: error.class }],
    error,
    delivered: false,
    lateMs: milliseconds(durationMs + random.logNormal(3_000, 0.6)),
  }
}
