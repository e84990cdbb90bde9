import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { test } from 'node:test'
import { runIngest } from '../../ingest/run-ingest.ts'
import type { Database } from '../../ingest/store/load-sqlite.ts'
import { openWriter } from '../../ingest/store/open-database.ts'
import { createChores } from '../../ingest/worker/chores.ts'
import type { RetentionLimits } from '../../ingest/worker/retention.ts'
import type { CallRecord } from '../../server/call-log/record.ts'
import {
  append,
  assertSound,
  assertWorldSound,
  callRecord,
  createStampedLine,
  createTailer,
  createWorld,
  NOON,
  storedCalls,
  type World,
  withReader,
} from './support.ts'

const DAY = 24 * 3600 * 1000
const W = 'e'.repeat(32)

function line(n: number, changes: Partial<CallRecord> = {}, timeMs = NOON): string {
  return createStampedLine(W, n, timeMs, callRecord({ call: `c-${n}`, ...changes }))
}

async function ingestAt(world: World, nowMs: number, retention: RetentionLimits = {}) {
  return runIngest({
    roots: [world.logs],
    databasePath: world.databasePath,
    once: true,
    now: () => nowMs,
    retention,
  })
}

function one(world: World, sql: string): unknown {
  return withReader(world, (database) => database.prepare(sql).pluck().get())
}

test('calls that were made and read before the limit are removed, and stay counted', async () => {
  const world = createWorld()
  append(world.log('a.jsonl'), line(1))
  await ingestAt(world, NOON + 60_000)
  append(world.log('a.jsonl'), line(2, { started: NOON + 80 * DAY }, NOON + 80 * DAY))
  await ingestAt(world, NOON + 80 * DAY)
  const kept = await ingestAt(world, NOON + 89 * DAY, { maxAgeMs: 90 * DAY })
  assert.equal(kept.removed.calls, 0)
  const summary = await ingestAt(world, NOON + 91 * DAY, { maxAgeMs: 90 * DAY })
  assert.deepEqual(summary.removed, { calls: 1, events: 0, refusedLines: 0 })
  withReader(world, (database) => {
    assert.deepEqual(storedCalls(database), ['c-2'])
    assert.deepEqual(
      database.prepare('SELECT sum(calls), sum(removed_calls) FROM quarter_count').raw().get(),
      [2, 1],
    )
    assert.deepEqual(database.prepare('SELECT * FROM removal').all(), [
      {
        key: 'age:2026-06-09',
        reason: 'age',
        first_ms: NOON + 91 * DAY,
        last_ms: NOON + 91 * DAY,
        calls: 1,
        events: 0,
        refused_lines: 0,
        newest_ms: NOON,
      },
    ])
    assertSound(database)
  })
})

test('E16: what was read only now is kept for as long, however old it is', async () => {
  const world = createWorld()
  append(world.log('a.jsonl'), line(1))
  await ingestAt(world, NOON + 400 * DAY, { maxAgeMs: 90 * DAY })
  await ingestAt(world, NOON + 480 * DAY, { maxAgeMs: 90 * DAY })
  assert.equal(one(world, 'SELECT count(*) FROM call'), 1)
  await ingestAt(world, NOON + 491 * DAY, { maxAgeMs: 90 * DAY })
  assert.equal(one(world, 'SELECT count(*) FROM call'), 0)
  assertWorldSound(world)
})

test('E16: a call whose clock was far ahead goes at the age it was read at', async () => {
  const world = createWorld()
  append(world.log('a.jsonl'), line(1, { started: NOON + 400 * DAY }, NOON + 400 * DAY))
  await ingestAt(world, NOON)
  await ingestAt(world, NOON + 91 * DAY, { maxAgeMs: 90 * DAY })
  assert.equal(one(world, 'SELECT count(*) FROM call'), 0)
  assertWorldSound(world)
})

test('R30: removed rows do not come back while their log is still there', async () => {
  const world = createWorld()
  append(world.log('a.jsonl'), line(1), line(2))
  await ingestAt(world, NOON)
  await ingestAt(world, NOON + 91 * DAY, { maxAgeMs: 90 * DAY })
  assert.equal(one(world, 'SELECT count(*) FROM call'), 0)
  // The same lines under another name and in another file.
  append(world.log('copy.jsonl'), line(1), line(2), line(3))
  const again = await ingestAt(world, NOON + 91 * DAY, { maxAgeMs: 90 * DAY })
  assert.deepEqual([again.rows, again.duplicates], [1, 2])
  assert.equal(one(world, 'SELECT sum(calls) FROM quarter_count'), 3)
  assertWorldSound(world)
})

