import { createTraceEraser } from '../store/erase-traces.ts'
import { callsToForget, lastIdOf, readForgetWhat, windows } from '../store/forget-what.ts'
import type { Database } from '../store/load-sqlite.ts'
import { createRemovals, type Removed } from '../store/removals.ts'
import { createCallRemover } from '../store/remove-calls.ts'
import type { RequestHandler } from './request-desk.ts'
import { RequestRefusal } from './request-refusal.ts'
import { rewriteFile } from './rewrite-file.ts'

/** Calls a transaction: some tens of milliseconds. */
const STEP_ROWS = 500

/**
 * Removes calls, all that hangs on them and all that was counted of them, then rewrites the file, so
 * that their bytes are in it no more. What comes in meanwhile stays. The place of each line stays
 * known: reading the logs again does not bring it back.
 */
export const forget: RequestHandler = function* ({ database, request, nowMs }) {
  const what = readForgetWhat(request.parameters)
  if (!what)
    throw new RequestRefusal('Say what to forget: a session, a tool, or before which time.')
  const removals = createRemovals(database)
  const key = `forget:${request.id}`
  const count = (removed: Partial<Removed>, newestMs?: number): void =>
    removals.count(key, 'forget', removed, nowMs, newestMs)

  const remover = createCallRemover(database)
  for (const ids of callsToForget(database, what, STEP_ROWS)) {
    if (ids.length > 0) {
      inTransaction(database, () => {
        const { calls, newestMs } = remover.remove(ids, 'go')
        count({ calls }, newestMs)
      })
    }
    yield
  }

  const erase = createTraceEraser(database, what)
  for (const [after, to] of windows(lastIdOf(database, 'process_event'))) {
    inTransaction(database, () => count({ events: erase.events(after, to) }))
    yield
  }
  for (const [after, to] of windows(lastIdOf(database, 'quarantine'))) {
    inTransaction(database, () => count({ refusedLines: erase.samples(after, to) }))
    yield
  }
  const onlyCounted = inTransaction(database, () => erase.counts())
  yield
  const clean = yield* rewriteFile(database)
  const { calls, events, refusedLines } = removals.of(key)
  return { calls, onlyCounted, events, refusedSamples: refusedLines, clean: clean ? 1 : 0 }
}

function inTransaction<T>(database: Database, act: () => T): T {
  return database.transaction(act).immediate()
}
