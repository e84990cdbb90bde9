import assert from 'node:assert/strict'
import { renameSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { runIngest } from '../../ingest/run-ingest.ts'
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

const W = 'a'.repeat(32)

function stamped(n: number): string {
  return createStampedLine(W, n, NOON, callRecord({ call: `c-${n}` }))
}

function fromNow(world: World) {
  const { logs, databasePath } = world
  return runIngest({
    roots: [logs],
    databasePath,
    once: true,
    fromNow: true,
    now: () => NOON + 60_000,
  })
}

const calls = (world: World) => withReader(world, storedCalls)

test('from now on passes over what stands in files that were never read, and reads what comes', async () => {
  const world = createWorld()
  append(world.log('a.jsonl'), stamped(1), stamped(2), stamped(3).slice(0, 30))
  append(world.log('b.log'), foreignCall('f-1'))
  writeFileSync(world.log('old.jsonl.1.gz'), gzipSync(stamped(100)))
  const first = await fromNow(world)
  assert.deepEqual([first.rows, first.lines], [0, 0])
  assert.deepEqual(calls(world), [])

  append(world.log('a.jsonl'), stamped(3).slice(30), stamped(4))
  append(world.log('b.log'), foreignCall('f-2'))
  append(world.log('new.jsonl'), foreignCall('n-1'))
  await ingestOnce(world)
  assert.deepEqual(calls(world), ['c-3', 'c-4', 'f-2', 'n-1'], 'a later run knows it')
  renameSync(world.log('a.jsonl'), world.log('a.jsonl.1'))
  append(world.log('a.jsonl'), stamped(5))
  await ingestOnce(world)
  assert.deepEqual(calls(world), ['c-3', 'c-4', 'c-5', 'f-2', 'n-1'])
  assertWorldSound(world)
})

test('files that are known are read on from where they were', async () => {
  const world = createWorld()
  append(world.log('a.jsonl'), stamped(1))
  await ingestOnce(world)
  append(world.log('a.jsonl'), stamped(2))
  await fromNow(world)
  assert.deepEqual(calls(world), ['c-1', 'c-2'])
  assertWorldSound(world)
})

test('a file without a whole line is read from its beginning', async () => {
  const world = createWorld()
  append(world.log('a.jsonl'), stamped(1).slice(0, 40))
  await fromNow(world)
  append(world.log('a.jsonl'), stamped(1).slice(40))
  await ingestOnce(world)
  assert.deepEqual(calls(world), ['c-1'])
})
