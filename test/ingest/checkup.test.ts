import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  openSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { checkDisk, type Space } from '../../ingest/checkup/check-files.ts'
import { checkRuntime } from '../../ingest/checkup/check-runtime.ts'
import { type Finding, worstOf } from '../../ingest/checkup/finding.ts'
import { runCheckup } from '../../ingest/checkup/run-checkup.ts'
import { createHealthFile } from '../../ingest/store/health-file.ts'
import { loadSqlite } from '../../ingest/store/load-sqlite.ts'
import { openWriter } from '../../ingest/store/open-database.ts'
import { isLeaseHeld, takeLease } from '../../ingest/worker/lease.ts'
import {
  append,
  callRecord,
  createStampedLine,
  createWorld,
  ingestOnce,
  NOON,
  type World,
} from './support.ts'

const W = 'e'.repeat(32)
/** A moment after the ingester's last look. */
const NOW = NOON + 65_000

const roomy = (): Space => ({ freeBytes: 50e9, freeFiles: 1e6, type: 0 })

function stamped(n: number, changes = {}): string {
  return createStampedLine(W, n, NOON, callRecord({ call: `c-${n}`, ...changes }))
}

/** A database with some calls, everything private, and a process that seems to ingest. */
async function soundWorld(t: TestContext): Promise<World> {
  const world = createWorld()
  chmodSync(world.logs, 0o700)
  append(world.log('a.jsonl'), stamped(1), stamped(2), '{"level":30,"msg":"x"}\n')
  await ingestOnce(world)
  const lease = takeLease(world.databasePath)
  t.after(() => lease.release())
  return world
}

function checkup(world: World, nowMs = NOW, spaceOf = roomy): Finding[] {
  return runCheckup({ databasePath: world.databasePath, roots: [world.logs], nowMs, spaceOf })
}

function troubles(findings: readonly Finding[]): string[] {
  return findings
    .filter(({ severity }) => severity !== 'ok')
    .map(({ check, severity }) => `${severity} ${check}`)
}

function change(world: World, sql: string): void {
  const database = openWriter(world.databasePath)
  database.exec(sql)
  database.close()
}

test('where all is well every check says so, and there is nothing to do', async (t) => {
  const findings = checkup(await soundWorld(t))
  assert.deepEqual(troubles(findings), [])
  assert.equal(worstOf(findings), 'ok')
  assert.deepEqual(
    findings.map(({ check }) => check),
    [
      'runtime',
      'sqlite',
      'permissions',
      'disk',
      'database',
      'damage',
      'bytes',
      'sequence',
      'counts',
      'lost',
      'quarantine',
      'clock',
      'ingester',
      'lag',
    ],
  )
})

/** What is done to a sound database, and what is found then. */
const broken: [what: string, sql: string, expected: string, sentence: RegExp][] = [
  [
    'bytes that are not accounted for',
    'UPDATE stream SET row_bytes = row_bytes - 5',
    'error bytes',
    /bytes were read and \d+ are accounted for/,
  ],
  [
    'a record outside of its numbers',
    'DELETE FROM writer_range; INSERT INTO writer_range VALUES (1, 1, 1)',
    'error sequence',
    /Record 2 of writer e+ is stored and not among its numbers/,
  ],
  [
    'a sum that is not the sum of its rows',
    'UPDATE quarter_count SET calls = calls + 1',
    'error counts',
    /counts 3 calls and 2 are stored/,
  ],
  [
    'a row that points nowhere',
    'PRAGMA foreign_keys = OFF; DELETE FROM tool',
    'error damage',
    /points to a missing tool/,
  ],
  [
    'numbers that were never read',
    'UPDATE writer_range SET last_n = 9, first_n = 4 WHERE 0; INSERT INTO writer_range VALUES (1, 12, 12)',
    'warning lost',
    /^9 records of 1 writer of invoices were written and never read\.$/,
  ],
  [
    'calls without a time',
    'UPDATE call SET flags = flags | 32',
    'warning clock',
    /^2 calls of the last day had no time/,
  ],
  [
    'a clock that was set back by a year',
    `UPDATE ingester SET last_poll_ms = ${NOW + 365 * 24 * 3600_000}`,
    'error clock',
    /this machine's clock was set back/,
  ],
  [
    'a clock of a server that went back',
    `INSERT INTO process_event (writer_id, n, kind, at_ms, detail)
     VALUES (1, 10, 'beat', ${NOON}, '{}'), (1, 11, 'beat', ${NOON - 3600_000}, '{}')`,
    'note clock',
    /went back 1 time, by up to 3,600 seconds/,
  ],
  [
    'an ingester that hangs',
    `UPDATE ingester SET last_poll_ms = ${NOW - 5 * 60_000}`,
    'error ingester',
    /holds the database and does not read: it last looked 5 minutes ago/,
  ],
  [
    'an ingester that lags behind',
    'UPDATE ingester SET lag_bytes = 5000000000',
    'warning lag',
    /^5\.0 GB wait to be read/,
  ],
  [
    'a file that the ingester could not read',
    `UPDATE ingester SET problems = '["x.jsonl cannot be read (EACCES)."]'`,
    'warning ingester',
    /x\.jsonl cannot be read/,
  ],
  [
    'a refused line',
    `INSERT INTO quarantine (stream_id, line_offset, line_number, length_bytes, reason, sha256, sample, seen_ms)
       VALUES (1, 0, 1, 5, 'json', '', x'', 0);
     UPDATE stream SET quarantined_bytes = 5, quarantined_lines = 1, row_bytes = row_bytes - 5`,
    'note quarantine',
    /^1 line of the logs was refused/,
  ],
]

