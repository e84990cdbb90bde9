import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { RootError } from '../../ingest/discovery.ts'
import { type IngestProgress, type IngestSummary, runIngest } from '../../ingest/run-ingest.ts'
import { loadSqlite } from '../../ingest/store/load-sqlite.ts'
import { openWriter } from '../../ingest/store/open-database.ts'
import { StoreError } from '../../ingest/store/store-error.ts'
import { LeaseError } from '../../ingest/worker/lease.ts'
import {
  append,
  assertWorldSound,
  callRecord,
  createLines,
  createStampedLine,
  createWorld,
  ingestOnce,
  NOON,
  storedCalls,
  type World,
  withReader,
} from './support.ts'

const W = 'd'.repeat(32)

function stamped(n: number): string {
  return createStampedLine(W, n, NOON, callRecord({ call: `c-${n}` }))
}

/** Runs the ingester in this process until `stop`, at the latest until the test's end. */
function follow(
  t: TestContext,
  world: World,
  options: { pollMs?: number; maxDatabaseBytes?: number } = {},
) {
  const aborter = new AbortController()
  const seen: IngestProgress[] = []
  const done = runIngest({
    roots: [world.logs],
    databasePath: world.databasePath,
    signal: aborter.signal,
    pollMs: 20,
    onProgress: (progress) => seen.push(progress),
    ...options,
  })
  t.after(() => aborter.abort())
  return {
    seen,
    stop(): Promise<IngestSummary> {
      aborter.abort()
      return done
    },
    done,
  }
}

async function until(what: string, holds: () => boolean, withinMs = 30_000): Promise<void> {
  const deadline = Date.now() + withinMs
  while (!holds()) {
    if (Date.now() > deadline) assert.fail(`not within ${withinMs} ms: ${what}`)
    await sleep(10)
  }
}

