import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { asStoreError, StoreError } from './store-error.ts'

/** What one of our database files says of itself, and what to do about a file that is none. */
export type FileKind = {
  applicationId: number
  /** The newest schema that this program knows. */
  version: number
  /** The end of a sentence: "name another file with --db". */
  instead: string
}

const HEADER_BYTES = 100
const CHANGE_COUNTER_AT = 24
const USER_VERSION_AT = 60
const APPLICATION_ID_AT = 68

/**
 * Looks at the file's header without SQLite, which would create -wal and -shm files beside another
 * program's database, and even take part in its recovery. Throws StoreError.
 */
export function requireOurs(path: string, kind: FileKind): void {
  const header = readHeader(path, kind)
  if (header.length === 0) {
    throw new StoreError(
      'not_a_database',
      `${path} is an empty file; remove it or ${kind.instead}.`,
      { path },
    )
  }
  if (!header.subarray(0, 16).equals(Buffer.from('SQLite format 3\0'))) {
    throw new StoreError(
      'not_a_database',
      `${path} is not a SQLite database; it was left as it is. Instead ${kind.instead}.`,
      { path },
    )
  }
  const isWhole = header.length === HEADER_BYTES
  if (!isWhole || header.readUInt32BE(APPLICATION_ID_AT) !== kind.applicationId) {
    throw new StoreError(
      'not_ours',
      `${path} is a SQLite database of another program; it was left as it is. Instead ${kind.instead}.`,
      { path },
    )
  }
  requireKnownVersion(header.readUInt32BE(USER_VERSION_AT), path, kind)
}

export function requireKnownVersion(version: number, path: string, kind: FileKind): void {
  if (version <= kind.version) return
  throw new StoreError(
    'newer_schema',
    `The database ${path} has schema version ${version} and this unsilent knows ${kind.version}; update unsilent, or ${kind.instead}.`,
    { path },
  )
}

/**
 * Grows with every commit to a database that has no write-ahead log; undefined where there is no
 * file, or an empty one.
 */
export function changeCounter(path: string): number | undefined {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    const storeError = asStoreError(error, path)
    if (storeError.state === 'missing') return undefined
    throw storeError
  }
  try {
    const header = Buffer.alloc(HEADER_BYTES)
    const length = readSync(file, header, 0, header.length, 0)
    return length < HEADER_BYTES ? undefined : header.readUInt32BE(CHANGE_COUNTER_AT)
  } finally {
    closeSync(file)
  }
}

function readHeader(path: string, kind: FileKind): Buffer {
  let stats: ReturnType<typeof statSync>
  try {
    stats = statSync(path)
  } catch (error) {
    throw asStoreError(error, path)
  }
  if (!stats.isFile()) {
    const what = stats.isDirectory() ? 'a directory' : 'not a regular file'
    throw new StoreError('not_a_database', `${path} is ${what}; ${kind.instead}.`, { path })
  }
  const file = openSync(path, 'r')
  try {
    const header = Buffer.alloc(Math.min(HEADER_BYTES, fstatSync(file).size))
    return header.subarray(0, readSync(file, header, 0, header.length, 0))
  } finally {
    closeSync(file)
  }
}