test('sessions and signatures go with their last call, and no row points to nothing', async () => {
  const world = createWorld()
  const issues: CallRecord['issues'] = [
    { path: 'id', code: 'wrong_type', expected: 'number', received: 'string' },
  ]
  const broken = { outcome: 'failed', error: error(), issues } as const
  append(world.log('a.jsonl'), line(1, { session: 'old', ...broken }), line(2, { session: 'both' }))
  await ingestAt(world, NOON)
  append(world.log('a.jsonl'), line(3, { session: 'both', started: NOON + 60 * DAY }))
  await ingestAt(world, NOON + 60 * DAY)
  assert.equal(one(world, 'SELECT count(*) FROM signature'), 1)
  await ingestAt(world, NOON + 91 * DAY, { maxAgeMs: 90 * DAY })
  assert.equal(one(world, 'SELECT group_concat(key) FROM session'), 'both')
  assert.equal(one(world, 'SELECT count(*) FROM signature'), 0)
  assert.equal(one(world, 'SELECT count(*) FROM pragma_foreign_key_check'), 0)
  assertWorldSound(world)
})

function error(): CallRecord['error'] {
  return { class: 'invalid_arguments', message: 'id must be a number' }
}

test('refused lines and process records go too, and every byte stays accounted for', async () => {
  const world = createWorld()
  const exit = createStampedLine(W, 1, NOON, { kind: 'exit', code: 0 })
  append(world.log('a.jsonl'), exit, 'junk\n', '[1]\n', line(2))
  await ingestAt(world, NOON)
  const { removed } = await ingestAt(world, NOON + 91 * DAY, { maxAgeMs: 90 * DAY })
  assert.deepEqual(removed, { calls: 1, events: 1, refusedLines: 2 })
  assert.equal(one(world, 'SELECT count(*) FROM quarantine'), 0)
  assert.equal(one(world, 'SELECT quarantined_lines FROM stream'), 2)
  // The next refused line must not be added to an entry that has gone.
  append(world.log('a.jsonl'), 'more junk\n')
  await ingestAt(world, NOON + 91 * DAY)
  assert.equal(one(world, 'SELECT sum(lines) FROM quarantine'), 1)
  assertWorldSound(world)
})

test('a clock that was set back removes nothing too early', async () => {
  const world = createWorld()
  append(world.log('a.jsonl'), line(1))
  await ingestAt(world, NOON + 50 * DAY)
  append(world.log('a.jsonl'), line(2))
  await ingestAt(world, NOON)
  await ingestAt(world, NOON + 89 * DAY, { maxAgeMs: 90 * DAY })
  assert.equal(one(world, 'SELECT count(*) FROM call'), 2)
  assertWorldSound(world)
})

/** A database of so many calls of about 1 kB, a minute apart, and its writing connection. */
function filled(world: World, calls: number): Database {
  const pad = 'x'.repeat(900)
  const lines = Array.from({ length: calls }, (_, index) =>
    line(index + 1, { started: NOON - (calls - index) * 60_000, args: { pad } }),
  )
  append(world.log('a.jsonl'), lines.join(''))
  const tailer = createTailer(world)
  tailer.settle()
  tailer.stop()
  return openWriter(world.databasePath)
}

function choresOf(world: World, database: Database, retention: RetentionLimits, nowMs = NOON) {
  database.pragma('foreign_keys = OFF')
  return createChores(database, {
    databasePath: world.databasePath,
    retention,
    now: () => nowMs,
  })
}

test('old rows are removed at most a thousand a step, so that reading goes on in between', () => {
  const world = createWorld()
  const database = filled(world, 3500)
  choresOf(world, database, {}).step()
  const chores = choresOf(world, database, { maxAgeMs: DAY }, NOON + 100 * DAY)
  const steps: number[] = []
  for (let done = chores.step(); done.any; done = chores.step()) {
    if (done.removed.calls > 0) steps.push(done.removed.calls)
  }
  assert.deepEqual(steps, [1000, 1000, 1000, 500])
  assertSound(database)
  database.close()
})