/** A process that does not outlive the test. */
function start(t: TestContext, fixture: string, ...args: string[]) {
  const path = new URL(`./fixtures/${fixture}`, import.meta.url).pathname
  const child = spawn(process.execPath, ['--import', 'tsx', path, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  const closed = once(child, 'close').then(([code]) => code as number | null)
  return { child, closed }
}

function rowsIn(world: World): number {
  if (!existsSync(world.databasePath)) return 0
  return withReader(world, (database) => storedCalls(database).length)
}

test('with once everything is read, summed up and safe to repeat', async () => {
  const world = createWorld()
  append(world.log('a.jsonl'), stamped(1), 'junk\n', '\n', '{"level":30,"msg":"x"}\n', stamped(2))
  const first = await ingestOnce(world)
  assert.deepEqual(
    { ...first, seconds: 0 },
    {
      files: 1,
      lines: 4,
      rows: 2,
      duplicates: 0,
      events: 0,
      foreignLines: 1,
      quarantined: { not_json: 1 },
      removed: { calls: 0, events: 0, refusedLines: 0 },
      bytes: statSync(world.log('a.jsonl')).size,
      seconds: 0,
      problems: [],
    },
  )
  const second = await ingestOnce(world)
  assert.deepEqual([second.lines, second.rows, second.bytes], [0, 0, 0])
  // No write-ahead log is left behind for whoever copies the file.
  assert.deepEqual(
    readdirSync(world.directory)
      .filter((name) => name.startsWith('unsilent.db'))
      .sort(),
    ['unsilent.db', 'unsilent.db-health', 'unsilent.db.lock'],
  )
  assertWorldSound(world)
})

test('lines written while it follows appear soon, and an abort leaves a finished database', async (t) => {
  const world = createWorld()
  const run = follow(t, world)
  for (let n = 1; n <= 20; n += 1) {
    append(world.log('a.jsonl'), stamped(n))
    await sleep(5)
  }
  await until('20 rows', () => rowsIn(world) === 20)
  const summary = await run.stop()
  assert.equal(summary.rows, 20)
  assert.ok(run.seen.some((progress) => progress.caughtUp))
  withReader(world, (database) => {
    const row = database.prepare('SELECT * FROM ingester').get() as Record<string, unknown>
    assert.equal(row.pid, process.pid)
    assert.equal(row.lag_bytes, 0)
    assert.deepEqual(JSON.parse(row.roots as string), [world.logs])
    assert.ok(Date.now() - (row.last_poll_ms as number) < 20_000)
  })
  assertWorldSound(world)
})

test('progress counts what is done and what there is', async () => {
  const world = createWorld()
  const lines = createLines()
  let text = ''
  for (let index = 0; index < 3000; index += 1) text += lines.call()
  append(world.log('a.jsonl'), text)
  const seen: IngestProgress[] = []
  await runIngest({
    roots: [world.logs],
    databasePath: world.databasePath,
    once: true,
    onProgress: (progress) => seen.push(progress),
  })
  const last = seen.at(-1)
  assert.deepEqual(
    [last?.bytesDone, last?.bytesTotal, last?.rows, last?.caughtUp],
    [text.length, text.length, 3000, true],
  )
})

test('a second ingester on the same database is told who holds it', async (t) => {
  const world = createWorld()
  append(world.log('a.jsonl'), stamped(1))
  const run = follow(t, world)
  await until('the first row', () => rowsIn(world) === 1)
  await assert.rejects(ingestOnce(world), (error) => {
    assert.ok(error instanceof LeaseError)
    assert.equal(error.pid, process.pid)
    assert.match(error.message, new RegExp(`Process ${process.pid} is already ingesting`))
    return true
  })
  await run.stop()
  assert.equal((await ingestOnce(world)).rows, 0)
})

test('the lease of a killed ingester is free at once', async (t) => {
  const world = createWorld()
  append(world.log('a.jsonl'), stamped(1))
  const { child, closed } = start(t, 'ingester.ts', world.logs, world.databasePath)
  await until('the first row', () => rowsIn(world) === 1)
  await assert.rejects(ingestOnce(world), LeaseError)
  child.kill('SIGKILL')
  await closed
  append(world.log('a.jsonl'), stamped(2))
  assert.equal((await ingestOnce(world)).rows, 1)
  assertWorldSound(world)
})

test('a root that is not there is refused with a sentence, and nothing is made', async () => {
  const world = createWorld()
  await assert.rejects(
    ingestOnce(world, { roots: [join(world.directory, 'nowhere')] }),
    (error) => error instanceof RootError && /There is no file or directory/.test(error.message),
  )
  await assert.rejects(
    ingestOnce(world, { roots: [join(world.directory, 'nowhere', '*.jsonl')] }),
    (error) => error instanceof RootError && /not a directory/.test(error.message),
  )
  assert.equal(existsSync(world.databasePath), false)
})

test("another program's database is left as it is, without a lock beside it", async () => {
  const world = createWorld()
  append(world.log('a.jsonl'), stamped(1))
  const other = new (loadSqlite())(world.databasePath)
  other.exec('CREATE TABLE bookmark (url TEXT)')
  other.close()
  const before = readFileSync(world.databasePath)
  await assert.rejects(ingestOnce(world), StoreError)
  assert.deepEqual(readFileSync(world.databasePath), before)
  assert.deepEqual(readdirSync(world.directory).sort(), ['logs', 'unsilent.db'])
})

test('F1: while another program holds the lock nothing is lost, and it goes on afterwards', async (t) => {
  const world = createWorld()
  append(world.log('a.jsonl'), stamped(1))
  const run = follow(t, world)
  await until('the first row', () => rowsIn(world) === 1)
  const holder = start(t, 'lock-holder.ts', world.databasePath, '6000')
  await once(holder.child.stdout, 'data')
  append(world.log('a.jsonl'), stamped(2), stamped(3))
  await until('three rows', () => rowsIn(world) === 3)
  assert.ok(
    run.seen.some(({ problems }) => problems.some((text) => /locked/.test(text))),
    'the wait was told',
  )
  await run.stop()
  assertWorldSound(world)
})

test('F3: a full database pauses with one clear message, keeps its place and resumes', async (t) => {
  const world = createWorld()
  const lines = createLines()
  for (let index = 0; index < 3000; index += 1) append(world.log('a.jsonl'), lines.call())
  const run = follow(t, world, { maxDatabaseBytes: 400_000 })
  await until('the message', () =>
    run.seen.some(({ problems }) => problems.some((text) => /no space left/.test(text))),
  )
  const { problems } = await run.stop()
  assert.equal(problems.length, 1)
  assertWorldSound(world)
  const before = rowsIn(world)
  assert.ok(before < 3000)
  await ingestOnce(world)
  assert.equal(rowsIn(world), 3000)
  assertWorldSound(world)
})

test('F5: a database that is deleted under it ends the run with a sentence', async (t) => {
  const world = createWorld()
  append(world.log('a.jsonl'), stamped(1))
  const run = follow(t, world)
  await until('the first row', () => rowsIn(world) === 1)
  renameSync(world.databasePath, `${world.databasePath}.gone`)
  append(world.log('a.jsonl'), stamped(2))
  await assert.rejects(
    run.done,
    (error) =>
      error instanceof StoreError && error.state === 'moved' && /deleted/.test(error.message),
  )
  rmSync(`${world.databasePath}-wal`, { force: true })
  rmSync(`${world.databasePath}-shm`, { force: true })
  assert.equal((await ingestOnce(world)).rows, 2)
})

test('F2: a reader that never ends does not stop ingesting', async () => {
  const world = createWorld()
  append(world.log('a.jsonl'), stamped(1))
  openWriter(world.databasePath).close()
  const reader = new (loadSqlite())(world.databasePath, { readonly: true })
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM call').get()
  const big = 'x'.repeat(32_000)
  for (let n = 2; n <= 300; n += 1) {
    append(world.log('a.jsonl'), createStampedLine(W, n, NOON, callRecord({ args: { big } })))
  }
  assert.equal((await ingestOnce(world)).rows, 300)
  reader.close()
  await ingestOnce(world)
  assertWorldSound(world)
})

test('E19: a file that cannot be read is told, and read when it can be', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('needs another user id to be tried')
  const world = createWorld()
  chmodSync(world.directory, 0o777)
  chmodSync(world.logs, 0o755)
  mkdirSync(join(world.directory, 'db'), { mode: 0o777 })
  chmodSync(join(world.directory, 'db'), 0o1777)
  const databasePath = join(world.directory, 'db', 'unsilent.db')
  append(world.log('a.jsonl'), stamped(1))
  append(world.log('b.jsonl'), stamped(2))
  chmodSync(world.log('b.jsonl'), 0o000)
  const { child, closed } = start(t, 'ingester.ts', world.logs, databasePath, '65534')
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  await until('the complaint', () => /b\.jsonl cannot be read \(EACCES\) since/.test(output))
  chmodSync(world.log('b.jsonl'), 0o644)
  await until('both rows', () => rowsIn({ ...world, databasePath }) === 2)
  child.kill('SIGTERM')
  assert.equal(await closed, 0)
  assertWorldSound({ ...world, databasePath })
})
