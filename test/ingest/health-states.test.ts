import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { runIngest } from '../../ingest/run-ingest.ts'
import { createHealthFile, healthPath, readTrouble } from '../../ingest/store/health-file.ts'
import { loadSqlite } from '../../ingest/store/load-sqlite.ts'
import {
  append,
  assertWorldSound,
  createLines,
  createWorld,
  ingestOnce,
  storedCalls,
  type World,
  withReader,
} from './support.ts'

const fixture = new URL('./fixtures/ingester.ts', import.meta.url).pathname

function follow(t: TestContext, world: World, options: { maxDatabaseBytes?: number } = {}) {
  const aborter = new AbortController()
  const done = runIngest({
    roots: [world.logs],
    databasePath: world.databasePath,
    signal: aborter.signal,
    pollMs: 20,
    ...options,
  })
  done.catch(() => undefined)
  t.after(() => aborter.abort())
  return {
    done,
    stop: () => {
      aborter.abort()
      return done
    },
  }
}

async function until<T>(what: string, ask: () => T | undefined | false): Promise<T> {
  const deadline = Date.now() + 30_000
  for (;;) {
    const answer = ask()
    if (answer !== undefined && answer !== false) return answer
    if (Date.now() > deadline) assert.fail(`never: ${what}`)
    await sleep(10)
  }
}

function fill(world: World, name: string, calls: number, writer = 'a'.repeat(32)): void {
  const lines = createLines(writer)
  const text = Array.from({ length: calls }, () => lines.call({ args: { text: 'x'.repeat(300) } }))
  append(world.log(name), text.join(''))
}

const rowsIn = (world: World) => withReader(world, (database) => storedCalls(database).length)

test('FULL is told while it lasts, in a file that needs no space, and is over when there is room', async (t) => {
  const world = createWorld()
  fill(world, 'a.jsonl', 2000)
  const run = follow(t, world, { maxDatabaseBytes: 500_000 })
  const trouble = await until('the state', () => readTrouble(world.databasePath))
  assert.deepEqual([trouble.state, trouble.ended, trouble.pid], ['full', false, process.pid])
  assert.match(trouble.message, /free some and ingesting goes on by itself/)
  await until('it is seen again', () => (readTrouble(world.databasePath)?.atMs ?? 0) > trouble.atMs)
  assert.equal(readTrouble(world.databasePath)?.sinceMs, trouble.sinceMs)
  await run.stop()
  assert.equal(statSync(healthPath(world.databasePath)).mode & 0o777, 0o600)

  await ingestOnce(world)
  assert.equal(readTrouble(world.databasePath), undefined)
  assert.equal(statSync(healthPath(world.databasePath)).size, 4096)
  assert.equal(rowsIn(world), 2000)
  assertWorldSound(world)
})

test('IOERR: a write that fails is told and waited out', async () => {
  const world = createWorld()
  await ingestOnce(world)
  fill(world, 'a.jsonl', 4000)
  // Blocks of 512 bytes: what would make a file larger than 400 kB fails.
  const args = [process.execPath, '--import', 'tsx', fixture, world.logs, world.databasePath]
  const script = `trap '' XFSZ; ulimit -f 800; exec timeout 8 "$@"`
  const { stdout, stderr } = spawnSync('sh', ['-c', script, 'sh', ...args], { encoding: 'utf8' })
  const trouble = readTrouble(world.databasePath)
  assert.ok(trouble?.state === 'io' || trouble?.state === 'full', stdout + stderr)
  assert.equal(trouble.ended, false)
  await ingestOnce(world)
  assert.equal(readTrouble(world.databasePath), undefined)
  assert.equal(rowsIn(world), 4000)
  assertWorldSound(world)
})

test('CORRUPT ends the run, and stays told after it', async () => {
  const world = createWorld()
  fill(world, 'a.jsonl', 3000)
  await ingestOnce(world)
  const { size } = statSync(world.databasePath)
  const file = openSync(world.databasePath, 'r+')
  for (let page = 2; page * 8192 < size; page += 1) {
    // Interior and leaf pages alike, but not the schema's.
    if (page > 6) writeSync(file, Buffer.alloc(8192, 0x5a), 0, 8192, page * 8192)
  }
  fill(world, 'b.jsonl', 100, 'b'.repeat(32))
  await assert.rejects(ingestOnce(world), { name: 'StoreError', state: 'corrupt' })
  const trouble = readTrouble(world.databasePath)
  assert.deepEqual([trouble?.state, trouble?.ended], ['corrupt', true])
  assert.match(trouble?.message ?? '', /move it aside and ingest the logs again/)
})

test('NOTADB: a text file in the place of the database is refused, and left as it is', async () => {
  const world = createWorld()
  writeFileSync(world.databasePath, 'my notes\n'.repeat(200))
  await assert.rejects(ingestOnce(world), { name: 'StoreError', state: 'not_a_database' })
  assert.equal(readFileSync(world.databasePath, 'utf8'), 'my notes\n'.repeat(200))
})

test('a database that is deleted, or replaced, under the ingester is told as moved', async (t) => {
  for (const replace of [false, true]) {
    const world = createWorld()
    fill(world, 'a.jsonl', 5)
    const run = follow(t, world)
    await until(
      'the rows',
      () => statSync(world.databasePath, { throwIfNoEntry: false }) && rowsIn(world) === 5,
    )
    const other = join(world.directory, 'other.db')
    if (replace) {
      const copy = new (loadSqlite())(other)
      copy.exec('CREATE TABLE notes (text TEXT)')
      copy.close()
      renameSync(other, world.databasePath)
    } else rmSync(world.databasePath)
    await assert.rejects(run.done, { name: 'StoreError', state: 'moved' })
    const trouble = readTrouble(world.databasePath)
    assert.deepEqual([trouble?.state, trouble?.ended], ['moved', true])
    assert.match(trouble?.message ?? '', replace ? /was replaced/ : /was deleted/)
  }
})

test('READONLY: a database of another user is told in words', (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root can be two users')
  const world = createWorld()
  return ingestOnce(world).then(() => {
    fill(world, 'a.jsonl', 5)
    chmodSync(world.directory, 0o755)
    chmodSync(world.logs, 0o755)
    chmodSync(world.log('a.jsonl'), 0o644)
    copyFileSync(world.databasePath, `${world.databasePath}.copy`)
    renameSync(`${world.databasePath}.copy`, world.databasePath)
    chmodSync(world.databasePath, 0o444)
    chmodSync(`${world.databasePath}.lock`, 0o666)
    const args = ['--import', 'tsx', fixture, world.logs, world.databasePath, '65534']
    const { stdout, stderr } = spawnSync(process.execPath, args, {
      encoding: 'utf8',
      timeout: 5_000,
    })
    assert.match(stdout + stderr, /cannot be opened for this user/)
  })
})

test('a health file that cannot be read or written is done without', () => {
  const world = createWorld()
  const trouble = {
    state: 'full',
    message: 'm',
    sinceMs: 1,
    atMs: 2,
    pid: 3,
    ended: false,
  } as const
  assert.equal(readTrouble(world.databasePath), undefined)
  createHealthFile(join(world.directory, 'none', 'x.db')).write(trouble)
  writeFileSync(healthPath(world.databasePath), 'no JSON')
  assert.equal(readTrouble(world.databasePath), undefined)
  createHealthFile(world.databasePath).write({ ...trouble, message: 'é'.repeat(5000) })
  assert.equal(readTrouble(world.databasePath)?.message.length, 1500)
})
