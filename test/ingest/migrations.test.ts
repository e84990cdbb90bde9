import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkInvariants } from '../../ingest/store/check-invariants.ts'
import { type Database, loadSqlite } from '../../ingest/store/load-sqlite.ts'
import { openReader, openWriter } from '../../ingest/store/open-database.ts'
import { APPLICATION_ID, SCHEMA_VERSION } from '../../ingest/store/schema.ts'
import { StoreError } from '../../ingest/store/store-error.ts'

const VERSION_1 = readFileSync(new URL('./fixtures/schema-1.sql', import.meta.url), 'utf8')

/** A database as version 1 of the schema left it, with one call. */
function createVersion1(): string {
  const path = join(mkdtempSync(join(tmpdir(), 'unsilent-migrate-')), 'unsilent.db')
  const database = new (loadSqlite())(path)
  database.pragma('auto_vacuum = INCREMENTAL')
  database.pragma('journal_mode = WAL')
  database.exec(VERSION_1)
  database.exec(`
    INSERT INTO outcome VALUES (1, 'succeeded');
    INSERT INTO error_class VALUES (0, '');
    INSERT INTO client VALUES (0, '', '');
    INSERT INTO server VALUES (1, 'shop', '1');
    INSERT INTO tool VALUES (1, 'shop', 'search');
    INSERT INTO writer (id, w, stamped) VALUES (1, 'w', 1);
    INSERT INTO writer_range VALUES (1, 1, 1);
    INSERT INTO stream (id, path, state, head, anchor, first_seen_ms, last_growth_ms)
      VALUES (1, '/log', 'live', x'', x'', 0, 0);
    INSERT INTO call VALUES (1, 900000, 5, 1, 1, 1, 0, NULL, 1, 0, 0, NULL, 1, 0, 1, 1);
    INSERT INTO call_text VALUES (1, 'c-1', NULL, '{}');
    INSERT INTO quarter_count VALUES (1, 0, 1, 1, 0, 1, 1, 5);`)
  database.pragma(`application_id = ${APPLICATION_ID}`)
  database.pragma('user_version = 1')
  database.close()
  return path
}

/** Tables with their columns, and indexes with theirs, without the words they were made with. */
function shapeOf(database: Database): unknown {
  const names = database
    .prepare("SELECT type, name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY 1, 2")
    .all() as { type: string; name: string }[]
  return names.map(({ type, name }) => ({
    type,
    name,
    columns: database.pragma(type === 'index' ? `index_xinfo(${name})` : `table_xinfo(${name})`),
    keys: database.pragma(`foreign_key_list(${name})`),
  }))
}

test('a database of version 1 is brought to the shape of a new one, and keeps its rows', () => {
  const path = createVersion1()
  const migrated = openWriter(path)
  const fresh = openWriter(join(path, '..', 'new.db'))
  assert.deepEqual(shapeOf(migrated), shapeOf(fresh))
  assert.equal(migrated.pragma('user_version', { simple: true }), SCHEMA_VERSION)
  assert.equal(migrated.prepare('SELECT uid FROM calls').pluck().get(), 'c-1')
  assert.deepEqual(checkInvariants(migrated), [])
  migrated.close()
  fresh.close()
})

test('a reader of an older database is told to start the ingester once', () => {
  const path = createVersion1()
  assert.throws(
    () => openReader(path),
    (error) => error instanceof StoreError && error.state === 'older_schema',
  )
})

test('F7: processes that migrate at the same time all find it done', async () => {
  const path = createVersion1()
  const module = new URL('../../ingest/store/open-database.ts', import.meta.url).href
  const script = `
    const { openWriter } = await import(${JSON.stringify(module)})
    openWriter(${JSON.stringify(path)}).close()`
  const codes = await Promise.all(
    [1, 2, 3].map(async () => {
      const child = spawn(
        process.execPath,
        ['--import', 'tsx', '--input-type=module', '-e', script],
        { stdio: ['ignore', 'ignore', 'inherit'] },
      )
      const [code] = await once(child, 'close')
      return code as number | null
    }),
  )
  assert.deepEqual(codes, [0, 0, 0])
  const reader = openReader(path)
  assert.deepEqual(checkInvariants(reader), [])
  reader.close()
})

test('F7: a migration that was cut off before its version is written is as if it had not begun', () => {
  const path = createVersion1()
  // The state in which a killed process leaves the file: its transaction was not committed.
  const killed = new (loadSqlite())(path)
  killed.exec('BEGIN IMMEDIATE; ALTER TABLE quarter_count ADD COLUMN removed_calls INTEGER')
  killed.close()
  const database = openWriter(path)
  assert.equal(database.pragma('user_version', { simple: true }), SCHEMA_VERSION)
  assert.deepEqual(checkInvariants(database), [])
  database.close()
})