for (const [what, sql, expected, sentence] of broken) {
  test(`it finds ${what}`, async (t) => {
    const world = await soundWorld(t)
    change(world, sql)
    const findings = checkup(world)
    assert.ok(troubles(findings).includes(expected), JSON.stringify(troubles(findings)))
    assert.deepEqual([...new Set(troubles(findings))], [expected])
    const found = findings.find(({ severity }) => severity !== 'ok')
    assert.match(found?.found ?? '', sentence)
    if (found?.severity !== 'note') assert.ok(found?.advice || expected === 'warning ingester')
  })
}

test('it finds a damaged file, and looks no further in it', async (t) => {
  const world = await soundWorld(t)
  change(world, 'PRAGMA wal_checkpoint(TRUNCATE)')
  const { size } = statSync(world.databasePath)
  const file = openSync(world.databasePath, 'r+')
  for (let page = 4; page * 8192 < size; page += 3)
    writeSync(file, Buffer.alloc(4096, 0xaa), 0, 4096, page * 8192)
  const findings = checkup(world)
  assert.ok(troubles(findings).includes('error damage'), JSON.stringify(findings))
  assert.ok(
    !findings.some(({ check }) => check === 'counts'),
    'sums of a damaged file mean nothing',
  )
  assert.match(
    findings.find(({ severity }) => severity === 'error')?.advice ?? '',
    /move the database aside/,
  )
})

test('it finds a database that was cut off', async (t) => {
  const world = await soundWorld(t)
  change(world, 'PRAGMA wal_checkpoint(TRUNCATE)')
  truncateSync(world.databasePath, 3 * 8192)
  assert.equal(worstOf(checkup(world)), 'error')
})

test('it tells a missing database, a text file and a newer schema apart', async (t) => {
  const world = createWorld()
  chmodSync(world.logs, 0o700)
  const found = () => {
    const { severity, found } = checkup(world).find(({ check }) => check === 'database') as Finding
    return `${severity}: ${found}`
  }
  assert.match(found(), /^warning: There is no database at .*; run `unsilent ingest`/)
  writeFileSync(world.databasePath, 'my notes\n'.repeat(100))
  assert.match(found(), /^error: .* is not a SQLite database/)
  const sound = await soundWorld(t)
  change(sound, 'PRAGMA user_version = 1000')
  const newer = checkup(sound).find(({ check }) => check === 'database')
  assert.match(newer?.found ?? '', /has schema version 1000/)
})

test('it finds that nobody reads the logs', async () => {
  const world = createWorld()
  chmodSync(world.logs, 0o700)
  append(world.log('a.jsonl'), stamped(1))
  await ingestOnce(world)
  const [only, ...others] = checkup(world).filter(({ severity }) => severity !== 'ok')
  assert.deepEqual(others, [])
  assert.match(only?.found ?? '', /^Nobody reads the logs: process \d+ last looked 5 seconds ago/)
})

test('whether the lease is held is asked without taking it', async () => {
  const world = createWorld()
  await ingestOnce(world)
  assert.equal(isLeaseHeld(world.databasePath), false)
  const lease = takeLease(world.databasePath)
  assert.equal(isLeaseHeld(world.databasePath), true)
  lease.release()
  assert.equal(isLeaseHeld(world.databasePath), false)
  assert.equal(isLeaseHeld(join(world.directory, 'none.db')), false)
})

test('it finds files that other users may read, unless their directory is shut', async (t) => {
  const world = await soundWorld(t)
  chmodSync(world.log('a.jsonl'), 0o644)
  assert.deepEqual(troubles(checkup(world)), [], 'the directory is 0700')
  chmodSync(world.logs, 0o755)
  assert.deepEqual(troubles(checkup(world)), ['warning permissions'])
  chmodSync(world.log('a.jsonl'), 0o600)
  assert.deepEqual(troubles(checkup(world)), [])
  chmodSync(world.logs, 0o777)
  assert.deepEqual(troubles(checkup(world)), ['error permissions'])
})

