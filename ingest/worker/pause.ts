/** A wait that can be ended early. */
export type Pause = {
  /** Resolves after waitMs, at the abort, or soon after `wake`. */
  wait(waitMs: number, signal: AbortSignal | undefined): Promise<void>
  wake(): void
}

/** `gapMs`: the shortest wait that `wake` makes of a longer one, so that a flood is no busy loop. */
export function createPause(gapMs: number): Pause {
  let wakeNow: (() => void) | undefined
  return {
    async wait(waitMs, signal) {
      if (signal?.aborted) return
      const startedAt = performance.now()
      await new Promise<void>((resolve) => {
        const done = (): void => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', done)
          wakeNow = undefined
          resolve()
        }
        let timer = setTimeout(done, waitMs)
        signal?.addEventListener('abort', done)
        wakeNow = () => {
          wakeNow = undefined
          clearTimeout(timer)
          timer = setTimeout(done, Math.max(0, gapMs - (performance.now() - startedAt)))
        }
      })
    },
    wake: () => wakeNow?.(),
  }
}
