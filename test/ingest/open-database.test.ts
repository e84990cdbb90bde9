import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadSqlite } from '../../ingest/store/load-sqlite.ts'
import { isAtLeast, openReader, openWriter } from '../../ingest/store/open-database.ts'
import { APPLICATION_ID, SCHEMA_VERSION } from '../../ingest/store/schema.ts'
import { StoreError, type StoreState } from '../../ingest/store/store-error.ts'

function temporaryDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'unsilent-db-'))
}

function assertRefused(act: () => unknown, state: StoreState, says: RegExp): void {
  assert.throws(act, (error) => {
    assert.ok(error instanceof StoreError, String(error))
    assert.equal(error.state, state)
    assert.match(error.message, says)
    return true
  })
}

test('a new database is private, and has its pages, vacuum, journal and numbers set', () => {
  const path = join(temporaryDirectory(), 'state', 'unsilent.db')
  const database = openWriter(path)
  const pragma = (name: string) => database.pragma(name, { simple: true })
  assert.deepEqual(
    {
      page_size: pragma('page_size'),
      auto_vacuum: pragma('auto_vacuum'),
      journal_mode: pragma('journal_mode'),
      synchronous: pragma('synchronous'),
      application_id: pragma('application_id'),
      user_version: pragma('user_version'),
      trusted_schema: pragma('trusted_schema'),
      cell_size_check: pragma('cell_size_check'),
      foreign_keys: pragma('foreign_keys'),
      mmap_size: pragma('mmap_size'),
      journal_size_limit: pragma('journal_size_limit'),
      busy_timeout: pragma('busy_timeout'),
    },
    {
      page_size: 8192,
      auto_vacuum: 2,
      journal_mode: 'wal',
      synchronous: 2,
      application_id: APPLICATION_ID,
      user_version: SCHEMA_VERSION,
      trusted_schema: 0,
      cell_size_check: 1,
      foreign_keys: 1,
      mmap_size: 0,
      journal_size_limit: 67108864,
      busy_timeout: 5000,
    },
  )
  database.exec("INSERT INTO session (key) VALUES ('s')")
  for (const suffix of ['', '-wal', '-shm']) {
    assert.equal(statSync(path + suffix).mode & 0o777, 0o600, `mode of ${suffix || 'the file'}`)
  }
  assert.equal(statSync(join(path, '..')).mode & 0o777, 0o700)
  database.close()
  assert.deepEqual(readdirSync(join(path, '..')), ['unsilent.db'])
})

test('outcomes and classes are numbered as in the record', () => {
  const path = join(temporaryDirectory(), 'unsilent.db')
  const database = openWriter(path)
  assert.deepEqual(database.prepare('SELECT id, name FROM outcome ORDER BY id').raw().all(), [
    [1, 'succeeded'],
    [2, 'retried'],
    [3, 'failed'],
    [4, 'deferred'],
  ])
  assert.deepEqual(
    database.prepare('SELECT name FROM error_class WHERE id IN (0, 2)').raw().all(),
    [[''], ['timeout']],
  )
  database.close()
})

const strangers: {
  name: string
  make(path: string): void
  state: StoreState
  says: RegExp
}[] = [
  {
    name: 'a text file',
    make: (path) => writeFileSync(path, 'dear diary\n'.repeat(50)),
    state: 'not_a_database',
    says: /is not a SQLite database/,
  },
  {
    name: 'an empty file',
    make: (path) => writeFileSync(path, ''),
    state: 'not_a_database',
    says: /empty file/,
  },
  {
    name: "another program's database",
    make: (path) => {
      const other = new (loadSqlite())(path)
      other.pragma('journal_mode = WAL')
      other.exec('CREATE TABLE bookmark (url TEXT)')
      other.close()
    },
    state: 'not_ours',
    says: /of another program/,
  },
  {
    name: 'a database of a newer version',
    make: (path) => {
      const newer = openWriter(path)
      newer.pragma(`user_version = ${SCHEMA_VERSION + 1}`)
      newer.close()
    },
    state: 'newer_schema',
    says: /update unsilent/,
  },
  {
    name: 'a file that only begins like a database',
    make: (path) => writeFileSync(path, 'SQLite format 3\0'),
    state: 'not_ours',
    says: /of another program/,
  },
]

for (const stranger of strangers) {
  test(`${stranger.name} is refused and left byte for byte as it is`, () => {
    const directory = temporaryDirectory()
    const path = join(directory, 'x.db')
    stranger.make(path)
    const before = readFileSync(path)
    assertRefused(() => openWriter(path), stranger.state, stranger.says)
    assertRefused(() => openReader(path), stranger.state, stranger.says)
    assert.deepEqual(readFileSync(path), before)
    assert.deepEqual(readdirSync(directory), ['x.db'])
  })
}

test('a directory in the place of the database is refused', () => {
  const path = temporaryDirectory()
  assertRefused(() => openWriter(path), 'not_a_database', /is a directory/)
  assertRefused(() => openReader(path), 'not_a_database', /is a directory/)
})

