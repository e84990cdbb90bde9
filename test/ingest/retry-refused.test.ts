import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { runIngest } from '../../ingest/run-ingest.ts'
import { openWriter } from '../../ingest/store/open-database.ts'
import { carryOut } from '../../ingest/worker/carry-out.ts'
import {
  append,
  assertWorldSound,
  callRecord,
  createStampedLine,
  createWorld,
  foreignCall,
  ingestOnce,
  NOON,
  quarantined,
  storedCalls,
  type World,
  withReader,
} from './support.ts'

const W = 'f'.repeat(32)
/** Stands for a program that could not read them yet. */
const SHORT_LINES = { limits: { maxLineBytes: 400 } }
const long = { args: { text: 'x'.repeat(500) } }

function stamped(n: number, changes = {}): string {
  return createStampedLine(W, n, NOON, callRecord({ call: `c-${n}`, ...changes }))
}

function retry(world: World, parameters: unknown = {}) {
  return carryOut({
    databasePath: world.databasePath,
    kind: 'quarantine_retry',
    parameters,
    now: () => NOON + 120_000,
  })
}

const NOTHING = {
  entries: 0,
  rows: 0,
  events: 0,
  duplicates: 0,
  passedOver: 0,
  refused: 0,
  gone: 0,
}

function calls(world: World): string[] {
  return withReader(world, storedCalls)
}

test('lines that can be read now become rows, the rest stays where it is', async () => {
  const world = createWorld()
  append(
    world.log('a.jsonl'),
    stamped(1),
    stamped(2, long),
    stamped(3, long),
    'not json\n',
    stamped(4),
    foreignCall('f-1', { ...long, outcome: 'error' }),
    `{"level":30,"msg":"${'y'.repeat(500)}"}\n`,
  )
  await ingestOnce(world, SHORT_LINES)
  assert.deepEqual(calls(world), ['c-1', 'c-4'])

  const counts = { ...NOTHING, entries: 3, rows: 3, passedOver: 1, refused: 1 }
  assert.deepEqual(await retry(world), { outcome: 'done', counts })
  assert.deepEqual(calls(world), ['c-1', 'c-2', 'c-3', 'c-4', 'f-1'])
  assert.deepEqual(
    withReader(world, quarantined).map(({ reason, lines }) => [reason, lines]),
    [['not_json', 1]],
  )
  assertWorldSound(world)

  assert.deepEqual(await retry(world), {
    outcome: 'done',
    counts: { ...NOTHING, entries: 1, refused: 1 },
  })
  await ingestOnce(world)
  assert.equal(calls(world).length, 5, 'and reading the file again doubles nothing')
  assertWorldSound(world)
})

test('of a run of refused lines the good ones are stored and the bad ones keep their places', async () => {
  const world = createWorld()
  const bad = `${'z'.repeat(500)}\n`
  append(world.log('a.jsonl'), stamped(1, long), bad, stamped(2, long), bad)
  await ingestOnce(world, SHORT_LINES)
  assert.equal(withReader(world, quarantined).length, 1, 'one run')
  await retry(world)
  assert.deepEqual(calls(world), ['c-1', 'c-2'])
  const places = withReader(world, (database) =>
    database
      .prepare(
        'SELECT line_offset, line_number, length_bytes, reason, seen_ms FROM quarantine ORDER BY 1',
      )
      .all(),
  )
  const one = Buffer.byteLength(stamped(1, long))
  const entry = { length_bytes: 501, reason: 'not_json', seen_ms: NOON + 60_000 }
  assert.deepEqual(places, [
    { line_offset: one, line_number: 2, ...entry },
    { line_offset: 2 * one + 501, line_number: 4, ...entry },
  ])
  assertWorldSound(world)
})

test('only what is asked for is tried', async () => {
  const world = createWorld()
  append(world.log('a.jsonl'), stamped(1, long), 'junk\n', stamped(2, long))
  await ingestOnce(world, SHORT_LINES)
  await retry(world, { reason: 'not_json' })
  assert.deepEqual(calls(world), [])
  await retry(world, { ids: [3, 99] })
  assert.deepEqual(calls(world), ['c-2'])
  await retry(world, { reason: 'too_long' })
  assert.deepEqual(calls(world), ['c-1', 'c-2'])
  assert.equal((await retry(world, { ids: ['1'] }))?.outcome, 'refused')
})

test('a file that is gone, or holds other lines by now, leaves the entry as it is', async () => {
  const world = createWorld()
  append(world.log('a.jsonl'), stamped(1, long))
  append(world.log('b.jsonl'), createStampedLine('b'.repeat(32), 1, NOON, callRecord(long)))
  await ingestOnce(world, SHORT_LINES)
  rmSync(world.log('a.jsonl'))
  writeFileSync(world.log('b.jsonl'), stamped(9, { args: { text: 'w'.repeat(900) } }))
  assert.deepEqual(await retry(world), {
    outcome: 'done',
    counts: { ...NOTHING, entries: 2, gone: 2 },
  })
  assert.deepEqual(calls(world), [])
  assert.equal(withReader(world, quarantined).length, 2)
})

test('a line whose number was taken when it was refused is stored, and only once', async () => {
  const world = createWorld()
  const path = world.log('a.jsonl')
  // Without a tool; then, of the same length, with one: as if the reader had learnt to read it.
  append(path, stamped(1).replace('"tool":', '"toil":'))
  await ingestOnce(world)
  assert.equal(withReader(world, quarantined)[0]?.reason, 'invalid')
  writeFileSync(path, readFileSync(path, 'utf8').replace('"toil":', '"tool":'))
  const database = openWriter(world.databasePath)
  const hash = createHash('sha256').update(readFileSync(path)).digest('hex')
  database.prepare('UPDATE quarantine SET sha256 = ?').run(hash)
  database.close()
  await retry(world)
  assert.deepEqual(calls(world), ['c-1'])
  append(world.log('b.jsonl'), stamped(1))
  await ingestOnce(world)
  assert.deepEqual(calls(world), ['c-1'])
  assertWorldSound(world)
})

test('what was forgotten does not come back', async () => {
  const world = createWorld()
  append(world.log('a.jsonl'), stamped(1, long))
  await ingestOnce(world, SHORT_LINES)
  await carryOut({
    databasePath: world.databasePath,
    kind: 'forget',
    parameters: { what: 'before', beforeMs: NOON + 3600_000 },
  })
  await retry(world)
  assert.deepEqual(calls(world), [])
})

test('while another process ingests it is asked, and goes on reading afterwards', async (t) => {
  const world = createWorld()
  append(world.log('a.jsonl'), stamped(1, long), stamped(2))
  await ingestOnce(world, SHORT_LINES)
  const aborter = new AbortController()
  t.after(() => aborter.abort())
  const done = runIngest({
    roots: [world.logs],
    databasePath: world.databasePath,
    signal: aborter.signal,
    pollMs: 20,
  })
  let told = ''
  const answer = await carryOut({
    databasePath: world.databasePath,
    kind: 'quarantine_retry',
    parameters: {},
    onWaiting: (sentence) => {
      told = sentence
    },
  })
  assert.match(told, /^Process \d+ ingests into this database and was asked to do it/)
  assert.equal(answer?.outcome === 'done' && answer.counts.rows, 1)
  append(world.log('a.jsonl'), stamped(3))
  const deadline = Date.now() + 20_000
  while (calls(world).length < 3 && Date.now() < deadline) await sleep(20)
  aborter.abort()
  await done
  assert.deepEqual(calls(world), ['c-1', 'c-2', 'c-3'])
  assertWorldSound(world)
})
