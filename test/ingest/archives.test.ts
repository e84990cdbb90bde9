import assert from 'node:assert/strict'
import {
  copyFileSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import {
  append,
  assertSound,
  callRecord,
  createStampedLine,
  createTailer,
  createWorld,
  foreignCall,
  ingestOnce,
  NOON,
  quarantined,
  storedCalls,
  type TestTailer,
  type World,
  withReader,
} from './support.ts'

const stamped = (n: number): string =>
  createStampedLine('f'.repeat(32), n, NOON, callRecord({ call: `line-${n}` }))
const unstamped = (n: number): string => foreignCall(`line-${n}`)

function lines(write: (n: number) => string, first: number, last: number): string {
  let text = ''
  for (let n = first; n <= last; n += 1) text += write(n)
  return text
}

function ids(first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, index) => `line-${first + index}`).sort()
}

function bothKinds(
  name: string,
  story: (world: World, tailer: TestTailer, write: (n: number) => string) => Promise<number>,
): void {
  for (const [kind, write] of [
    ['stamped', stamped],
    ['unstamped', unstamped],
  ] as const) {
    test(`${name} (${kind} lines)`, async () => {
      const world = createWorld()
      const tailer = createTailer(world)
      try {
        const last = await story(world, tailer, write)
        assert.deepEqual(storedCalls(tailer.database), ids(1, last))
        assertSound(tailer.database)
      } finally {
        tailer.stop()
      }
    })
  }
}

function pack(world: World, name: string): void {
  writeFileSync(world.log(`${name}.gz`), gzipSync(readFileSync(world.log(name))))
}

bothKinds(
  'E5: a rotated file that is compressed is not read twice',
  async (world, tailer, write) => {
    append(world.log('a.log.1'), lines(write, 1, 10))
    append(world.log('a.log'), lines(write, 11, 15))
    await tailer.settleArchives()
    pack(world, 'a.log.1')
    await tailer.settleArchives()
    rmSync(world.log('a.log.1'))
    await tailer.settleArchives()
    return 15
  },
)

bothKinds(
  'what only the compressed file still has is read from it',
  async (world, tailer, write) => {
    append(world.log('a.log'), lines(write, 1, 10))
    tailer.poll()
    append(world.log('a.log'), lines(write, 11, 20))
    copyFileSync(world.log('a.log'), world.log('a.log.1'))
    pack(world, 'a.log.1')
    rmSync(world.log('a.log.1'))
    truncateSync(world.log('a.log'))
    append(world.log('a.log'), lines(write, 21, 22))
    await tailer.settleArchives()
    return 22
  },
)

bothKinds('an archive of several members is read to its end', async (world, tailer, write) => {
  const members = [lines(write, 1, 5), lines(write, 6, 9)].map((text) => gzipSync(text))
  writeFileSync(world.log('a.log.1.gz'), Buffer.concat(members))
  await tailer.settleArchives()
  return 9
})

bothKinds('a file that is only called .gz is read as it is', async (world, tailer, write) => {
  append(world.log('a.log.1.gz'), lines(write, 1, 5))
  await tailer.settleArchives()
  append(world.log('a.log.1.gz'), lines(write, 6, 7))
  await tailer.settleArchives()
  return 7
})

bothKinds('an archive without its ending is read as one', async (world, tailer, write) => {
  writeFileSync(world.log('a.log'), gzipSync(lines(write, 1, 5)))
  await tailer.settleArchives()
  return 5
})

test('after a restart an archive that was read is not even unpacked', async () => {
  const world = createWorld()
  writeFileSync(world.log('a.log.1.gz'), gzipSync(lines(unstamped, 1, 5)))
  const first = createTailer(world)
  await first.settleArchives()
  first.stop()
  const second = createTailer(world)
  assert.equal(second.poll().caughtUp, true)
  assert.deepEqual(storedCalls(second.database), ids(1, 5))
  second.stop()
})

test('of an archive that was cut off the whole lines are kept, the rest is refused and told', async () => {
  const world = createWorld()
  // Stored without compression, so that the cut falls where it is meant to.
  const packed = gzipSync(lines(stamped, 1, 5), { level: 0 })
  writeFileSync(world.log('a.log.1.gz'), packed.subarray(0, packed.length - 100))
  const tailer = createTailer(world)
  await tailer.settleArchives()
  const { problems } = tailer.poll()
  assert.deepEqual(storedCalls(tailer.database), ids(1, 4))
  assert.deepEqual(
    quarantined(tailer.database).map(({ reason, lines }) => ({ reason, lines })),
    [{ reason: 'unterminated', lines: 1 }],
  )
  assert.match(problems.join(), /a\.log\.1\.gz could not be unpacked to its end: it is damaged/)
  assertSound(tailer.database)
  tailer.stop()
})

test('an archive that would unpack to far too much is given up', async () => {
  const world = createWorld()
  writeFileSync(world.log('a.log.1.gz'), gzipSync(Buffer.alloc(60_000_000)))
  append(world.log('b.log'), stamped(1))
  const tailer = createTailer(world)
  await tailer.settleArchives()
  const { problems } = tailer.poll()
  assert.match(problems.join(), /it unpacks to more than/)
  assert.deepEqual(storedCalls(tailer.database), ids(1, 1))
  assertSound(tailer.database)
  tailer.stop()
})

test('E21: archives beside their originals give no binary rows and nothing twice', async () => {
  const world = createWorld()
  append(world.log('app.log'), lines(stamped, 6, 8))
  append(world.log('app.log.1'), lines(stamped, 1, 5))
  pack(world, 'app.log.1')
  const summary = await ingestOnce(world, { now: Date.now })
  assert.equal(summary.rows, 8)
  assert.deepEqual(summary.quarantined, {})
  withReader(world, assertSound)
  // Nothing that was unpacked is left beside the database.
  assert.deepEqual(
    readdirSync(world.directory).filter((name) => name.includes('unpacked')),
    [],
  )
})
