import { closeSync, existsSync, openSync } from 'node:fs'
import { ingesterPid } from '../store/ingester-row.ts'
import { type Database, loadSqlite } from '../store/load-sqlite.ts'
import { openReader } from '../store/open-database.ts'
import { asStoreError, StoreError } from '../store/store-error.ts'

/** Another process ingests into this database. The command line ends with 75. */
export class LeaseError extends Error {
  readonly pid: number | undefined

  constructor(databasePath: string, pid: number | undefined) {
    const holder = pid === undefined ? 'Another process' : `Process ${pid}`
    super(
      `${holder} is already ingesting into ${databasePath}; stop it first, or name another database with --db.`,
    )
    this.name = 'LeaseError'
    this.pid = pid
  }
}

export type Lease = { release(): void }

/**
 * The right to write to a database, for one process at a time: an exclusive lock that the kernel
 * holds on `<database>.lock`. It ends with the process, however that ends, so there is no stale
 * lock to be judged by pids, which another container or a later boot may use again.
 */
export function takeLease(databasePath: string): Lease {
  const path = `${databasePath}.lock`
  let lock: Database | undefined
  try {
    // SQLite would make it with the umask's mode.
    closeSync(openSync(path, 'a', 0o600))
    lock = new (loadSqlite())(path, { timeout: 0 })
    lock.pragma('journal_mode = MEMORY')
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock?.close()
    const storeError = asStoreError(error, path)
    throw storeError.state === 'busy'
      ? new LeaseError(databasePath, pidInDatabase(databasePath))
      : storeError
  }
  const held = lock
  return { release: () => held.close() }
}

/** Asks without taking it, so that an ingester which starts just now is not refused. */
export function isLeaseHeld(databasePath: string): boolean {
  const path = `${databasePath}.lock`
  if (!existsSync(path)) return false
  try {
    const lock = new (loadSqlite())(path, { readonly: true, fileMustExist: true, timeout: 0 })
    try {
      lock.pragma('schema_version')
      return false
    } finally {
      lock.close()
    }
  } catch (error) {
    return asStoreError(error, path).state === 'busy'
  }
}

/** For the message alone: whatever is wrong with the database, the lock says enough. */
function pidInDatabase(path: string): number | undefined {
  try {
    const database = openReader(path)
    try {
      return ingesterPid(database)
    } finally {
      database.close()
    }
  } catch (error) {
    if (error instanceof StoreError) return undefined
    throw error
  }
}
