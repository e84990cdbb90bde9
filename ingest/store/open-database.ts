import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { type FileKind, requireKnownVersion, requireOurs } from './database-header.ts'
import { type Database, loadSqlite } from './load-sqlite.ts'
import { createSchema, migrate, schemaVersion } from './migrations.ts'
import { APPLICATION_ID, SCHEMA_VERSION } from './schema.ts'
import { asStoreError, StoreError } from './store-error.ts'

/** Bytes. */
const PAGE_SIZE = 8192
const WAL_LIMIT_BYTES = 64 * 1024 * 1024
const WRITER_BUSY_MS = 5000
const READER_BUSY_MS = 1000

const MAIN: FileKind = {
  applicationId: APPLICATION_ID,
  version: SCHEMA_VERSION,
  instead: 'name another file with --db',
}

/** Below 3.51.3 two connections that write and checkpoint at once may lose committed pages. */
const SAFE_SQLITE = [3, 51, 3] as const

export type WriterOptions = {
  /** How long to wait for another program's lock. The event loop stands still meanwhile. */
  busyTimeoutMs?: number
  /** Refuses to grow beyond this, as a full disk would. */
  maxBytes?: number
}

/**
 * Makes the database (0600, in a directory 0700) where there is none, and looks whether what is
 * there is ours. Neither migrates nor opens what is there. Throws StoreError.
 */
export function prepareDatabase(path: string): void {
  requireSafeSqlite(new (loadSqlite())(':memory:'))
  try {
    if (!existsSync(path)) create(path)
    requireOurs(path, MAIN)
  } catch (error) {
    throw asStoreError(error, path)
  }
}

/**
 * The one connection that writes, after prepareDatabase; brings an older database up to date. Never
 * touches a file that is not ours. Throws StoreError.
 */
export function openWriter(path: string, options: WriterOptions = {}): Database {
  prepareDatabase(path)
  const sqlite = loadSqlite()
  try {
    const database = new sqlite(path, {
      fileMustExist: true,
      timeout: options.busyTimeoutMs ?? WRITER_BUSY_MS,
    })
    return closingOnError(database, () => {
      configureWriter(database, path)
      if (options.maxBytes !== undefined) {
        database.pragma(`max_page_count = ${Math.ceil(options.maxBytes / PAGE_SIZE)}`)
      }
      requireKnownVersion(schemaVersion(database), path, MAIN)
      migrate(database)
      return database
    })
  } catch (error) {
    throw asStoreError(error, path)
  }
}

/** A connection that cannot write, for pages and commands. Throws StoreError. */
export function openReader(path: string, options: { busyTimeoutMs?: number } = {}): Database {
  const sqlite = loadSqlite()
  try {
    requireOurs(path, MAIN)
    const database = new sqlite(path, {
      readonly: true,
      fileMustExist: true,
      timeout: options.busyTimeoutMs ?? READER_BUSY_MS,
    })
    return closingOnError(database, () => {
      for (const pragma of [
        'query_only = ON',
        'trusted_schema = OFF',
        'cell_size_check = ON',
        'mmap_size = 0',
        'temp_store = MEMORY',
        'cache_size = -64000',
      ]) {
        database.pragma(pragma)
      }
      // The first read that needs the WAL: fails here and not in the middle of a page.
      const version = schemaVersion(database)
      requireKnownVersion(version, path, MAIN)
      if (version < SCHEMA_VERSION) {
        throw new StoreError(
          'older_schema',
          `The database ${path} was made by an older version of unsilent; start \`unsilent ingest\` once to bring it up to date.`,
          { path },
        )
      }
      return database
    })
  } catch (error) {
    throw asStoreError(error, path)
  }
}

/**
 * Built beside its place and then linked into it, so that a half-made database never carries the
 * name and of two processes that try at once one wins.
 */
function create(path: string): void {
  prepareDirectory(dirname(path))
  const draft = `${path}.new-${randomBytes(6).toString('hex')}`
  // SQLite gives -wal and -shm the mode of the database.
  closeSync(openSync(draft, 'wx', 0o600))
  try {
    chmodSync(draft, 0o600)
    const database = new (loadSqlite())(draft)
    try {
      // The order counts: after WAL or the first table, page_size and auto_vacuum are fixed.
      database.pragma(`page_size = ${PAGE_SIZE}`)
      database.pragma('auto_vacuum = INCREMENTAL')
      database.pragma('journal_mode = WAL')
      createSchema(database)
    } finally {
      database.close()
    }
    linkInto(draft, path)
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(draft + suffix, { force: true })
  }
}

function linkInto(draft: string, path: string): void {
  try {
    linkSync(draft, path)
  } catch (error) {
    if (isCode(error, 'EEXIST')) return
    // File systems without hard links: rename, which would replace a file made in this instant.
    if (existsSync(path)) return
    renameSync(draft, path)
  }
}

function prepareDirectory(directory: string): void {
  if (!existsSync(directory)) {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    return
  }
  const { mode } = statSync(directory)
  const worldWritable = (mode & 0o002) !== 0
  const sticky = (mode & 0o1000) !== 0
  if (process.platform !== 'win32' && worldWritable && !sticky) {
    throw new StoreError(
      'readonly',
      `Anybody may replace files in ${directory}; choose a directory of your own for the database, or run \`chmod o-w ${directory}\`.`,
      { path: directory },
    )
  }
}

function configureWriter(database: Database, path: string): void {
  const mode = database.pragma('journal_mode = WAL', { simple: true })
  if (mode !== 'wal') {
    throw new StoreError(
      'io',
      `SQLite cannot use a write-ahead log for ${path} (it chose "${String(mode)}"); put the database on a local disk.`,
      { path },
    )
  }
  for (const pragma of [
    'synchronous = FULL',
    'wal_autocheckpoint = 1000',
    `journal_size_limit = ${WAL_LIMIT_BYTES}`,
    'cache_size = -32000',
    'mmap_size = 0',
    'temp_store = MEMORY',
    // What is removed is overwritten, not left in free pages. Costs nearly nothing.
    'secure_delete = ON',
    'foreign_keys = ON',
    'recursive_triggers = ON',
    'trusted_schema = OFF',
    'cell_size_check = ON',
  ]) {
    database.pragma(pragma)
  }
}

/** Throws StoreError `unsafe_sqlite`. Closes the connection. */
export function requireSafeSqlite(database: Database): void {
  const version = database.prepare('SELECT sqlite_version()').pluck().get() as string
  database.close()
  if (isAtLeast(version, SAFE_SQLITE)) return
  throw new StoreError(
    'unsafe_sqlite',
    `SQLite ${version} can lose committed data when two programs use one database; run \`npm install better-sqlite3@12\` for ${SAFE_SQLITE.join('.')} or later.`,
  )
}

/** Compares `3.51.3` with its parts. */
export function isAtLeast(version: string, least: readonly number[]): boolean {
  const parts = version.split('.').map(Number)
  for (const [index, wanted] of least.entries()) {
    const part = parts[index] ?? 0
    if (part !== wanted) return part > wanted
  }
  return true
}

function closingOnError(database: Database, use: () => Database): Database {
  try {
    return use()
  } catch (error) {
    database.close()
    throw error
  }
}

function isCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code
}