test('a reader of a missing database is told how to make one, and makes none', () => {
  const directory = temporaryDirectory()
  assertRefused(() => openReader(join(directory, 'none.db')), 'missing', /unsilent ingest/)
  assert.deepEqual(readdirSync(directory), [])
})

test('a reader cannot write', () => {
  const path = join(temporaryDirectory(), 'unsilent.db')
  const writer = openWriter(path)
  const reader = openReader(path)
  assert.throws(() => reader.exec("INSERT INTO session (key) VALUES ('s')"), /readonly/)
  assert.throws(() => reader.exec('PRAGMA query_only = OFF; DELETE FROM outcome'), /readonly/)
  reader.close()
  writer.close()
})

test('a damaged database is called damaged', () => {
  const path = join(temporaryDirectory(), 'unsilent.db')
  openWriter(path).close()
  const bytes = readFileSync(path)
  bytes.fill(0xa5, 100, 8000)
  writeFileSync(path, bytes)
  assertRefused(() => openWriter(path), 'corrupt', /is damaged/)
})

test('a directory that anybody may write to is refused for a new database', () => {
  const directory = join(temporaryDirectory(), 'open')
  mkdirSync(directory)
  chmodSync(directory, 0o777)
  assertRefused(() => openWriter(join(directory, 'x.db')), 'readonly', /chmod o-w/)
})

test('F6: a reader in a directory it cannot write to gets a sentence', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('needs another user id to be tried')
  const directory = temporaryDirectory()
  const path = join(directory, 'unsilent.db')
  openWriter(path).close()
  chmodSync(path, 0o644)
  chmodSync(directory, 0o755)
  const script = `
    const { openReader } = await import(${JSON.stringify(new URL('../../ingest/store/open-database.ts', import.meta.url).href)})
    process.setuid(65534)
    try { openReader(${JSON.stringify(path)}); console.log('opened') }
    catch (error) { console.log(error.state + ': ' + error.message) }`
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  await once(child, 'close')
  assert.match(output, /^readonly: .*cannot be opened for this user.*-shm/)
})

test('F7: when several processes make the same database at once all of them get it', async () => {
  const path = join(temporaryDirectory(), 'unsilent.db')
  const module = new URL('../../ingest/store/open-database.ts', import.meta.url).href
  const script = `
    const { openWriter } = await import(${JSON.stringify(module)})
    const database = openWriter(${JSON.stringify(path)})
    database.exec('INSERT INTO session (key) VALUES (hex(randomblob(8)))')
    database.close()`
  const children = Array.from({ length: 3 }, () =>
    spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      stdio: ['ignore', 'ignore', 'inherit'],
    }),
  )
  const codes = await Promise.all(
    children.map((child) => once(child, 'close').then(([code]) => code)),
  )
  assert.deepEqual(codes, [0, 0, 0])
  const reader = openReader(path)
  assert.equal(reader.prepare('SELECT count(*) FROM session').pluck().get(), 3)
  reader.close()
})

test('better-sqlite3 13 on Node 20 is refused before its native part is loaded', () => {
  const asked: string[] = []
  const environment = {
    nodeVersion: '20.19.0',
    load(id: string): unknown {
      asked.push(id)
      return { version: '13.2.0' }
    },
  }
  assertRefused(() => loadSqlite(environment), 'no_sqlite', /needs Node 22 .* better-sqlite3@12/)
  assert.deepEqual(asked, ['better-sqlite3/package.json'])
})

test('a missing better-sqlite3 says how to install it', () => {
  const load = (): unknown => {
    throw new Error("Cannot find module 'better-sqlite3/package.json'")
  }
  assertRefused(
    () => loadSqlite({ nodeVersion: '22.0.0', load }),
    'no_sqlite',
    /npm install better-sqlite3/,
  )
})

test('a better-sqlite3 without its binary says that npm may have skipped the install script', () => {
  const load = (id: string): unknown => {
    if (id === 'better-sqlite3/package.json') return { version: '12.11.1' }
    throw new Error('Could not locate the bindings file.\n tried: everywhere')
  }
  assertRefused(
    () => loadSqlite({ nodeVersion: '22.0.0', load }),
    'no_sqlite',
    /Could not locate the bindings file\.\).*npm rebuild better-sqlite3 --ignore-scripts=false/,
  )
})

test('SQLite versions are compared by number', () => {
  const safe = [3, 51, 3]
  for (const [version, expected] of [
    ['3.51.3', true],
    ['3.51.2', false],
    ['3.9.9', false],
    ['3.53.0', true],
    ['4.0', true],
  ] as const) {
    assert.equal(isAtLeast(version, safe), expected, version)
  }
})

test('the tables can be read by the sqlite3 program, with plain names', (t) => {
  try {
    execFileSync('sqlite3', ['-version'])
  } catch {
    return t.skip('no sqlite3 program here')
  }
  const path = join(temporaryDirectory(), 'unsilent.db')
  openWriter(path).close()
  const output = execFileSync('sqlite3', ['-readonly', path, 'SELECT count(*) FROM calls'])
  assert.equal(String(output).trim(), '0')
  rmSync(path)
})
