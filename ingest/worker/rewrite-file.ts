import type { Database } from '../store/load-sqlite.ts'
import { asStoreError, isSqliteError } from '../store/store-error.ts'

/** Readers are short; so often a checkpoint is tried that needs all of them gone at once. */
const TRIES = 30
const TRY_BUSY_MS = 100

/**
 * Rewrites the whole database without what was removed from it: pages keep copies of rows that were
 * moved within them, which no deletion finds. Takes as much disk again, and up to a minute a GB
 * in one go, in which nothing else happens in this process. False where there was no space for it,
 * or a reader would not let go of the old pages.
 */
export function* rewriteFile(database: Database): Generator<void, boolean> {
  if (!vacuum(database)) return false
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (isTruncated(database)) return true
    yield
  }
  return false
}

function vacuum(database: Database): boolean {
  // In memory the second copy may not fit.
  database.pragma('temp_store = FILE')
  try {
    database.exec('VACUUM')
    return true
  } catch (error) {
    if (isSqliteError(error) && asStoreError(error, database.name).state === 'full') return false
    throw error
  } finally {
    database.pragma('temp_store = MEMORY')
  }
}

function isTruncated(database: Database): boolean {
  const waitMs = database.pragma('busy_timeout', { simple: true }) as number
  database.pragma(`busy_timeout = ${TRY_BUSY_MS}`)
  try {
    const [result] = database.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[]
    return result?.busy === 0
  } finally {
    database.pragma(`busy_timeout = ${waitMs}`)
  }
}
