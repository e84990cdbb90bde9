import type { Attempt } from '../call-log/record.ts'
import { readProperty } from '../safe-read.ts'
import type { Classification } from './classify.ts'
import { createRetryBudget } from './retry-budget.ts'
import { roundedMs } from './rounded-ms.ts'

export type RetryOptions = {
  /** Attempts in all, the first included. 1 turns retrying off. Default 3. */
  attempts?: number | undefined
  /** The first wait is drawn from 0 to this; it doubles with each attempt. Default 200. */
  baseMs?: number | undefined
  /** No wait by backoff is longer. Default 2000. */
  capMs?: number | undefined
  /** No attempt starts later than this after the first began. Default 10 000. */
  totalMs?: number | undefined
  /** A Retry-After beyond this many seconds is not waited for: the call fails at once. Default 5. */
  retryAfterMaxS?: number | undefined
  /** Retries in a minute, as a share of the calls in that minute. Default 0.1. */
  budgetRatio?: number | undefined
  /** Retries in a minute that are always allowed. Default 10. */
  budgetMinimum?: number | undefined
}

export type RetryDependencies = {
  /** Milliseconds from any fixed point. */
  now(): number
  /** 0 ≤ number < 1. */
  random(): number
  /** Rejects when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** Why a transient failure was not repeated. `deadline`: the wait would not fit in the time left. */
export type RetrySuppressed = 'unsafe' | 'budget' | 'deadline'

/** What the code of one attempt, such as a `connection`, tells the policy about it. */
export type AttemptReport = {
  /** The attempt's client failed and was retired: the next attempt gets a new one. */
  retired: boolean
  /** The attempt was made on a client opened anew after a connection failure. */
  reconnected: boolean
}

export type RetryRun<T> = {
  /** May throw, or give a promise. */
  attempt(report: AttemptReport): T | Promise<T>
  classify(error: unknown): Classification
  /** False for a tool that must not run twice: its failures are final. Asked after a failure. */
  mayRepeat(): boolean
  signal?: AbortSignal | undefined
  /** Filled as the attempts are made, for a call that ends between two of them. */
  attempts?: Attempt[] | undefined
  /** How long the call may still take: no attempt starts after it. */
  timeLeftMs?: (() => number) | undefined
}

export type RetryResult<T> =
  | { ok: true; value: T; attempts: Attempt[] }
  | {
      ok: false
      error: unknown
      classification: Classification
      attempts: Attempt[]
      suppressed?: RetrySuppressed
    }

export type RetryPolicy = {
  /**
   * Makes attempts until one succeeds or no other is allowed, and gives what `settled` makes of the
   * result. At once, if the first attempt ends at once; it costs one promise if that succeeds later,
   * because this stands in the way of every call.
   */
  run<T, R>(work: RetryRun<T>, settled: (result: RetryResult<T>) => R): R | Promise<R>
}

type Running<T> = { work: RetryRun<T>; attempts: Attempt[]; startedAt: number }
type Started = { entry: Attempt; report: AttemptReport; startedAt: number }

/** Make one for the process: its budget is what keeps an outage from being amplified. */
export function createRetryPolicy(
  options: RetryOptions = {},
  deps: RetryDependencies,
): RetryPolicy {
  const limits = checkedLimits(options)
  const budget = createRetryBudget({
    ratio: limits.budgetRatio,
    minimum: limits.budgetMinimum,
    now: deps.now,
  })

  function begin({ attempts }: Running<unknown>, repeats: Partial<Attempt>): Started {
    const entry: Attempt = { ms: 0, ...repeats }
    attempts.push(entry)
    return { entry, report: { retired: false, reconnected: false }, startedAt: deps.now() }
  }

  function end({ entry, report, startedAt }: Started): void {
    entry.ms = roundedMs(deps.now() - startedAt)
    if (report.reconnected) entry.reconnected = true
  }

  function succeeded<T>(run: Running<T>, attempt: Started, value: T): RetryResult<T> {
    end(attempt)
    return { ok: true, value, attempts: run.attempts }
  }

  /** Goes on after the first attempt has failed. Never rejects. */
  async function goOn<T>(run: Running<T>, first: Started, cause: unknown): Promise<RetryResult<T>> {
    const { work, attempts } = run
    let last = first
    let error = cause
    for (;;) {
      end(last)
      const classification = work.classify(error)
      last.entry.class = classification.class
      if (classification.code !== undefined) last.entry.code = classification.code
      const failed = { ok: false, error, classification, attempts } as const
      if (!classification.transient || work.signal?.aborted || attempts.length >= limits.attempts) {
        return failed
      }
      const next = planNext(run, classification)
      if ('suppressed' in next) return { ...failed, suppressed: next.suppressed }
      const waitStartedAt = deps.now()
      if (!(await sleeps(next.waitMs, work.signal))) {
        const reason = work.signal?.aborted ? work.signal.reason : error
        return { ...failed, error: reason, classification: work.classify(reason) }
      }
      last = begin(run, { wait_ms: roundedMs(deps.now() - waitStartedAt) })
      try {
        return succeeded(run, last, await work.attempt(last.report))
      } catch (failure) {
        error = failure
      }
    }
  }

  async function sleeps(ms: number, signal: AbortSignal | undefined): Promise<boolean> {
    try {
      await deps.sleep(ms, signal)
      return true
    } catch {
      return false
    }
  }

  function planNext(
    { work, attempts, startedAt }: Running<unknown>,
    { retryAfterS = 0 }: Classification,
  ): { waitMs: number } | { suppressed: RetrySuppressed } {
    if (!work.mayRepeat()) return { suppressed: 'unsafe' }
    if (retryAfterS > limits.retryAfterMaxS) return { suppressed: 'deadline' }
    const backoffMs =
      deps.random() * Math.min(limits.capMs, limits.baseMs * 2 ** (attempts.length - 1))
    const waitMs = retryAfterS * 1000 + backoffMs
    const timeLeftMs = work.timeLeftMs?.() ?? Number.POSITIVE_INFINITY
    if (deps.now() + waitMs - startedAt > limits.totalMs || waitMs >= timeLeftMs) {
      return { suppressed: 'deadline' }
    }
    if (!budget.takeRetry()) return { suppressed: 'budget' }
    return { waitMs }
  }

  return {
    run<Value, Settled>(work: RetryRun<Value>, settled: (result: RetryResult<Value>) => Settled) {
      const run: Running<Value> = { work, attempts: work.attempts ?? [], startedAt: deps.now() }
      budget.countCall()
      const first = begin(run, {})
      let value: Promise<Value> | Value
      try {
        value = work.attempt(first.report)
      } catch (error) {
        return goOn(run, first, error).then(settled)
      }
      if (!isThenable(value)) return settled(succeeded(run, first, value))
      return Promise.resolve(value).then(
        (done) => settled(succeeded(run, first, done)),
        (error) => goOn(run, first, error).then(settled),
      )
    },
  }
}

function isThenable<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof readProperty(value, 'then') === 'function'
}

function checkedLimits(options: RetryOptions): Required<{
  [K in keyof RetryOptions]: number
}> {
  const limits = {
    attempts: options.attempts ?? 3,
    baseMs: options.baseMs ?? 200,
    capMs: options.capMs ?? 2_000,
    totalMs: options.totalMs ?? 10_000,
    retryAfterMaxS: options.retryAfterMaxS ?? 5,
    budgetRatio: options.budgetRatio ?? 0.1,
    budgetMinimum: options.budgetMinimum ?? 10,
  }
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isFinite(value) || value < 0) {
      throw new RangeError(`retry.${name} must be a number of at least 0, not ${String(value)}`)
    }
  }
  if (!Number.isInteger(limits.attempts) || limits.attempts < 1) {
    throw new RangeError(
      `retry.attempts must be a whole number of at least 1 (1 = never repeat), not ${limits.attempts}`,
    )
  }
  return limits
}
