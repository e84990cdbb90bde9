/**
 * `unsilent-state.db`, beside the database: what people decide while they read (marks, requests to
 * the ingester), kept apart so that the database has one writer. This file owns its shape. It has
 * no write-ahead log: it is small, seldom written, and one number in its header tells of a change.
 */
import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { parse, resolve } from 'node:path'
import { type FileKind, requireKnownVersion, requireOurs } from './database-header.ts'
import { type Database, loadSqlite } from './load-sqlite.ts'
import { asStoreError } from './store-error.ts'

/** `PRAGMA application_id`: "UNSS". */
const STATE_APPLICATION_ID = 0x554e5353

/** From version i to i + 1; append only. Each is run once, in one transaction with its version. */
const STEPS: readonly string[] = [
  `
  -- What the ingester is asked to do; it takes a row out once it is answered (table answer of the
  -- database). The id is a UUID: this file may be lost and begun anew.
  CREATE TABLE request (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    -- JSON.
    parameters TEXT NOT NULL,
    asked_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
]

const STATE: FileKind = {
  applicationId: STATE_APPLICATION_ID,
  version: STEPS.length,
  instead: 'move it away, and a new one is made',
}

const BUSY_MS = 1000

/** The state file of a database: `unsilent-state.db` for `unsilent.db`. */
export function statePath(databasePath: string): string {
  const path = resolve(databasePath)
  const { ext } = parse(path)
  return `${ext === '' ? path : path.slice(0, -ext.length)}-state${ext || '.db'}`
}

/**
 * Opens the state file of a database for reading and writing, and makes it (0600) where there is
 * none. Close it soon. Throws StoreError.
 */
export function openState(databasePath: string): Database {
  const path = statePath(databasePath)
  try {
    // Empty until the tables are made, in one transaction: a valid, empty database.
    closeSync(openSync(path, 'a', 0o600))
    if (statSync(path).size > 0) requireOurs(path, STATE)
    const database = new (loadSqlite())(path, { timeout: BUSY_MS })
    try {
      for (const pragma of ['secure_delete = ON', 'trusted_schema = OFF', 'cell_size_check = ON']) {
        database.pragma(pragma)
      }
      migrateState(database, path)
      return database
    } catch (error) {
      database.close()
      throw error
    }
  } catch (error) {
    throw asStoreError(error, path)
  }
}

/** The same, but undefined where there is no such file yet. */
export function openStateIfAny(databasePath: string): Database | undefined {
  return existsSync(statePath(databasePath)) ? openState(databasePath) : undefined
}

function migrateState(database: Database, path: string): void {
  const version = (): number => database.pragma('user_version', { simple: true }) as number
  while (version() < STEPS.length) {
    database
      .transaction(() => {
        // Asked again under the write lock: another process may have been quicker.
        const step = STEPS[version()]
        if (step === undefined) return
        database.exec(step)
        database.pragma(`application_id = ${STATE_APPLICATION_ID}`)
        database.pragma(`user_version = ${version() + 1}`)
      })
      .immediate()
  }
  requireKnownVersion(version(), path, STATE)
}
