import { isMainThread } from 'node:worker_threads'

/** With these a client or an operator stops a server. Node's default: die at once, no `exit` event. */
const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const
export type EndSignal = keyof typeof SIGNALS

/**
 * Tells of a signal that ends the process, and then lets it: the signal is sent again, and the
 * process dies of it as it would have. Only where nobody else listens for it. Once another listener
 * comes, ours goes, because two polite listeners that each leave it to the other would keep the
 * process alive for ever.
 */
export function watchEndSignals(onEnd: (signal: EndSignal, code: number) => void): void {
  if (!isMainThread) return
  for (const [signal, number] of Object.entries(SIGNALS) as [EndSignal, number][]) {
    watchSignal(signal, () => onEnd(signal, 128 + number))
  }
}

function watchSignal(signal: EndSignal, tell: () => void): void {
  function ours(): void {
    process.removeListener('removeListener', onRemoved)
    process.removeListener(signal, ours)
    try {
      tell()
    } finally {
      process.kill(process.pid, signal)
    }
  }

  function install(): void {
    if (process.listenerCount(signal) > 0) return
    try {
      process.on(signal, ours)
    } catch {
      // Not every platform has every signal.
      return
    }
  }

  function onAdded(name: string | symbol, listener: unknown): void {
    if (name !== signal || listener === ours) return
    // Not before the other one is there: Node stops hearing a signal when its last listener goes.
    process.nextTick(() => {
      if (process.listenerCount(signal) > 1) process.removeListener(signal, ours)
    })
  }

  function onRemoved(name: string | symbol, listener: unknown): void {
    if (name === signal && listener !== ours) install()
  }

  process.on('newListener', onAdded)
  process.on('removeListener', onRemoved)
  install()
}
