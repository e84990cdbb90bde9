import { AsyncLocalStorage } from 'node:async_hooks'

/** What `connection` tells the retry loop about the attempt it is used in. */
export type AttemptContext = {
  /** The attempt's client failed and was retired: the next attempt gets a new one. */
  retired: boolean
  /** The attempt was made on a client opened anew after a connection failure. */
  reconnected: boolean
}

export const attemptContext = new AsyncLocalStorage<AttemptContext>()
