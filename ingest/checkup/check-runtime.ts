import { createRequire } from 'node:module'
import { loadSqlite, type SqliteEnvironment } from '../store/load-sqlite.ts'
import { requireSafeSqlite } from '../store/open-database.ts'
import { StoreError } from '../store/store-error.ts'
import { type Finding, finding, ok } from './finding.ts'

/** Whether SQLite can be loaded here at all, and is a version that loses nothing. */
export function checkRuntime(environment?: SqliteEnvironment): Finding[] {
  try {
    const sqlite = loadSqlite(environment)
    const database = new sqlite(':memory:')
    const version = database.prepare('SELECT sqlite_version()').pluck().get()
    requireSafeSqlite(database)
    const pair = `better-sqlite3 ${packageVersion()} fits Node ${process.versions.node}.`
    return [ok('runtime', pair), ok('sqlite', `SQLite is ${version}.`)]
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    const check = error.state === 'unsafe_sqlite' ? 'sqlite' : 'runtime'
    return [finding(check, 'error', error.message)]
  }
}

function packageVersion(): string {
  const manifest: unknown = createRequire(import.meta.url)('better-sqlite3/package.json')
  return String((manifest as { version?: unknown }).version)
}
