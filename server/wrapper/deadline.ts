import { isId, isRecord, type JsonRpcId } from './mcp-shapes.ts'
import { callContext, type OpenCall } from './open-call.ts'

/** Time that a call has left. Starts at once. */
export type Deadline = {
  /** A person may be typing: the clock stands still until every pause has ended. */
  pause(): void
  resume(): void
  /** The tool has shown that it gets on: the whole time is given again. */
  restart(): void
  stop(): void
  /** As if it started again now, where it stands still. */
  leftMs(): number
}

export function startDeadline(
  ms: number,
  expire: () => void,
  now: () => number = () => performance.now(),
): Deadline {
  let leftMs = ms
  let pauses = 0
  let since = now()
  let timer: NodeJS.Timeout | undefined = setTimeout(expire, leftMs)
  // A hung call must not keep alive a server that has nothing else to do.
  timer.unref()

  function run(): void {
    since = now()
    timer = setTimeout(expire, leftMs)
    timer.unref()
  }

  function halt(): void {
    clearTimeout(timer)
    timer = undefined
  }

  return {
    pause() {
      pauses += 1
      if (pauses > 1 || timer === undefined) return
      halt()
      leftMs = Math.max(0, leftMs - (now() - since))
    },
    resume() {
      if (pauses === 0) return
      pauses -= 1
      if (pauses === 0) run()
    },
    restart() {
      leftMs = ms
      if (pauses > 0 || timer === undefined) return
      halt()
      run()
    },
    leftMs() {
      return timer === undefined ? leftMs : Math.max(0, leftMs - (now() - since))
    },
    stop() {
      halt()
      pauses = Number.POSITIVE_INFINITY
    },
  }
}

/** Requests to the client that a person, or a model, has to answer. */
const SLOW_REQUESTS = new Set(['elicitation/create', 'sampling/createMessage', 'roots/list'])

/** Sees to it that the deadlines of one transport are fair: see `Deadline`. */
export function createDeadlineWatch() {
  const asked = new Map<JsonRpcId, OpenCall>()
  return {
    onSend(message: unknown): void {
      const call = callContext.getStore()
      if (!call?.deadline || !isRecord(message)) return
      if (message.method === 'notifications/progress') call.deadline.restart()
      if (isId(message.id) && SLOW_REQUESTS.has(String(message.method))) {
        asked.set(message.id, call)
        call.deadline.pause()
      }
    },
    onResponse(id: unknown): void {
      if (!isId(id)) return
      asked.get(id)?.deadline?.resume()
      asked.delete(id)
    },
  }
}
