import { type EndSignal, watchEndSignals } from './end-signals.ts'

/**
 * The end of this process, for whoever has a last line to write. One pair of process listeners
 * serves all watchers, because a stateless server makes a new wrapper for every request.
 *
 * Only `exit` and `uncaughtExceptionMonitor`, and signals that nobody else listens for: a listener
 * for unhandledRejection or uncaughtException would keep alive a process that Node would have ended.
 */
export type CrashOrigin = 'uncaughtException' | 'unhandledRejection'

export type EndWatcher = {
  /**
   * An exception that nobody caught. The process is about to end, unless the application has an
   * uncaughtException listener of its own.
   */
  onCrash?(error: unknown, origin: CrashOrigin): void
  /** After every onCrash: may end the process itself, to choose its exit code. */
  endCrash?(error: unknown): void
  /**
   * The process ends now; only synchronous work is still possible. `signal` where it is one that
   * ends it; the code is then 128 and its number, as a shell has it.
   */
  onExit?(code: number, signal?: EndSignal): void
}

const watchers = new Set<EndWatcher>()
let listening = false

/** Watchers hear in the order in which they began to watch. Returns the way to stop. */
export function watchProcessEnd(watcher: EndWatcher): () => void {
  watchers.add(watcher)
  if (!listening) {
    listening = true
    process.on('uncaughtExceptionMonitor', (error, origin) => {
      for (const each of [...watchers]) guarded(() => each.onCrash?.(error, origin))
      for (const each of [...watchers]) each.endCrash?.(error)
    })
    process.on('exit', (code) => tellOfExit(code))
    watchEndSignals((signal, code) => tellOfExit(code, signal))
  }
  return () => {
    watchers.delete(watcher)
  }
}

function tellOfExit(code: number, signal?: EndSignal): void {
  for (const each of [...watchers]) guarded(() => each.onExit?.(code, signal))
}

/** A watcher that throws would take the place of the error the process ends with. */
function guarded(work: () => void): void {
  try {
    work()
  } catch {
    return
  }
}

/** Whether the application itself decides what becomes of an exception that nobody caught. */
export function applicationHandlesCrashes(): boolean {
  return (
    process.listenerCount('uncaughtException') > 0 || process.hasUncaughtExceptionCaptureCallback()
  )
}

const recorded = new WeakSet<object>()

/** An error that is thrown once more on purpose, after its `fatal` record has been written. */
export function markRecorded(error: object): void {
  recorded.add(error)
}

export function isRecorded(error: unknown): boolean {
  return typeof error === 'object' && error !== null && recorded.has(error)
}
