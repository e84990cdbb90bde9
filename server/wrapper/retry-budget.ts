const WINDOW_MS = 60_000
const SLOTS = 6
const SLOT_MS = WINDOW_MS / SLOTS

export type RetryBudget = {
  countCall(): void
  /** Whether one more retry is allowed; if so, it counts. */
  takeRetry(): boolean
}

export type RetryBudgetOptions = {
  /** Retries in a minute, as a share of the calls in that minute. */
  ratio: number
  /** Retries in a minute that are always allowed. */
  minimum: number
  /** Milliseconds from any fixed point. */
  now(): number
}

type Slot = { at: number; calls: number; retries: number }

/**
 * Keeps an outage from being amplified by retries. Counts in slots of ten seconds, so that the
 * window slides without remembering each call.
 */
export function createRetryBudget({ ratio, minimum, now }: RetryBudgetOptions): RetryBudget {
  let current: Slot = { at: Number.NaN, calls: 0, retries: 0 }
  let slots: Slot[] = []

  function currentSlot(): Slot {
    const at = Math.floor(now() / SLOT_MS)
    if (current.at === at) return current
    current = { at, calls: 0, retries: 0 }
    slots = [...slots.filter((slot) => slot.at > at - SLOTS && slot.at < at), current]
    return current
  }

  return {
    countCall() {
      currentSlot().calls += 1
    },
    takeRetry() {
      const slot = currentSlot()
      const calls = slots.reduce((sum, each) => sum + each.calls, 0)
      const retries = slots.reduce((sum, each) => sum + each.retries, 0)
      if (retries >= Math.max(minimum, calls * ratio)) return false
      slot.retries += 1
      return true
    },
  }
}