test('it finds a log directory that is not there, and one that may not be read', async (t) => {
  const world = await soundWorld(t)
  const missing = { databasePath: world.databasePath, roots: [join(world.directory, 'none')] }
  assert.deepEqual(troubles(runCheckup({ ...missing, nowMs: NOW, spaceOf: roomy })), [
    'warning permissions',
  ])
  if (process.getuid?.() !== 0) return
  const shut = join(world.directory, 'shut')
  mkdirSync(shut)
  chmodSync(shut, 0o700)
  const program = new URL('./fixtures/checkup.ts', import.meta.url).pathname
  chmodSync(world.directory, 0o755)
  const options = { uid: 65534, env: { ...process.env, UNSILENT_HOME: world.directory } }
  let text = ''
  try {
    text = execFileSync(
      process.execPath,
      ['--import', 'tsx', program, join(world.directory, 'none.db'), shut],
      { ...options, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
    )
  } catch (error) {
    t.skip(
      `another user cannot run the tests here: ${String((error as { stderr?: string }).stderr).slice(0, 200)}`,
    )
    return
  }
  assert.match(text, /error permissions .*shut cannot be read by this user/)
})

test('it finds a disk that is nearly full, without room for files, or of another machine', () => {
  const found = (space: Partial<Space>) =>
    checkDisk('/data/unsilent.db', () => ({ ...roomy(), ...space }))
      .filter(({ severity }) => severity !== 'ok')
      .map(({ severity, found }) => `${severity}: ${found}`)
  assert.deepEqual(found({}), [])
  assert.deepEqual(found({ freeBytes: 4_200_000 }), ['error: Only 4.2 MB are free in /data.'])
  assert.deepEqual(found({ freeBytes: 420e6 }), ['warning: Only 420 MB are free in /data.'])
  assert.deepEqual(found({ freeFiles: 0 }), [
    'error: The file system of /data has room for 0 more files only.',
  ])
  assert.deepEqual(found({ type: 0x6969 }), [
    'error: /data is on NFS, where two programs cannot share a database.',
  ])
})

test('it says which better-sqlite3 does not fit, and what to install', () => {
  const load = (version: string) => (id: string) => {
    if (id === 'better-sqlite3/package.json') return { version }
    throw new Error('no')
  }
  const [thirteen] = checkRuntime({ load: load('13.2.0'), nodeVersion: '20.20.2' })
  assert.deepEqual([thirteen?.check, thirteen?.severity], ['runtime', 'error'])
  assert.match(thirteen?.found ?? '', /better-sqlite3 13\.2\.0 needs Node 22/)
  const old = class {
    prepare = () => ({ pluck: () => ({ get: () => '3.51.2' }) })
    close = () => undefined
  }
  const loadOld = (id: string) => (id === 'better-sqlite3' ? old : { version: '12.7.1' })
  const [unsafe] = checkRuntime({ load: loadOld, nodeVersion: '20.20.2' })
  assert.deepEqual([unsafe?.check, unsafe?.severity], ['sqlite', 'error'])
  assert.match(unsafe?.found ?? '', /SQLite 3\.51\.2 can lose committed data/)
})

test('it finds a write-ahead log that was held up', async (t) => {
  const world = await soundWorld(t)
  // Kept as the file that it is by a connection that does not checkpoint.
  const keeper = new (loadSqlite())(world.databasePath)
  t.after(() => keeper.close())
  keeper.pragma('wal_autocheckpoint = 0')
  keeper.prepare('SELECT COUNT(*) FROM call').get()
  truncateSync(`${world.databasePath}-wal`, 300 * 1024 * 1024)
  assert.deepEqual(troubles(checkup(world)), ['warning wal'])
})

test('it tells what the ingester said of the database before it ended', async (t) => {
  const world = await soundWorld(t)
  const trouble = { state: 'full', message: 'There is no space left.', pid: 7 } as const
  createHealthFile(world.databasePath).write({
    ...trouble,
    sinceMs: NOON,
    atMs: NOON,
    ended: false,
  })
  const [only, ...others] = checkup(world).filter(({ severity }) => severity !== 'ok')
  assert.deepEqual(others, [])
  assert.match(
    only?.found ?? '',
    /^Process 7 could not ingest since 2026-03-10T12:00:00\.000Z \(full\): There is no/,
  )
  assert.match(only?.advice ?? '', /^It tries again by itself/)
})

test("a state file that is another program's is told", async (t) => {
  const world = await soundWorld(t)
  writeFileSync(join(world.directory, 'unsilent-state.db'), 'dear diary\n'.repeat(50), {
    mode: 0o600,
  })
  utimesSync(world.directory, new Date(), new Date())
  assert.deepEqual(troubles(checkup(world)), ['error state'])
})
