import { AsyncLocalStorage } from 'node:async_hooks'
import { classify } from './classify.ts'
import { ConnectionError, TimeoutError } from './errors.ts'
import { callContext } from './open-call.ts'

export type ConnectionOptions<C> = {
  /** Closes a client that was retired. Its errors are ignored: the client is broken already. */
  close?: ((client: C) => unknown) | undefined
  /** Asked before a client that was idle for `checkAfterIdleMs` is used; false retires it. */
  check?: ((client: C) => boolean | Promise<boolean>) | undefined
  /** Default 30 000; 0 asks before each use. */
  checkAfterIdleMs?: number | undefined
  /** All calls wait for the one opening, so it may not take for ever. Default 30 000. */
  openTimeoutMs?: number | undefined
}

export type Connection<C> = {
  /** Runs `work` with the current client, opening one if there is none. */
  use<T>(work: (client: C) => Promise<T> | T): Promise<T>
  /** Closes the client. Nothing can be used afterwards. */
  close(): Promise<void>
}

type Lease<C> = {
  generation: number
  opening: Promise<C>
  users: number
  retired: boolean
  idleSince: number
}

/** A retired client still in use elsewhere is closed after this at the latest. */
const MAX_RETIREMENT_MS = 30_000

/**
 * Keeps one client to an upstream, and opens a new one after a connection failure. Clients are
 * numbered: a failure retires the generation that it came from and no other, so fifty calls that
 * fail together cause one new client, and a late error of an old client cannot hurt it.
 */
export function connection<C>(
  open: () => Promise<C> | C,
  options: ConnectionOptions<C> = {},
): Connection<C> {
  if (typeof open !== 'function') {
    throw new TypeError('connection(open) needs a function that opens a client')
  }
  const { checkAfterIdleMs = 30_000, openTimeoutMs = 30_000 } = options
  // A client outlives the call that happens to open it: what its sockets do later must not count
  // as that call's doing.
  const outsideOfCalls = AsyncLocalStorage.snapshot()
  let generation = 0
  let failedGeneration = 0
  let current: Lease<C> | undefined
  let closed = false

  function lease(): Lease<C> {
    if (closed) throw new ConnectionError('The connection was closed by the server itself.')
    if (current) return current
    generation += 1
    const fresh: Lease<C> = {
      generation,
      opening: openInTime(),
      users: 0,
      retired: false,
      idleSince: Date.now(),
    }
    current = fresh
    // Whoever waits for it sees the failure; the next use tries again.
    fresh.opening.catch(() => retire(fresh, true))
    return fresh
  }

  async function openInTime(): Promise<C> {
    const opening = outsideOfCalls(async () => open())
    let timer: NodeJS.Timeout | undefined
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        opening.then((client) => options.close?.(client)).catch(() => undefined)
        reject(new TimeoutError(`The connection was not open after ${openTimeoutMs} ms.`))
      }, openTimeoutMs)
    })
    return Promise.race([opening, tooLate]).finally(() => clearTimeout(timer))
  }

  function retire(old: Lease<C>, failed: boolean): void {
    if (failed) failedGeneration = Math.max(failedGeneration, old.generation)
    if (old.retired) return
    old.retired = true
    if (current === old) current = undefined
    if (old.users === 0) void closeQuietly(old)
    else setTimeout(() => closeQuietly(old), MAX_RETIREMENT_MS).unref()
  }

  const closing = new WeakMap<Lease<C>, Promise<void>>()

  function closeQuietly(old: Lease<C>): Promise<void> {
    let done = closing.get(old)
    if (!done) {
      done = old.opening
        .then((client) => options.close?.(client))
        .then(
          () => undefined,
          () => undefined,
        )
      closing.set(old, done)
    }
    return done
  }

  async function healthy(held: Lease<C>, client: C): Promise<boolean> {
    if (!options.check || Date.now() - held.idleSince < checkAfterIdleMs || held.users > 1) {
      return true
    }
    try {
      return await options.check(client)
    } catch {
      return false
    }
  }

  async function acquire(): Promise<{ held: Lease<C>; client: C }> {
    const held = lease()
    held.users += 1
    try {
      const client = await held.opening
      if (await healthy(held, client)) return { held, client }
    } catch (error) {
      release(held)
      throw error
    }
    retire(held, true)
    release(held)
    const next = lease()
    next.users += 1
    try {
      return { held: next, client: await next.opening }
    } catch (error) {
      release(next)
      throw error
    }
  }

  function release(held: Lease<C>): void {
    held.users -= 1
    held.idleSince = Date.now()
    if (held.retired && held.users === 0) void closeQuietly(held)
  }

  return {
    async use(work) {
      // Kept: code that an earlier attempt left running must not speak for a later one.
      const attempt = callContext.getStore()?.attempt
      const awaitsReopening = failedGeneration === generation && generation > 0
      const { held, client } = await acquire()
      if (attempt && awaitsReopening && held.generation > failedGeneration) {
        attempt.reconnected = true
      }
      try {
        return await work(client)
      } catch (error) {
        if (isBroken(error)) {
          retire(held, true)
          if (attempt) attempt.retired = true
        }
        throw error
      } finally {
        release(held)
      }
    },

    async close() {
      closed = true
      const last = current
      if (!last) return
      retire(last, false)
      await closeQuietly(last)
    },
  }
}

/**
 * Whether the error says that the client itself is of no use any more. An upstream that answers
 * 503 has a connection that works, and a request that was called off has harmed none.
 */
function isBroken(error: unknown): boolean {
  const { class: kind, status, code } = classify(error)
  return kind === 'connection' && status === undefined && code !== 'ABORT_ERR'
}
