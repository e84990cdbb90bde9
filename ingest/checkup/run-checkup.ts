import type { Database } from '../store/load-sqlite.ts'
import { openReader } from '../store/open-database.ts'
import { openStateIfAny } from '../store/state-database.ts'
import { asStoreError, StoreError } from '../store/store-error.ts'
import { checkBooks, REBUILD } from './check-books.ts'
import { checkClock } from './check-clock.ts'
import { checkDisk, checkPermissions, checkWal, type Space } from './check-files.ts'
import { checkIngester, checkQuarantine, checkTrouble } from './check-ingester.ts'
import { checkRuntime } from './check-runtime.ts'
import { type Finding, finding, ok } from './finding.ts'

export type CheckupOptions = {
  databasePath: string
  /** Where logs are looked for: directories or files. */
  roots: readonly string[]
  nowMs: number
  /** For tests of full disks. */
  spaceOf?: (directory: string) => Space | undefined
}

/**
 * Looks at everything that logs, ingester and database need, and changes nothing. Reads the whole
 * database. Findings come in the order in which they are best read: what the others rest on first.
 */
export function runCheckup(options: CheckupOptions): Finding[] {
  const { databasePath, roots } = options
  const runtime = checkRuntime()
  const files = [
    ...checkPermissions(databasePath, roots),
    ...checkDisk(databasePath, options.spaceOf),
  ]
  if (runtime.some(({ severity }) => severity === 'error')) return [...runtime, ...files]
  return [
    ...runtime,
    ...files,
    ...checkState(databasePath),
    ...checkTrouble(databasePath),
    ...checkDatabase(options),
  ]
}

function checkDatabase({ databasePath, nowMs }: CheckupOptions): Finding[] {
  let database: Database
  try {
    database = openReader(databasePath)
  } catch (error) {
    return [unusable(error, databasePath)]
  }
  try {
    // One state of the data, though somebody may be writing.
    return database.transaction(() => checkRows(databasePath, database, nowMs))()
  } catch (error) {
    return [unusable(error, databasePath)]
  } finally {
    database.close()
  }
}

function unusable(error: unknown, databasePath: string): Finding {
  const { state, message } = asStoreError(error, databasePath)
  if (state === 'corrupt') return finding('damage', 'error', message, REBUILD)
  const passes = state === 'missing' || state === 'older_schema' || state === 'busy'
  return finding('database', passes ? 'warning' : 'error', message)
}

function checkRows(databasePath: string, database: Database, nowMs: number): Finding[] {
  const version = database.pragma('user_version', { simple: true })
  const books = checkBooks(database)
  const head = [ok('database', `The database has schema version ${version}.`)]
  if (books.some(({ check, severity }) => check === 'damage' && severity === 'error')) {
    return [...head, ...books]
  }
  return [
    ...head,
    ...checkWal(databasePath),
    ...books,
    ...checkQuarantine(database),
    ...checkClock(database, nowMs),
    ...checkIngester(databasePath, database, nowMs),
  ]
}

/** The readers' side's own file. */
function checkState(databasePath: string): Finding[] {
  try {
    openStateIfAny(databasePath)?.close()
    return []
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    return [finding('state', 'error', error.message)]
  }
}
