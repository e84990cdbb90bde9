import assert from 'node:assert/strict'
import { appendFileSync, existsSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runIngest } from '../../ingest/run-ingest.ts'
import type { ForgetWhat } from '../../ingest/store/forget-what.ts'
import { openReader } from '../../ingest/store/open-database.ts'
import type { Answer } from '../../ingest/store/requests.ts'
import { carryOut } from '../../ingest/worker/carry-out.ts'
import type { CallRecord } from '../../server/call-log/record.ts'
import {
  append,
  assertWorldSound,
  callRecord,
  createStampedLine,
  createWorld,
  foreignCall,
  ingestOnce,
  NOON,
  storedCalls,
  type World,
  withReader,
} from './support.ts'

const DAY = 24 * 3600 * 1000
const W = 'f'.repeat(32)

function line(n: number, changes: Partial<CallRecord> = {}): string {
  return createStampedLine(W, n, NOON, callRecord({ call: `c-${n}`, ...changes }))
}

async function forget(world: World, what: ForgetWhat): Promise<Answer | undefined> {
  return carryOut({
    databasePath: world.databasePath,
    kind: 'forget',
    parameters: what,
    now: () => NOON + DAY,
  })
}

/** Names of all database files of a world in which these bytes are found. */
function filesWith(world: World, text: string): string[] {
  return readdirSync(world.directory, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .filter((name) => readFileSync(join(world.directory, name)).includes(text))
}

function rows(world: World, sql: string): unknown[] {
  return withReader(world, (database) => database.prepare(sql).raw().all())
}

const NOTHING_ELSE = { onlyCounted: 0, events: 0, refusedSamples: 0, clean: 1 }

/** Calls of many sessions whose texts differ in length: pages fill up, split and are emptied. */
function crowdedLog(calls: number): string {
  const lines: string[] = []
  let random = 1
  for (let n = 1; n <= calls; n += 1) {
    random = (random * 48_271) % 2_147_483_647
    const name = n % 4 === 3 ? 'CANARY' : String(n % 4)
    const pad = 'p'.repeat(random % 3000)
    const args = { secret: `arg-${name}-`, pad, again: `arg-${name}-` }
    lines.push(line(n, { session: `session-${name}`, call: `${name}-${n}`, args }))
  }
  return lines.join('')
}

test("X8: a forgotten session's bytes are in no file of the database", async () => {
  const world = createWorld()
  append(world.log('a.jsonl'), crowdedLog(4000))
  await ingestOnce(world)
  assert.deepEqual(filesWith(world, 'CANARY'), ['unsilent.db'])
  // What is removed first moves rows of the others about within their pages.
  for (const name of ['1', '2', 'CANARY']) {
    assert.deepEqual(await forget(world, { what: 'session', session: `session-${name}` }), {
      outcome: 'done',
      counts: { calls: 1000, ...NOTHING_ELSE },
    })
  }
  assert.deepEqual(filesWith(world, 'CANARY'), [])
  assert.deepEqual(rows(world, 'SELECT count(*) FROM call'), [[1000]])
  assert.deepEqual(rows(world, 'SELECT sum(calls) FROM quarter_count'), [[1000]])
  assertWorldSound(world)
})

test('a forgotten tool takes its counts, signatures, events and samples with it', async () => {
  const world = createWorld()
  const tool = 'tool-CANARY'
  const failed = {
    tool,
    outcome: 'failed',
    error: { class: 'invalid_arguments', message: 'arg-CANARY is missing' },
    issues: [{ path: 'path-CANARY', code: 'missing_required' }],
  } satisfies Partial<CallRecord>
  append(
    world.log('a.jsonl'),
    createStampedLine(W, 1, NOON, {
      kind: 'beat',
      server: { name: 'invoices', version: '1.0.0' },
      rss_bytes: 1,
      beat_ms: 30_000,
      loop_delay_ms: 1,
      open: [
        { call: 'c-9', tool, ms: 5 },
        { call: 'c-8', tool: 'other', ms: 6 },
      ],
    }),
    createStampedLine(W, 2, NOON, { kind: 'late', call: 'c-3', tool, ms: 5, outcome: 'succeeded' }),
    line(3, failed),
    line(4, { tool: 'kept' }),
    `{"level":30,"broken":"${tool}\n`,
    'not about it\n',
  )
  await ingestOnce(world)
  assert.deepEqual(await forget(world, { what: 'tool', tool }), {
    outcome: 'done',
    counts: { calls: 1, onlyCounted: 0, events: 2, refusedSamples: 1, clean: 1 },
  })
  assert.deepEqual(filesWith(world, 'CANARY'), [])
  assert.deepEqual(rows(world, 'SELECT name FROM tool'), [['kept']])
  assert.deepEqual(rows(world, 'SELECT sum(calls) FROM quarter_count'), [[1]])
  assert.deepEqual(rows(world, 'SELECT kind FROM process_event'), [['beat']])
  assert.match(String(rows(world, 'SELECT detail FROM process_event')), /"tool":"other"/)
  assert.deepEqual(rows(world, 'SELECT sum(lines), sum(length(sample) > 0) FROM quarantine'), [
    [2, 1],
  ])
  assertWorldSound(world)
})

test('what is forgotten before a time is gone from rows, counts, events and samples', async () => {
  const world = createWorld()
  append(
    world.log('a.jsonl'),
    createStampedLine(W, 1, NOON, { kind: 'exit', code: 0, reason: 'reason-CANARY' }),
    'junk-CANARY\n',
    line(2, { args: { a: 'CANARY' } }),
  )
  await ingestOnce(world, { now: () => NOON })
  append(world.log('a.jsonl'), line(3, { started: NOON + DAY }))
  await ingestOnce(world, { now: () => NOON + DAY })
  assert.deepEqual(await forget(world, { what: 'before', beforeMs: NOON + DAY }), {
    outcome: 'done',
    counts: { calls: 1, onlyCounted: 0, events: 1, refusedSamples: 1, clean: 1 },
  })
  assert.deepEqual(filesWith(world, 'CANARY'), [])
  withReader(world, (database) => assert.deepEqual(storedCalls(database), ['c-3']))
  assertWorldSound(world)
})

test('calls that retention left as counts are forgotten too, by tool and by time', async () => {
  const world = createWorld()
  append(world.log('a.jsonl'), line(1, { tool: 'a' }), line(2, { tool: 'b' }), line(3))
  await ingestOnce(world)
  await runIngest({
    roots: [world.logs],
    databasePath: world.databasePath,
    once: true,
    now: () => NOON + 100 * DAY,
    retention: { maxAgeMs: 90 * DAY },
  })
  assert.deepEqual(await forget(world, { what: 'tool', tool: 'a' }), {
    outcome: 'done',
    counts: { calls: 0, ...NOTHING_ELSE, onlyCounted: 1 },
  })
  assert.deepEqual(await forget(world, { what: 'before', beforeMs: NOON + DAY }), {
    outcome: 'done',
    counts: { calls: 0, ...NOTHING_ELSE, onlyCounted: 2 },
  })
  assert.deepEqual(rows(world, 'SELECT * FROM quarter_count'), [])
  assertWorldSound(world)
})

test('what was removed is counted, without a word of what it was', async () => {
  const world = createWorld()
  append(world.log('a.jsonl'), line(1, { session: 'who' }))
  await ingestOnce(world)
  await forget(world, { what: 'session', session: 'who' })
  assert.deepEqual(rows(world, 'SELECT substr(key, 1, 7), reason, calls FROM removal'), [
    ['forget:', 'forget', 1],
  ])
  assert.deepEqual(filesWith(world, '"who"'), [])
})

test('forgotten lines do not come back when their logs are read again under any name', async () => {
  const world = createWorld()
  append(world.log('a.jsonl'), line(1), line(2))
  append(world.log('foreign.log'), foreignCall('f-1'), foreignCall('f-2'))
  await ingestOnce(world)
  await forget(world, { what: 'before', beforeMs: NOON + DAY })
  renameSync(world.log('a.jsonl'), world.log('b.jsonl'))
  renameSync(world.log('foreign.log'), world.log('foreign.log.1'))
  const again = await ingestOnce(world)
  assert.equal(again.rows, 0)
  appendFileSync(world.log('c.jsonl'), readFileSync(world.log('b.jsonl')))
  assert.deepEqual((await ingestOnce(world)).rows, 0)
  assertWorldSound(world)
})

test('while another process ingests it is asked to forget, and goes on ingesting', async (t) => {
  const world = createWorld()
  append(world.log('a.jsonl'), line(1, { session: 'gone-CANARY' }), line(2, { session: 'stays' }))
  const aborter = new AbortController()
  const done = runIngest({
    roots: [world.logs],
    databasePath: world.databasePath,
    signal: aborter.signal,
    pollMs: 20,
    now: () => NOON + DAY,
  })
  t.after(() => aborter.abort())
  const said: string[] = []
  const answer = await carryOut({
    databasePath: world.databasePath,
    kind: 'forget',
    parameters: { what: 'session', session: 'gone-CANARY' },
    onWaiting: (sentence) => said.push(sentence),
  })
  assert.deepEqual(answer, { outcome: 'done', counts: { calls: 1, ...NOTHING_ELSE } })
  assert.match(said.join(), /ingests into this database and was asked to do it/)
  assert.deepEqual(filesWith(world, 'CANARY'), [])
  // The session's id is not remembered for a name that has gone.
  append(world.log('a.jsonl'), line(3, { session: 'gone-CANARY' }), line(4, { session: 'stays' }))
  const until = Date.now() + 30_000
  while (rows(world, 'SELECT 1 FROM call').length < 3 && Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  aborter.abort()
  await done
  assert.deepEqual(rows(world, 'SELECT uid, session FROM calls ORDER BY id'), [
    ['c-2', 'stays'],
    ['c-3', 'gone-CANARY'],
    ['c-4', 'stays'],
  ])
  assertWorldSound(world)
})

test('a request that makes no sense is refused in a sentence', async () => {
  const world = createWorld()
  append(world.log('a.jsonl'), line(1))
  await ingestOnce(world)
  const answer = await carryOut({
    databasePath: world.databasePath,
    kind: 'forget',
    parameters: { what: 'everything' },
  })
  assert.deepEqual(answer, {
    outcome: 'refused',
    reason: 'Say what to forget: a session, a tool, or before which time.',
  })
})

test('a database that is not there is not made', async () => {
  const world = createWorld()
  await assert.rejects(forget(world, { what: 'tool', tool: 'a' }), /There is no database at/)
  assert.equal(existsSync(world.databasePath), false)
})

test('a reader in the way is said, and what was removed is removed all the same', async () => {
  const world = createWorld()
  append(world.log('a.jsonl'), line(1, { args: 'CANARY' }), line(2))
  await ingestOnce(world)
  const reader = openReader(world.databasePath)
  reader.exec('BEGIN; SELECT count(*) FROM call')
  const answer = await forget(world, { what: 'before', beforeMs: NOON + DAY })
  reader.close()
  assert.deepEqual(answer, {
    outcome: 'done',
    counts: { calls: 2, ...NOTHING_ELSE, clean: 0 },
  })
  assert.deepEqual(rows(world, 'SELECT count(*) FROM call'), [[0]])
  assertWorldSound(world)
})
