import { createRequire } from 'node:module'
import type BetterSqlite3 from 'better-sqlite3'
import { StoreError } from './store-error.ts'

export type Database = BetterSqlite3.Database
export type Sqlite = typeof BetterSqlite3

export type SqliteEnvironment = {
  /** Resolves like `require`; throws where the package is missing. */
  load(id: string): unknown
  nodeVersion: string
}

const INSTALL = 'Run `npm install better-sqlite3` in this project.'
const REBUILD =
  'npm may have skipped its install script: allow it with `npm approve-scripts better-sqlite3`' +
  ' (npm 11 and later), then run `npm rebuild better-sqlite3 --ignore-scripts=false`.'

/** First version of better-sqlite3 that needs Node 22: on 20 its binary ends the process with a fault. */
const NODE_22_ONLY = 13

let loaded: Sqlite | undefined

/**
 * better-sqlite3, which is an optional dependency: a server that only wants the wrapper does not
 * need it. Throws a StoreError `no_sqlite` whose message says what to do.
 */
export function loadSqlite(environment?: SqliteEnvironment): Sqlite {
  if (environment) return load(environment)
  loaded ??= load({
    load: createRequire(import.meta.url),
    nodeVersion: process.versions.node,
  })
  return loaded
}

function load({ load, nodeVersion }: SqliteEnvironment): Sqlite {
  const version = installedVersion(load)
  const nodeMajor = Number.parseInt(nodeVersion, 10)
  // Must come before the native part is touched: there is nothing to catch in a segmentation fault.
  if (Number.parseInt(version, 10) >= NODE_22_ONLY && nodeMajor < 22) {
    throw new StoreError(
      'no_sqlite',
      `better-sqlite3 ${version} needs Node 22 or later and this is Node ${nodeVersion}.` +
        ' Run `npm install better-sqlite3@12`, or use a newer Node.',
    )
  }
  try {
    const sqlite = load('better-sqlite3') as Sqlite
    // The native part is loaded by the first database, not by the import.
    new sqlite(':memory:').close()
    return sqlite
  } catch (cause) {
    const reason = cause instanceof Error ? (cause.message.split('\n', 1)[0] ?? '') : String(cause)
    throw new StoreError(
      'no_sqlite',
      `better-sqlite3 ${version} is installed but cannot be loaded on Node ${nodeVersion} (${reason}). ${REBUILD}`,
      { cause },
    )
  }
}

function installedVersion(load: (id: string) => unknown): string {
  try {
    const manifest = load('better-sqlite3/package.json') as { version?: unknown }
    return String(manifest.version)
  } catch (cause) {
    throw new StoreError(
      'no_sqlite',
      `This command keeps its data in SQLite and needs the package better-sqlite3, which is not installed. ${INSTALL}`,
      { cause },
    )
  }
}
