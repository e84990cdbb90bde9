const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']
const SECOND_SIGNAL_MS = 500
const LONGEST_END_MS = 1_900
const LAUNCHER_LOOK_MS = 500

/**
 * Aborts when the process is asked to end: by a signal, or, in a child of ours, by the end of the
 * parent, however that came about. A launcher may pass on a signal that the terminal has sent too,
 * so only a signal that comes later than that ends the process at once.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController()
  let firstMs = 0
  for (const name of SIGNALS) {
    process.on(name, () => {
      if (!controller.signal.aborted) {
        firstMs = performance.now()
        controller.abort()
      } else if (performance.now() - firstMs > SECOND_SIGNAL_MS) process.exit(1)
    })
  }
  if (process.connected) process.on('disconnect', () => controller.abort())
  watchLauncher(() => controller.abort())
  controller.signal.addEventListener('abort', () => {
    // Whatever still holds on: what is on disk is whole, and the children go when we do.
    setTimeout(() => process.exit(1), LONGEST_END_MS).unref()
  })
  return controller.signal
}

/**
 * npm passes SIGTERM on to the shell that it starts scripts with, and that ends without passing it
 * on: we would run on as an orphan. So the end of that shell is a request to end too.
 */
function watchLauncher(onEnd: () => void): void {
  if (!process.env.npm_execpath || process.connected) return
  const launcher = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === launcher) return
    clearInterval(timer)
    onEnd()
  }, LAUNCHER_LOOK_MS)
  timer.unref()
}

/** Resolves once `signal` has aborted. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** Waits for `work`, but not beyond the abort; false where that came first. */
export async function unlessAborted(signal: AbortSignal, work: Promise<unknown>): Promise<boolean> {
  await Promise.race([work, untilAborted(signal)])
  return !signal.aborted
}
