/** Long work in short steps, so that whoever runs it can do other things in between. */
export type Steps<Result> = Generator<void, Result, void>

export function runToEnd<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/**
 * Runs steps for about `sliceMs` at a time, other work of the process in between. Rejects with what
 * a step throws; resolves with undefined once `isCancelled` says so.
 */
export async function runAside<Result>(
  steps: Steps<Result>,
  options: { sliceMs: number; isCancelled(): boolean },
): Promise<Result | undefined> {
  for (;;) {
    await new Promise<void>((resolve) => {
      // Not kept alive for this: a process may end with its findings half made.
      setTimeout(resolve, 0).unref()
    })
    if (options.isCancelled()) return undefined
    const until = performance.now() + options.sliceMs
    do {
      const step = steps.next()
      if (step.done) return step.value
    } while (performance.now() < until)
  }
}
