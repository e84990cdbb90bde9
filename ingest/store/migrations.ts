import { ERROR_CLASSES, OUTCOMES } from '../../server/call-log/record.ts'
import type { Database } from './load-sqlite.ts'
import { APPLICATION_ID, CALLS_VIEW_SQL, SCHEMA_SQL, SCHEMA_VERSION } from './schema.ts'

/** Steps from version i + 1 to i + 2. Append only; each is run once in one transaction with the version. */
const MIGRATIONS: readonly string[] = [
  `
  ALTER TABLE stream ADD COLUMN removed_quarantined_bytes INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE stream ADD COLUMN removed_quarantined_lines INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE quarter_count ADD COLUMN removed_calls INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE quarter_count ADD COLUMN removed_duration_us INTEGER NOT NULL DEFAULT 0;
  CREATE TABLE protocol (
    id INTEGER PRIMARY KEY,
    version TEXT NOT NULL,
    transport TEXT NOT NULL,
    UNIQUE (version, transport)
  ) STRICT;
  ALTER TABLE call ADD COLUMN protocol_id INTEGER REFERENCES protocol (id);
  CREATE TABLE received (
    at_ms INTEGER PRIMARY KEY,
    next_call_id INTEGER NOT NULL,
    next_event_id INTEGER NOT NULL,
    next_quarantine_id INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE removal (
    key TEXT PRIMARY KEY,
    reason TEXT NOT NULL CHECK (reason IN ('age', 'size', 'forget')),
    first_ms INTEGER NOT NULL,
    last_ms INTEGER NOT NULL,
    calls INTEGER NOT NULL DEFAULT 0,
    events INTEGER NOT NULL DEFAULT 0,
    refused_lines INTEGER NOT NULL DEFAULT 0,
    newest_ms INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE answer (
    request_id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    answered_ms INTEGER NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('done', 'refused')),
    result TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
]

/** Makes the tables in an empty database. */
export function createSchema(database: Database): void {
  database
    .transaction(() => {
      database.exec(SCHEMA_SQL + CALLS_VIEW_SQL)
      fillDictionaries(database)
      database.pragma(`application_id = ${APPLICATION_ID}`)
      database.pragma(`user_version = ${SCHEMA_VERSION}`)
    })
    .immediate()
}

/** Brings an older database of ours up to SCHEMA_VERSION. Two processes may try: one does it. */
export function migrate(database: Database): void {
  for (;;) {
    if (schemaVersion(database) >= SCHEMA_VERSION) return
    database
      .transaction(() => {
        // Asked again under the write lock: another process may have been quicker.
        const version = schemaVersion(database)
        if (version >= SCHEMA_VERSION) return
        const step = MIGRATIONS[version - 1]
        if (step === undefined) throw new Error(`no migration from schema version ${version}`)
        database.exec(step + CALLS_VIEW_SQL)
        fillDictionaries(database)
        database.pragma(`user_version = ${version + 1}`)
      })
      .immediate()
  }
}

export function schemaVersion(database: Database): number {
  return database.pragma('user_version', { simple: true }) as number
}

/** The numbers are places in record.ts, from 1; names that were appended there are added here. */
function fillDictionaries(database: Database): void {
  const outcome = database.prepare('INSERT OR IGNORE INTO outcome (id, name) VALUES (?, ?)')
  for (const [index, name] of OUTCOMES.entries()) outcome.run(index + 1, name)
  const errorClass = database.prepare('INSERT OR IGNORE INTO error_class (id, name) VALUES (?, ?)')
  errorClass.run(0, '')
  for (const [index, name] of ERROR_CLASSES.entries()) errorClass.run(index + 1, name)
  database.exec("INSERT OR IGNORE INTO client (id, name, version) VALUES (0, '', '')")
}
