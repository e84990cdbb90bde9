import type { Attempt } from '../call-log/record.ts'
import { type AttemptContext, attemptContext } from './attempt-context.ts'
import type { Classification } from './classify.ts'

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

export type RetryRun<T> = {
  attempt(info: { attempt: number; reconnected: boolean }): Promise<T>
  classify(error: unknown): Classification
  /** False for a tool that must not run twice: its failures are final. */
  mayRepeat: boolean
  signal?: AbortSignal | undefined
  /** On the clock of `now`: no attempt starts at or after it. */
  deadlineAt?: number | undefined
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
  /** Never rejects. */
  run<T>(options: RetryRun<T>): Promise<RetryResult<T>>
}

const BUDGET_WINDOW_MS = 60_000
const BUDGET_SLOTS = 6

/** Make one for the process: its budget is what keeps an outage from being amplified. */
export function createRetryPolicy(
  options: RetryOptions = {},
  deps: RetryDependencies,
): RetryPolicy {
  const limits = checkedLimits(options)
  const budget = createBudget(limits.budgetRatio, limits.budgetMinimum, deps.now)

  return {
    async run<T>(work: RetryRun<T>): Promise<RetryResult<T>> {
      const attempts: Attempt[] = []
      const startedAt = deps.now()
      budget.countCall()
      let waitMs = 0
      let reconnected = false
      for (let attempt = 1; ; attempt++) {
        const context: AttemptContext = { retired: false, reconnected: false }
        const attemptStartedAt = deps.now()
        const entry: Attempt = { ms: 0 }
        if (attempt > 1) entry.wait_ms = waitMs
        attempts.push(entry)
        const ended = await settle(() =>
          attemptContext.run(context, () => work.attempt({ attempt, reconnected })),
        )
        entry.ms = rounded(deps.now() - attemptStartedAt)
        if (context.reconnected) entry.reconnected = true
        if (ended.ok) return { ok: true, value: ended.value, attempts }

        const classification = work.classify(ended.error)
        entry.class = classification.class
        if (classification.code !== undefined) entry.code = classification.code
        const failed = { ok: false, error: ended.error, classification, attempts } as const
        if (!classification.transient || work.signal?.aborted || attempt >= limits.attempts) {
          return failed
        }
        const next = planNext({ work, attempt, classification, startedAt })
        if ('suppressed' in next) return { ...failed, suppressed: next.suppressed }

        const waitStartedAt = deps.now()
        const slept = await settle(() => deps.sleep(next.waitMs, work.signal))
        if (!slept.ok) {
          const error = work.signal?.aborted ? work.signal.reason : ended.error
          return { ...failed, error, classification: work.classify(error) }
        }
        waitMs = rounded(deps.now() - waitStartedAt)
        reconnected = context.retired
      }
    },
  }

  function planNext<T>({
    work,
    attempt,
    classification,
    startedAt,
  }: {
    work: RetryRun<T>
    attempt: number
    classification: Classification
    startedAt: number
  }): { waitMs: number } | { suppressed: RetrySuppressed } {
    if (!work.mayRepeat) return { suppressed: 'unsafe' }
    const retryAfterS = classification.retryAfterS ?? 0
    if (retryAfterS > limits.retryAfterMaxS) return { suppressed: 'deadline' }
    const backoffMs = deps.random() * Math.min(limits.capMs, limits.baseMs * 2 ** (attempt - 1))
    const waitMs = retryAfterS * 1000 + backoffMs
    const nextAt = deps.now() + waitMs
    if (nextAt - startedAt > limits.totalMs) return { suppressed: 'deadline' }
    if (work.deadlineAt !== undefined && nextAt >= work.deadlineAt) {
      return { suppressed: 'deadline' }
    }
    if (!budget.takeRetry()) return { suppressed: 'budget' }
    return { waitMs }
  }
}

type Settled<T> = { ok: true; value: T } | { ok: false; error: unknown }

async function settle<T>(work: () => Promise<T>): Promise<Settled<T>> {
  try {
    return { ok: true, value: await work() }
  } catch (error) {
    return { ok: false, error }
  }
}

/** Counts in slots of ten seconds, so that the window slides without remembering each call. */
function createBudget(ratio: number, minimum: number, now: () => number) {
  const slotMs = BUDGET_WINDOW_MS / BUDGET_SLOTS
  let slots: { at: number; calls: number; retries: number }[] = []

  function currentSlot() {
    const at = Math.floor(now() / slotMs)
    slots = slots.filter((slot) => slot.at > at - BUDGET_SLOTS && slot.at <= at)
    let slot = slots.find((each) => each.at === at)
    if (!slot) {
      slot = { at, calls: 0, retries: 0 }
      slots.push(slot)
    }
    return slot
  }

  return {
    countCall(): void {
      currentSlot().calls += 1
    },
    takeRetry(): boolean {
      const slot = currentSlot()
      const calls = slots.reduce((sum, each) => sum + each.calls, 0)
      const retries = slots.reduce((sum, each) => sum + each.retries, 0)
      if (retries >= Math.max(minimum, calls * ratio)) return false
      slot.retries += 1
      return true
    },
  }
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

function rounded(ms: number): number {
  return Math.round(Math.max(0, ms) * 100) / 100
}
