const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']
const SECOND_SIGNAL_MS = 500

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
  return controller.signal
}

/** Resolves once `signal` has aborted. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
