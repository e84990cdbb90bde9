import type { ChildProcess } from 'node:child_process'
import { type ChildMessage, isChildMessage } from './child-messages.ts'
import { CommandError } from './command-error.ts'
import { EXIT } from './exit-codes.ts'
import { spawnSelf } from './spawn-self.ts'

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000
/** A child that lived this long did not die of its start. */
const STEADY_MS = 60_000
/** Ctrl-C ends everything within two seconds; a child gets most of that. */
const PATIENCE_MS = 1_200
/** How long a message that was sent before the end may take to arrive after it. */
const LAST_MESSAGE_MS = 200

export type SuperviseOptions = {
  /** For sentences: "The ingest worker". */
  title: string
  args: readonly string[]
  env?: NodeJS.ProcessEnv | undefined
  /** Where the child's stderr goes; default: ours. */
  stderr?: number | undefined
  onMessage?: ((message: ChildMessage) => void) | undefined
  /** Told in a sentence when the child died, and what follows. */
  onTrouble(sentence: string): void
  /** Once it has aborted, the end of the child is no trouble: Ctrl-C reaches it too. */
  stop: AbortSignal
}

export type Supervised = {
  /**
   * Resolves once the child said so; rejects with a CommandError where it ended before. Does neither
   * after `stop`.
   */
  ready: Promise<void>
  /** Resolves when it is gone. */
  stop(): Promise<void>
}

/**
 * Keeps a child of ours running: started again after a growing pause when it dies, but not where
 * another process holds the database, since then that one does the work.
 */
export function supervise(options: SuperviseOptions): Supervised {
  let child: ChildProcess | undefined
  let restart: NodeJS.Timeout | undefined
  let stopping = false
  let wasReady = false
  let pauseMs = FIRST_PAUSE_MS
  const ready = withResolvers()

  const start = (): void => {
    const startedMs = performance.now()
    let failure: { message: string; exitCode: number } | undefined
    child = spawnSelf(options)
    child.on('message', (message) => {
      if (!isChildMessage(message)) return
      if (message.kind === 'failed') failure = message
      if (message.kind === 'ready') {
        wasReady = true
        ready.resolve()
      }
      options.onMessage?.(message)
    })
    child.once('error', (error) => {
      failure ??= {
        message: `${options.title} cannot be started: ${error.message}.`,
        exitCode: EXIT.failure,
      }
    })
    onceGone(child, (code, signal) => {
      child = undefined
      if (stopping || options.stop.aborted) return
      const how = signal ? `signal ${signal}` : `exit code ${code}`
      if (!wasReady) {
        const message = failure?.message ?? `${options.title} ended with ${how}.`
        ready.reject(new CommandError(message, failure?.exitCode ?? EXIT.failure))
      } else if (failure?.exitCode === EXIT.leaseHeld) options.onTrouble(failure.message)
      else again(performance.now() - startedMs, failure?.message ?? how)
    })
  }

  const again = (livedMs: number, reason: string): void => {
    if (livedMs > STEADY_MS) pauseMs = FIRST_PAUSE_MS
    options.onTrouble(`${options.title} ended (${reason}) and starts again in ${pauseMs / 1000} s.`)
    restart = setTimeout(start, pauseMs)
    pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)
  }

  const stop = async (): Promise<void> => {
    stopping = true
    clearTimeout(restart)
    if (child) await endChild(child)
  }

  start()
  // Whoever waits for it hears of a failure; before that it must not end the process.
  ready.promise.catch(() => undefined)
  let stopped: Promise<void> | undefined
  return {
    ready: ready.promise,
    stop() {
      stopped ??= stop()
      return stopped
    },
  }
}

/**
 * `exit` may come before the last message, and `close` never where the channel was closed from this
 * side: whichever tells first.
 */
function onceGone(
  child: ChildProcess,
  tell: (code: number | null, signal: NodeJS.Signals | null) => void,
): void {
  let told = false
  const once = (code: number | null, signal: NodeJS.Signals | null): void => {
    if (!told) tell(code, signal)
    told = true
  }
  child.once('close', once)
  child.once('error', () => {
    if (child.pid === undefined) once(null, null)
  })
  child.once('exit', (code, signal) => setTimeout(once, LAST_MESSAGE_MS, code, signal))
}

/** Closing the channel asks it to finish, on every platform; then it is made to. */
async function endChild(child: ChildProcess): Promise<void> {
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const impatience = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
  if (child.connected) child.disconnect()
  await gone
  clearTimeout(impatience)
}

type Resolvers = { promise: Promise<void>; resolve(): void; reject(error: Error): void }

/** Promise.withResolvers, which Node has from 22 on. */
function withResolvers(): Resolvers {
  let resolve: () => void = () => undefined
  let reject: (error: Error) => void = () => undefined
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}
