import assert from 'node:assert/strict'
import { renameSync, statSync } from 'node:fs'
import { test } from 'node:test'
import { runIngest } from '../../ingest/run-ingest.ts'
import { openWriter } from '../../ingest/store/open-database.ts'
import { StoreError } from '../../ingest/store/store-error.ts'
import {
  append,
  assertWorldSound,
  callRecord,
  createStampedLine,
  createWorld,
  ingestOnce,
  NOON,
  storedCalls,
  withReader,
} from './support.ts'

const W = 'c'.repeat(32)

function stamped(n: number): string {
  return createStampedLine(W, n, NOON, callRecord({ call: `c-${n}` }))
}

test('F5: a database that is replaced under it ends the run, and the new one is left alone', async () => {
  const world = createWorld()
  append(world.log('a.jsonl'), stamped(1))
  await ingestOnce(world)
  const other = `${world.directory}/other.db`
  openWriter(other).close()
  let isReplaced = false
  const run = runIngest({
    roots: [world.logs],
    databasePath: world.databasePath,
    pollMs: 20,
    now: () => NOON + 60_000,
    onProgress({ caughtUp }) {
      if (!caughtUp || isReplaced) return
      isReplaced = true
      renameSync(other, world.databasePath)
      append(world.log('a.jsonl'), stamped(2))
    },
  })
  await assert.rejects(
    run,
    (error) =>
      error instanceof StoreError && error.state === 'moved' && /was replaced/.test(error.message),
  )
  // Else what the old one had not written back would be taken for the new one's.
  const wal = statSync(`${world.databasePath}-wal`, { throwIfNoEntry: false })
  assert.equal(wal?.size ?? 0, 0)
  // The next run reads into what is there now all that is still in the logs.
  assert.equal((await ingestOnce(world)).rows, 2)
  assertWorldSound(world)
})

test('F2: what a reader held up is written back once it has let go', async () => {
  const world = createWorld()
  append(world.log('a.jsonl'), stamped(1))
  await ingestOnce(world)
  const writer = openWriter(world.databasePath)
  const wal = `${world.databasePath}-wal`
  const add = writer.prepare('INSERT INTO session (key) VALUES (?)')
  const big = 'x'.repeat(32_000)
  withReader(world, (reader) => {
    reader.exec('BEGIN')
    reader.prepare('SELECT count(*) FROM call').get()
    writer.pragma('synchronous = OFF')
    for (let n = 1; n <= 400; n += 1) add.run(`${n}-${big}`)
    // Far beyond the thousand pages at which SQLite writes back by itself.
    assert.ok(statSync(wal).size > 12_000_000)
    reader.exec('COMMIT')
  })
  assert.deepEqual(writer.pragma('wal_checkpoint(TRUNCATE)'), [
    { busy: 0, log: 0, checkpointed: 0 },
  ])
  assert.equal(statSync(wal).size, 0)
  writer.close()
})

test('F10: numbers beyond 2^53 are kept to the last digit, and none is rounded into a column', async () => {
  const world = createWorld()
  const exact = '{"id":9007199254740993,"max":9223372036854775808,"half":1.5}'
  const line = stamped(1).replace('"args":{"id":7}', `"args":${exact}`)
  assert.ok(line.includes(exact))
  append(world.log('a.jsonl'), line)
  for (const odd of ['9007199254740993', '9223372036854775808', '1.5', '-1']) {
    append(world.log('a.jsonl'), stamped(2).replace('"n":2', `"n":${odd}`))
  }
  append(world.log('a.jsonl'), stamped(2))
  await ingestOnce(world)
  withReader(world, (database) => {
    const kept = database.prepare("SELECT args FROM calls WHERE uid = 'c-1'").pluck().get()
    assert.equal(kept, exact)
    // A number that is none names nothing: the line goes by its place, like one without a stamp.
    assert.deepEqual(storedCalls(database), ['c-1', 'c-2', 'c-2', 'c-2', 'c-2', 'c-2'])
    const numbers = database
      .prepare('SELECT n FROM call JOIN writer ON writer.id = writer_id WHERE stamped ORDER BY n')
      .pluck()
    assert.deepEqual(numbers.all(), [1, 2])
    assert.deepEqual(database.prepare('SELECT DISTINCT typeof(n) FROM call').pluck().all(), [
      'integer',
    ])
  })
  assertWorldSound(world)
})