test('beyond its size the database loses its oldest calls, and the file shrinks', () => {
  const world = createWorld()
  const database = filled(world, 5000)
  database.pragma('wal_checkpoint(TRUNCATE)')
  const before = statSync(world.databasePath).size
  const maxBytes = Math.round(before / 2)
  const chores = choresOf(world, database, { maxBytes })
  let calls = 0
  for (let done = chores.step(); done.any; done = chores.step()) calls += done.removed.calls
  database.pragma('wal_checkpoint(TRUNCATE)')
  assert.ok(statSync(world.databasePath).size <= maxBytes, 'the file is within the limit')
  const kept = storedCalls(database)
  assert.equal(kept.length, 5000 - calls)
  assert.ok(calls > 1000 && calls < 4000, `${calls} removed`)
  assert.ok(kept.includes('c-5000') && !kept.includes('c-1'))
  assert.equal(
    database.prepare('SELECT calls FROM removal WHERE reason = ?').pluck().get('size'),
    calls,
  )
  assert.equal(database.prepare('SELECT sum(calls) FROM quarter_count').pluck().get(), 5000)
  assertSound(database)
  assert.equal(chores.step().any, false)
  assert.deepEqual(chores.problems(), [])
  database.close()
})

test('a size that not even an empty database keeps within is told as a problem', () => {
  const world = createWorld()
  const database = filled(world, 100)
  const chores = choresOf(world, database, { maxBytes: 8192 })
  for (let steps = 0; steps < 50 && chores.step().any; steps += 1);
  assert.equal(storedCalls(database).length, 0)
  assert.match(chores.problems().join(), /larger than --max-db allows.*allow more/)
  assertSound(database)
  database.close()
})

test('E25: an import that is larger than the limit stays within it while it is read', async () => {
  const world = createWorld()
  const maxBytes = 2 * 1024 * 1024
  const pad = 'y'.repeat(4000)
  for (let file = 0; file < 4; file += 1) {
    const lines = Array.from({ length: 500 }, (_, index) =>
      line(file * 500 + index + 1, { started: NOON + file * 500 + index, args: { pad } }),
    )
    append(world.log(`${file}.jsonl`), lines.join(''))
  }
  let largest = 0
  const summary = await runIngest({
    roots: [world.logs],
    databasePath: world.databasePath,
    once: true,
    now: () => NOON + DAY,
    limits: { pollBudgetMs: 1, importLines: 100 },
    retention: { maxBytes },
    onProgress() {
      largest = Math.max(largest, statSync(world.databasePath).size)
    },
  })
  assert.equal(summary.rows, 2000)
  assert.ok(summary.removed.calls > 1000, `${summary.removed.calls} removed`)
  assert.ok(statSync(world.databasePath).size <= maxBytes)
  assert.ok(largest <= maxBytes * 2, `grew to ${largest}`)
  assert.equal(one(world, 'SELECT max(started_ms) FROM call'), NOON + 1999)
  assertWorldSound(world)
})

test('a session that was removed and speaks again is a session again', async (t) => {
  const world = createWorld()
  const clock = { nowMs: NOON }
  const aborter = new AbortController()
  append(world.log('a.jsonl'), line(1, { session: 's' }))
  const done = runIngest({
    roots: [world.logs],
    databasePath: world.databasePath,
    signal: aborter.signal,
    pollMs: 10,
    now: () => clock.nowMs,
    retention: { maxAgeMs: DAY },
    onProgress() {
      if (one(world, 'SELECT count(*) FROM call') === 1 && clock.nowMs === NOON) {
        clock.nowMs = NOON + 3 * DAY
      } else if (one(world, 'SELECT sum(removed_calls) FROM quarter_count') === 1) {
        if (one(world, 'SELECT count(*) FROM call') === 1) aborter.abort()
        else if (statSync(world.log('a.jsonl')).size < 600) {
          append(world.log('a.jsonl'), line(2, { session: 's', started: clock.nowMs }))
        }
      }
    },
  })
  t.after(() => aborter.abort())
  await done
  assert.deepEqual(
    withReader(world, (database) => database.prepare('SELECT uid, session FROM calls').raw().all()),
    [['c-2', 's']],
  )
  assertWorldSound(world)
})
