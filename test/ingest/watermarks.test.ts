import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { removeOldLogs, WATERMARK_FILE } from '../../server/call-log/log-retention.ts'
import {
  append,
  assertWorldSound,
  callRecord,
  createStampedLine,
  createWorld,
  ingestOnce,
  NOON,
  storedCalls,
  type World,
  withReader,
} from './support.ts'

const W = '9f3a1c22'.padEnd(32, '0')
const DAY = 24 * 3600 * 1000

/** As a wrapper names its files. */
function logName(number: number): string {
  return `shop.20260101T000000Z.42.9f3a1c22.${number}.jsonl`
}

function line(n: number): string {
  return createStampedLine(W, n, NOON, callRecord({ call: `c-${n}` }))
}

function makeOld(world: World): void {
  for (const name of readdirSync(world.logs)) {
    utimesSync(join(world.logs, name), (NOON - 30 * DAY) / 1000, (NOON - 30 * DAY) / 1000)
  }
}

test('old logs go once they have been read to their end, and no sooner', async () => {
  const world = createWorld()
  append(world.log(logName(1)), line(1))
  append(world.log(logName(2)), line(2), '{"level":30,"unfin')
  await ingestOnce(world)
  append(world.log(logName(3)), line(3))
  makeOld(world)
  const first = await removeOldLogs(world.logs, NOON)
  assert.deepEqual([first.files, first.unread], [1, []])
  assert.deepEqual(readdirSync(world.logs), [WATERMARK_FILE, logName(2), logName(3)])

  append(world.log(logName(2)), 'ished":1}\n')
  await ingestOnce(world)
  makeOld(world)
  assert.equal((await removeOldLogs(world.logs, NOON)).files, 2)
  withReader(world, (database) => assert.deepEqual(storedCalls(database), ['c-1', 'c-2', 'c-3']))
  assertWorldSound(world)
})

test('the mark is private, whole, and tells the bytes of the files that a wrapper has named', async () => {
  const world = createWorld()
  append(world.log(logName(1)), line(1), line(2))
  append(world.log('app.log'), line(3))
  await ingestOnce(world)
  const path = world.log(WATERMARK_FILE)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), {
    v: 1,
    files: { [logName(1)]: statSync(world.log(logName(1))).size },
  })
  assert.deepEqual(readdirSync(world.logs), [WATERMARK_FILE, 'app.log', logName(1)])
})

test('a directory of other programs gets no mark', async () => {
  const world = createWorld()
  append(world.log('app.log'), line(1))
  await ingestOnce(world)
  assert.deepEqual(readdirSync(world.logs), ['app.log'])
})

test('where the mark cannot be written, lines are read all the same', async () => {
  const world = createWorld()
  append(world.log(logName(1)), line(1))
  mkdirSync(world.log(WATERMARK_FILE))
  const summary = await ingestOnce(world)
  assert.deepEqual([summary.rows, summary.problems], [1, []])
  assert.deepEqual(readdirSync(world.logs), [WATERMARK_FILE, logName(1)])
})
