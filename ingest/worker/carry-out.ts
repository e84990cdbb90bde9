import { randomUUID } from 'node:crypto'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { openReader } from '../store/open-database.ts'
import {
  type Answer,
  placeRequest,
  type Request,
  type RequestKind,
  readAnswer,
  withdrawRequest,
} from '../store/requests.ts'
import { type Lease, LeaseError, takeLease } from './lease.ts'
import { openStore } from './open-store.ts'
import { startRequest } from './request-desk.ts'

export type CarryOutOptions = {
  databasePath: string
  kind: RequestKind
  parameters: unknown
  /** Told once, where another process ingests and the request waits for it. */
  onWaiting?(sentence: string): void
  /** Stops the waiting; the request is taken back if it was not begun. */
  signal?: AbortSignal
  now?(): number
}

const LOOK_EVERY_MS = 100

/**
 * Does what is asked in this process where nobody ingests, else asks the process that does and
 * waits for its answer; if that ends meanwhile, does it here after all. Undefined if aborted. Throws
 * StoreError.
 */
export async function carryOut(options: CarryOutOptions): Promise<Answer | undefined> {
  const { databasePath, kind, parameters, signal, now = Date.now } = options
  // A reader says what is wrong with a database that is not there; a writer would make one.
  openReader(databasePath).close()
  let id: string | undefined
  try {
    while (!signal?.aborted) {
      const lease = leaseOrHolder(databasePath)
      if (!(lease instanceof LeaseError)) return await actHere(options, lease, id)
      if (id === undefined) {
        options.onWaiting?.(waitingFor(lease))
        id = placeRequest(databasePath, kind, parameters, now())
      }
      const answer = answerOf(databasePath, id)
      if (answer) return answer
      await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined)
    }
    return undefined
  } finally {
    if (id !== undefined) withdrawRequest(databasePath, id)
  }
}

function leaseOrHolder(databasePath: string): Lease | LeaseError {
  try {
    return takeLease(databasePath)
  } catch (error) {
    if (error instanceof LeaseError) return error
    throw error
  }
}

function waitingFor({ pid }: LeaseError): string {
  const holder = pid === undefined ? 'Another process' : `Process ${pid}`
  return `${holder} ingests into this database and was asked to do it; waiting for its answer.`
}

/** `id`: of a request that the other process may have answered before it ended. */
async function actHere(
  { databasePath, kind, parameters, signal, now = Date.now }: CarryOutOptions,
  lease: Lease,
  id: string = randomUUID(),
): Promise<Answer | undefined> {
  const startedMs = now()
  const request: Request = { id, kind, parameters, askedMs: startedMs }
  try {
    const store = openStore(databasePath, { maxBytes: undefined, startedMs })
    try {
      const work = startRequest({ database: store.database, request, nowMs: startedMs })
      let answer = readAnswer(store.database, id)
      while (!answer && !signal?.aborted) {
        answer = work.next()
        await setImmediate()
      }
      return answer
    } finally {
      store.close()
    }
  } finally {
    lease.release()
  }
}

function answerOf(databasePath: string, id: string): Answer | undefined {
  const database = openReader(databasePath)
  try {
    return readAnswer(database, id)
  } finally {
    database.close()
  }
}
