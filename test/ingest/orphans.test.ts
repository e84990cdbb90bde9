import assert from 'node:assert/strict'
import { readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { runIngest } from '../../ingest/run-ingest.ts'
import type { Database } from '../../ingest/store/load-sqlite.ts'
import type { Host } from '../../ingest/writer-liveness.ts'
import {
  type OpenCallEntry,
  type OpenJournalHeader,
  readOpenJournal,
  SLOT_BYTES,
} from '../../server/call-log/open-journal.ts'
import { openCallStore } from '../../web/queries/sqlite-call-store.ts'
import { startChild } from '../server/stdio-child.ts'
import { until } from '../server/wrapper-harness.ts'
import {
  append,
  assertWorldSound,
  callRecord,
  createStampedLine,
  createTailer,
  createWorld,
  NOON,
  type World,
  withReader,
} from './support.ts'

const fixture = '../../ingest/fixtures/slow-server.ts'
const REPORT = { customer: 'Ada & Söhne', ids: [3, 1, 2] }

async function startSlow(t: TestContext, world: World, env: Record<string, string> = {}) {
  return startChild(t, fixture, [world.logs], env)
}

/** Waits for the call's slot. */
async function inJournal(world: World, tool: string): Promise<void> {
  await until(() => {
    const name = readdirSync(world.logs).find((each) => each.endsWith('.open'))
    const calls = name === undefined ? [] : readOpenJournal(readFileSync(world.log(name)))?.calls
    return calls?.some((call) => call.tool === tool) ? true : undefined
  }, `${tool} in the journal`)
}

function ingest(world: World) {
  return runIngest({
    roots: [world.logs],
    databasePath: world.databasePath,
    once: true,
    pollMs: 20,
  })
}

type Row = { tool: string; outcome: string; class: string; args: string; error_message: string }

function callsOf(database: Database): Row[] {
  return database
    .prepare('SELECT tool, outcome, class, args, error_message FROM calls ORDER BY id')
    .all() as Row[]
}

function rowsOf(world: World): Row[] {
  return withReader(world, callsOf)
}

function countedOf(world: World): Record<string, number> {
  return withReader(world, (database) =>
    Object.fromEntries(
      database
        .prepare(`SELECT error_class.name, SUM(calls) FROM quarter_count
          JOIN error_class ON error_class.id = class_id GROUP BY 1 HAVING SUM(calls) <> 0`)
        .raw()
        .all() as [string, number][],
    ),
  )
}

test('a call whose server is killed is closed as crashed, with the arguments that were running', async (t) => {
  const world = createWorld()
  const child = await startSlow(t, world)
  child.call(1, 'export_report', REPORT)
  await inJournal(world, 'export_report')
  child.process.kill('SIGKILL')
  await child.exitCode()

  await ingest(world)
  const [row, ...others] = rowsOf(world)
  assert.deepEqual(others, [])
  assert.deepEqual(
    [row?.tool, row?.outcome, row?.class, JSON.parse(row?.args ?? '')],
    ['export_report', 'failed', 'crashed', REPORT],
  )
  assert.match(row?.error_message ?? '', /^The process was gone before the call ended/)
  assert.deepEqual(countedOf(world), { crashed: 1 })

  await ingest(world)
  assert.equal(rowsOf(world).length, 1, 'once, however often it is read')
  assertWorldSound(world)
})

test('a call that used up all memory is closed as crashed', async (t) => {
  const world = createWorld()
  const child = await startSlow(t, world, { NODE_OPTIONS: '--max-old-space-size=90' })
  child.call(1, 'eats_memory', REPORT)
  await child.exitCode()
  await ingest(world)
  const [row] = rowsOf(world)
  assert.deepEqual([row?.tool, row?.class], ['eats_memory', 'crashed'])
  assert.deepEqual(JSON.parse(row?.args ?? ''), REPORT)
  assertWorldSound(world)
})

test('a call that is still running is not closed, and has one row when it ends', async (t) => {
  const world = createWorld()
  const child = await startSlow(t, world)
  const path = join(world.directory, 'go')
  child.call(1, 'waits_for', { path })
  await inJournal(world, 'waits_for')
  child.process.kill('SIGSTOP')
  await ingest(world)
  assert.deepEqual(rowsOf(world), [], 'stopped, and alive all the same')
  child.process.kill('SIGCONT')
  writeFileSync(path, '')
  await child.answer(1)
  await ingest(world)
  assert.deepEqual(
    rowsOf(world).map(({ tool, outcome }) => [tool, outcome]),
    [['waits_for', 'succeeded']],
  )
  assertWorldSound(world)
})

test('a call that ended before its server was killed is no orphan', async (t) => {
  const world = createWorld()
  const child = await startSlow(t, world)
  const path = join(world.directory, 'go')
  child.call(1, 'waits_for', { path })
  await inJournal(world, 'waits_for')
  writeFileSync(path, '')
  await child.answer(1)
  child.process.kill('SIGKILL')
  await child.exitCode()
  await ingest(world)
  assert.deepEqual(
    rowsOf(world).map(({ outcome }) => outcome),
    ['succeeded'],
  )
})

const W = 'a'.repeat(32)
const STEM = 'invoices.20260310T115900Z.4711.aaaaaaaa'

/** A journal as a writer leaves it. */
function writeJournal(
  world: World,
  entries: readonly (Partial<OpenCallEntry> | string)[],
  header: Partial<OpenJournalHeader> = {},
): string {
  const { kind: _, duration_ms: __, outcome: ___, attempts: ____, ...open } = callRecord()
  const head = { v: 1, kind: 'open_calls', w: W, pid: 4711, started: NOON, slot_bytes: SLOT_BYTES }
  const slots = [
    { ...head, ...header },
    ...entries.map((entry) => (typeof entry === 'string' ? entry : { ...open, ...entry })),
  ]
  const bytes = Buffer.alloc(slots.length * SLOT_BYTES)
  for (const [index, slot] of slots.entries()) {
    const text = typeof slot === 'string' ? slot : `${JSON.stringify(slot)}\n`
    bytes.write(text, index * SLOT_BYTES)
  }
  const path = world.log(`${STEM}.open`)
  writeFileSync(path, bytes)
  return path
}

const dead: Host = {
  name: 'host-a',
  bootId: 'boot-1',
  pidNamespace: 'pid:[1]',
  bootedMs: () => 0,
  startOf: () => undefined,
}
const here = { boot_id: 'boot-1', pid_ns: 'pid:[1]' }

function logLine(n: number, call: string): string {
  return createStampedLine(W, n, NOON, callRecord({ call, started: NOON, duration_ms: 900 }))
}

test('on its page a call that died says where it was found', (t) => {
  const world = createWorld()
  writeJournal(world, [{ call: 'c-1' }], here)
  const tailer = createTailer(world, { host: dead })
  tailer.settle()
  tailer.stop()
  const store = openCallStore(world.databasePath)
  t.after(() => store.close())
  const call = store.call(1)
  assert.equal(call?.file, world.log(`${STEM}.open`))
  assert.equal(call?.lineOffset, SLOT_BYTES)
  assert.equal(call?.writer, W)
  assert.deepEqual(store.ingestHealth().gaps, [], 'its number is no hole')
})

test('the record of a call that was taken for dead takes the place of its row', () => {
  const world = createWorld()
  const log = world.log(`${STEM}.1.jsonl`)
  append(log, logLine(1, 'c-1'))
  writeJournal(world, [{ call: 'c-2' }, { call: 'c-3' }], here)
  const tailer = createTailer(world, { host: dead })
  tailer.settle()
  const states = () => callsOf(tailer.database).map((row) => [row.class, row.outcome])
  assert.deepEqual(states(), [
    ['', 'succeeded'],
    ['crashed', 'failed'],
    ['crashed', 'failed'],
  ])

  append(log, logLine(2, 'c-2'))
  tailer.settle()
  assert.deepEqual(states(), [
    ['', 'succeeded'],
    ['crashed', 'failed'],
    ['', 'succeeded'],
  ])
  assert.deepEqual(countedOf(world), { '': 2, crashed: 1 })
  tailer.stop()
  assertWorldSound(world)

  // After a restart as well, when only the database knows.
  append(log, logLine(3, 'c-3'))
  const next = createTailer(world, { host: dead })
  next.settle()
  assert.equal(callsOf(next.database).length, 3)
  next.stop()
  assert.deepEqual(countedOf(world), { '': 3 })
  assertWorldSound(world)
})

test('an orphan whose row was removed for its age does not come back', () => {
  const world = createWorld()
  writeJournal(world, [{ call: 'c-1' }], here)
  const tailer = createTailer(world, { host: dead })
  tailer.settle()
  assert.equal(callsOf(tailer.database).length, 1)
  tailer.database.exec('DELETE FROM call_text; DELETE FROM call')
  tailer.stop()
  const next = createTailer(world, { host: dead })
  next.settle()
  assert.deepEqual(callsOf(next.database), [])
  next.stop()
})

test('last words that were written while the log was read are waited for', () => {
  const world = createWorld()
  const log = world.log(`${STEM}.1.jsonl`)
  append(log, logLine(1, 'c-1'))
  writeJournal(world, [{ call: 'c-2' }], here)
  let lives = true
  const host: Host = {
    ...dead,
    startOf() {
      // It dies between the reading of its log and the question.
      if (lives) append(log, logLine(2, 'c-2'))
      lives = false
      return undefined
    },
  }
  const tailer = createTailer(world, { host })
  assert.equal(tailer.poll().caughtUp, false, 'there is something to wait for')
  tailer.settle()
  assert.deepEqual(
    callsOf(tailer.database).map(({ outcome }) => outcome),
    ['succeeded', 'succeeded'],
  )
  assert.equal(
    tailer.database.prepare("SELECT COUNT(*) FROM stream WHERE state = 'journal'").pluck().get(),
    1,
  )
  tailer.stop()
})

test('a slot that was written in part is refused with its place, the others are rows', () => {
  const world = createWorld()
  writeJournal(world, ['{"call":"c-1","tool":"x","args":{"password":"hun', { call: 'c-2' }], here)
  const tailer = createTailer(world, { host: dead })
  tailer.settle()
  tailer.stop()
  const again = createTailer(world, { host: dead })
  again.settle()
  assert.equal(callsOf(again.database).length, 1)
  assert.deepEqual(
    again.database.prepare('SELECT reason, line_offset, lines FROM quarantine').all(),
    [{ reason: 'torn', line_offset: SLOT_BYTES, lines: 1 }],
  )
  again.stop()
  assertWorldSound(world)
})

test('numbers that no double holds are kept as they were written', () => {
  const world = createWorld()
  const path = writeJournal(world, [{ call: 'c-1', args: { id: 'NUMBER' } }], here)
  const bytes = readFileSync(path)
  const at = bytes.indexOf('"NUMBER"')
  bytes.write('12345678901234567890}}\n', at)
  writeFileSync(path, bytes)
  const tailer = createTailer(world, { host: dead })
  tailer.settle()
  assert.equal(callsOf(tailer.database)[0]?.args, '{"id":12345678901234567890}')
  tailer.stop()
})

test('whose fault it was is told where the process could still say it', () => {
  const world = createWorld()
  append(
    world.log(`${STEM}.1.jsonl`),
    createStampedLine(W, 1, NOON, {
      kind: 'fatal',
      error: { class: 'unexpected', message: 'boom' },
      call: 'c-1',
    }),
  )
  writeJournal(world, [{ call: 'c-1' }, { call: 'c-2' }], here)
  const tailer = createTailer(world, { host: dead })
  tailer.settle()
  assert.deepEqual(
    tailer.database
      .prepare("SELECT uid, detail ->> '$.error.by' AS by FROM call_text ORDER BY uid")
      .all(),
    [
      { uid: 'c-1', by: 'self' },
      { uid: 'c-2', by: 'other' },
    ],
  )
  tailer.stop()
})

test('a file that only looks like a journal is left alone', () => {
  const world = createWorld()
  writeFileSync(world.log('notes.open'), 'a text of mine\n')
  truncateSync(writeJournal(world, [{ call: 'c-1' }], here), 20)
  const tailer = createTailer(world, { host: dead, roots: [world.log('*')] })
  tailer.settle()
  assert.deepEqual(callsOf(tailer.database), [])
  assert.equal(tailer.database.prepare('SELECT COUNT(*) FROM stream').pluck().get(), 0)
  tailer.stop()
})

test('a journal is found beside a log that was named alone, and by a glob', () => {
  for (const root of [`${STEM}.1.jsonl`, '*.jsonl']) {
    const world = createWorld()
    append(world.log(`${STEM}.1.jsonl`), logLine(1, 'c-1'))
    writeJournal(world, [{ call: 'c-2' }], here)
    const tailer = createTailer(world, { host: dead, roots: [world.log(root)] })
    tailer.settle()
    assert.equal(callsOf(tailer.database).length, 2, root)
    tailer.stop()
    renameSync(world.log(`${STEM}.open`), world.log('gone'))
    rmSync(world.log('gone'))
  }
})
