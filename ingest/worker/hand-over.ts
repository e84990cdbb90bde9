import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openReader } from '../store/open-database.ts'
import { type Answer, placeRequest, readAnswer, withdrawRequest } from '../store/requests.ts'
import { isLeaseHeld } from './lease.ts'

export type HandOverOptions = {
  databasePath: string
  /** Directories, files or globs; relative ones from this process's directory. */
  roots: readonly string[]
  signal?: AbortSignal | undefined
}

const LOOK_EVERY_MS = 100

/**
 * Lets the process that ingests into the database import these as well, and waits for its answer.
 * 'free' if it has ended without one, undefined if aborted. Throws StoreError.
 */
export async function handOver(options: HandOverOptions): Promise<Answer | 'free' | undefined> {
  const { databasePath, signal } = options
  const roots = options.roots.map((root) => resolve(root))
  const id = placeRequest(databasePath, 'import', { roots }, Date.now())
  const database = openReader(databasePath)
  try {
    while (!signal?.aborted) {
      const held = isLeaseHeld(databasePath)
      const answer = readAnswer(database, id)
      if (answer) return answer
      if (!held) return 'free'
      await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined)
    }
    return undefined
  } finally {
    database.close()
    withdrawRequest(databasePath, id)
  }
}
