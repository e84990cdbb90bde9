import { statSync } from 'node:fs'
import { createIngesterRow, type IngesterRow } from '../store/ingester-row.ts'
import type { Database } from '../store/load-sqlite.ts'
import { openWriter } from '../store/open-database.ts'
import { StoreError } from '../store/store-error.ts'

/** The writer's connection while it is held. */
export type Store = {
  database: Database
  ingester: IngesterRow
  /** Throws StoreError `moved` if the file was deleted or replaced under the connection. */
  requireUnmoved(): void
  /** Checkpoints and closes. */
  close(): void
}

/** Someone may be reading: a checkpoint that cannot finish soon is left to the next run. */
const CLOSING_BUSY_MS = 200

export function openStore(
  path: string,
  options: { maxBytes: number | undefined; startedMs: number },
): Store {
  const database = openWriter(
    path,
    options.maxBytes === undefined ? {} : { maxBytes: options.maxBytes },
  )
  const { dev, ino } = statSync(path)
  return {
    database,
    ingester: createIngesterRow(database, process.pid, options.startedMs),
    requireUnmoved() {
      const now = statSync(path, { throwIfNoEntry: false })
      if (now?.dev === dev && now.ino === ino) return
      const what = now ? 'replaced' : 'deleted'
      throw new StoreError(
        'moved',
        `The database ${path} was ${what} while it was in use; start again, and the logs that are still there are read into the new one.`,
        { path },
      )
    },
    close() {
      try {
        database.pragma(`busy_timeout = ${CLOSING_BUSY_MS}`)
        database.pragma('optimize')
        database.pragma('wal_checkpoint(TRUNCATE)')
      } finally {
        database.close()
      }
    },
  }
}
