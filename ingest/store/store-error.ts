/**
 * What can be wrong with a database, as one word to branch on. `message` is a whole sentence for
 * the person at the terminal or the page: what is wrong, and what to do.
 */
export type StoreState =
  /** better-sqlite3 is not installed, not built, or does not fit this Node. */
  | 'no_sqlite'
  /** The SQLite inside better-sqlite3 has the WAL-reset fault (before 3.51.3). */
  | 'unsafe_sqlite'
  | 'missing'
  | 'not_a_database'
  /** A SQLite database of another program. */
  | 'not_ours'
  | 'newer_schema'
  /** Made by an older version and not yet migrated; only a reader sees this. */
  | 'older_schema'
  | 'full'
  | 'io'
  | 'corrupt'
  | 'readonly'
  | 'busy'
  /** The file under the open connection was deleted or replaced. */
  | 'moved'
  | 'unknown'

export class StoreError extends Error {
  readonly state: StoreState
  readonly path: string | undefined

  constructor(
    state: StoreState,
    message: string,
    options: { path?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'StoreError'
    this.state = state
    this.path = options.path
  }
}

/** States that pass by themselves or with help from outside: wait, keep the offsets, try again. */
export function isTemporary(state: StoreState): boolean {
  return state === 'full' || state === 'busy' || state === 'io' || state === 'readonly'
}

/** Turns what better-sqlite3 or the file system threw into a StoreError. */
export function asStoreError(error: unknown, path: string): StoreError {
  if (error instanceof StoreError) return error
  const code = codeOf(error)
  const state = stateOfCode(code)
  const reason = error instanceof Error ? error.message : String(error)
  return new StoreError(state, sentenceFor(state, path, reason), { path, cause: error })
}

export function isSqliteError(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_')
}

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return ''
  return typeof error.code === 'string' ? error.code : ''
}

function stateOfCode(code: string): StoreState {
  // Moved first: SQLITE_READONLY_DBMOVED is also a READONLY code.
  if (code === 'SQLITE_READONLY_DBMOVED') return 'moved'
  if (code.startsWith('SQLITE_FULL') || code === 'ENOSPC' || code === 'EDQUOT') return 'full'
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) return 'busy'
  if (code.startsWith('SQLITE_IOERR') || code === 'EIO') return 'io'
  if (code.startsWith('SQLITE_CORRUPT')) return 'corrupt'
  if (code.startsWith('SQLITE_NOTADB')) return 'not_a_database'
  if (code.startsWith('SQLITE_READONLY') || code.startsWith('SQLITE_PERM')) return 'readonly'
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return 'readonly'
  if (code.startsWith('SQLITE_CANTOPEN')) return 'readonly'
  if (code === 'ENOENT') return 'missing'
  return 'unknown'
}

function sentenceFor(state: StoreState, path: string, reason: string): string {
  switch (state) {
    case 'full':
      return `There is no space left for the database ${path}; free some and ingesting goes on by itself.`
    case 'busy':
      return `Another program holds the database ${path} locked; close it and the work goes on.`
    case 'io':
      return `Reading or writing the database ${path} failed (${reason}); check the disk.`
    case 'corrupt':
      return `The database ${path} is damaged (${reason}); move it aside and ingest the logs again.`
    case 'not_a_database':
      return `${path} is not a SQLite database; name another file.`
    case 'readonly':
      return `The database ${path} or its directory cannot be opened for this user (${reason}); SQLite needs to create ${path}-wal and ${path}-shm beside it.`
    case 'moved':
      return `The database ${path} was deleted or replaced while it was open; start again to use the file that is there now.`
    case 'missing':
      return `There is no database at ${path}; run \`unsilent ingest\` or \`unsilent serve\` to make it, or name it with --db.`
    default:
      return `The database ${path} cannot be used: ${reason}.`
  }
}
