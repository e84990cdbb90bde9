import assert from 'node:assert/strict'
import {
  appendFileSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { realFiles } from '../../ingest/file-port.ts'
import { CALL_FLAGS } from '../../ingest/store/schema.ts'
import {
  append,
  assertSound,
  callRecord,
  createStampedLine,
  createTailer,
  createWorld,
  foreignCall,
  NOON,
  quarantined,
  storedCalls,
  type TestTailer,
  type World,
} from './support.ts'

const W = 'c'.repeat(32)

function stamped(n: number, w = W): string {
  return createStampedLine(w, n, NOON, callRecord({ call: `${w[0]}-${n}` }))
}

function lines(make: (n: number) => string, first: number, last: number): string {
  let text = ''
  for (let n = first; n <= last; n += 1) text += make(n)
  return text
}

function ids(prefix: string, first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, index) => `${prefix}${first + index}`).sort()
}

const unstamped = (n: number): string => foreignCall(`u-${n}`)

/** Runs a story against real files twice: with stamped and with unstamped lines. */
function bothKinds(
  name: string,
  story: (
    world: World,
    tailer: TestTailer,
    write: (n: number) => string,
    expect: (first: number, last: number) => void,
  ) => void,
): void {
  for (const [kind, write, prefix] of [
    ['stamped', (n: number) => stamped(n), 'c-'],
    ['unstamped', unstamped, 'u-'],
  ] as const) {
    test(`${name} (${kind} lines)`, () => {
      const world = createWorld()
      const tailer = createTailer(world)
      try {
        story(world, tailer, write, (first, last) => {
          assert.deepEqual(storedCalls(tailer.database), ids(prefix, first, last))
          assertSound(tailer.database)
        })
      } finally {
        tailer.stop()
      }
    })
  }
}

bothKinds('lines appended between looks are read once', (world, tailer, write, expect) => {
  for (let n = 1; n <= 6; n += 1) {
    append(world.log('a.jsonl'), write(n))
    tailer.poll()
  }
  tailer.poll()
  expect(1, 6)
})

test('a line that arrives in parts, cut inside a character, is one exact row', () => {
  const world = createWorld()
  const tailer = createTailer(world)
  const line = Buffer.from(
    createStampedLine(W, 1, NOON, callRecord({ call: 'x', args: { name: 'é中🙂' } })),
  )
  const cut = line.indexOf(Buffer.from('🙂')) + 2
  append(world.log('a.jsonl'), line.subarray(0, 40))
  tailer.poll()
  append(world.log('a.jsonl'), line.subarray(40, cut))
  tailer.poll()
  assert.deepEqual(storedCalls(tailer.database), [])
  append(world.log('a.jsonl'), line.subarray(cut))
  tailer.poll()
  const args = tailer.database.prepare('SELECT args FROM call_text').pluck().all()
  assert.deepEqual(args, ['{"name":"é中🙂"}'])
  assertSound(tailer.database)
  tailer.stop()
})

test('E6: a stop while the last line is half written keeps the offset at its beginning', () => {
  const world = createWorld()
  const first = createTailer(world)
  append(world.log('a.jsonl'), stamped(1), stamped(2).slice(0, 50))
  first.poll()
  first.stop()
  const second = createTailer(world)
  const offset = second.database.prepare('SELECT committed_offset FROM stream').pluck().get()
  assert.equal(offset, stamped(1).length)
  append(world.log('a.jsonl'), stamped(2).slice(50))
  second.poll()
  assert.deepEqual(storedCalls(second.database), ['c-1', 'c-2'])
  assertSound(second.database)
  second.stop()
})

bothKinds(
  'E1: copytruncate, and a log that is shorter than before',
  (world, tailer, write, expect) => {
    const log = world.log('a.log')
    append(log, lines(write, 1, 10))
    tailer.poll()
    copyFileSync(log, world.log('a.log.1'))
    truncateSync(log, 0)
    append(log, lines(write, 11, 13))
    tailer.settle()
    expect(1, 13)
  },
)

bothKinds(
  'what was unread when a log was copied and truncated is read from the copy',
  (world, tailer, write, expect) => {
    const log = world.log('a.log')
    append(log, lines(write, 1, 10))
    tailer.poll()
    append(log, lines(write, 11, 20))
    copyFileSync(log, world.log('a.log.1'))
    truncateSync(log, 0)
    append(log, lines(write, 21, 22))
    tailer.settle()
    expect(1, 22)
  },
)

bothKinds(
  'lines that were read live while a copy was made are not doubled by the copy',
  (world, tailer, write, expect) => {
    const log = world.log('a.log')
    append(log, lines(write, 1, 10))
    tailer.poll()
    copyFileSync(log, world.log('a.log.1'))
    append(log, lines(write, 11, 14))
    tailer.poll()
    truncateSync(log, 0)
    append(log, lines(write, 15, 16))
    tailer.settle()
    expect(1, 16)
  },
)

bothKinds('a copy that is seen half made gives nothing twice', (world, tailer, write, expect) => {
  const log = world.log('a.log')
  append(log, lines(write, 1, 40))
  tailer.poll()
  append(log, lines(write, 41, 50))
  const all = readFileSync(log)
  for (let done = 0; done < all.length; done += 1000) {
    appendFileSync(world.log('a.log.1'), all.subarray(done, done + 1000))
    tailer.poll()
  }
  truncateSync(log, 0)
  tailer.settle()
  append(log, write(51))
  tailer.settle()
  expect(1, 51)
})

bothKinds('a log and its copy that are both new are read once', (world, tailer, write, expect) => {
  append(world.log('a.log'), lines(write, 1, 10))
  copyFileSync(world.log('a.log'), world.log('a.log.1'))
  tailer.settle()
  append(world.log('a.log'), write(11))
  tailer.settle()
  expect(1, 11)
})

bothKinds(
  'truncated and grown beyond the old offset between two looks',
  (world, tailer, write, expect) => {
    const log = world.log('a.log')
    append(log, lines(write, 1, 3))
    tailer.poll()
    truncateSync(log, 0)
    append(log, lines(write, 4, 20))
    tailer.settle()
    expect(1, 20)
  },
)

test('E2: the saved offset is never beyond the file', () => {
  const world = createWorld()
  const tailer = createTailer(world)
  const log = world.log('a.log')
  for (let round = 1; round <= 3; round += 1) {
    writeFileSync(log, foreignCall(`r-${round}`))
    tailer.poll()
    const latest = tailer.database
      .prepare('SELECT committed_offset FROM stream ORDER BY id DESC LIMIT 1')
      .pluck()
      .get() as number
    assert.ok(latest <= statSync(log).size)
  }
  assert.deepEqual(storedCalls(tailer.database), ['r-1', 'r-2', 'r-3'])
  assertSound(tailer.database)
  tailer.stop()
})

bothKinds(
  'E4: deleted and made again, perhaps with the same inode',
  (world, tailer, write, expect) => {
    const log = world.log('a.log')
    for (let round = 0; round < 6; round += 1) {
      rmSync(log, { force: true })
      append(log, lines(write, round * 5 + 1, round * 5 + 5))
      tailer.poll()
    }
    expect(1, 30)
  },
)

bothKinds('E4: deleted and made again while nobody looked', (world, tailer, write, expect) => {
  const log = world.log('a.log')
  append(log, lines(write, 1, 5))
  tailer.poll()
  tailer.stop()
  rmSync(log)
  append(log, lines(write, 6, 30))
  const again = createTailer(world)
  again.settle()
  const stored = storedCalls(again.database)
  assertSound(again.database)
  again.stop()
  assert.equal(stored.length, 30)
  void expect
  // The story's own tailer is closed already; a fresh one takes its place for the caller.
  Object.assign(tailer, createTailer(world))
})

bothKinds('E5: renamed while its writer goes on', (world, tailer, write, expect) => {
  const log = world.log('a.log')
  append(log, lines(write, 1, 5))
  tailer.poll()
  renameSync(log, world.log('a.log.1'))
  append(world.log('a.log.1'), lines(write, 6, 10))
  append(log, lines(write, 11, 15))
  tailer.poll()
  append(world.log('a.log.1'), lines(write, 16, 17))
  tailer.settle()
  expect(1, 17)
})

bothKinds('three rotations between two looks', (world, tailer, write, expect) => {
  const log = world.log('a.log')
  append(log, lines(write, 1, 5))
  tailer.poll()
  for (let round = 1; round <= 3; round += 1) {
    for (let index = round; index >= 1; index -= 1) {
      const from = index === 1 ? log : world.log(`a.log.${index - 1}`)
      renameSync(from, world.log(`a.log.${index}`))
    }
    append(log, lines(write, round * 5 + 1, round * 5 + 5))
  }
  tailer.settle()
  expect(1, 20)
})

bothKinds('names that were shifted while nobody looked', (world, tailer, write, expect) => {
  const log = world.log('a.log')
  append(world.log('a.log.1'), lines(write, 1, 5))
  append(log, lines(write, 6, 10))
  tailer.poll()
  append(log, lines(write, 11, 12))
  renameSync(world.log('a.log.1'), world.log('a.log.2'))
  renameSync(log, world.log('a.log.1'))
  append(log, lines(write, 13, 15))
  tailer.settle()
  expect(1, 15)
})

bothKinds('a deleted file is read to its end, then let go', (world, tailer, write, expect) => {
  const log = world.log('a.log')
  append(log, lines(write, 1, 5))
  tailer.poll()
  append(log, lines(write, 6, 8))
  unlinkSync(log)
  tailer.poll()
  expect(1, 8)
  tailer.clock.nowMs += 120_000
  assert.equal(tailer.poll().files, 1)
  assert.equal(tailer.poll().files, 0)
})

bothKinds(
  'a hard link and a link inside the root are the same file',
  (world, tailer, write, expect) => {
    append(world.log('a.log'), lines(write, 1, 5))
    linkSync(world.log('a.log'), world.log('b.log'))
    symlinkSync('a.log', world.log('current.log'))
    tailer.settle()
    append(world.log('a.log'), write(6))
    tailer.settle()
    expect(1, 6)
  },
)

bothKinds('an editor that saves a log anew doubles nothing', (world, tailer, write, expect) => {
  const log = world.log('a.log')
  append(log, lines(write, 1, 10))
  tailer.poll()
  writeFileSync(world.log('.a.swp'), readFileSync(log))
  renameSync(world.log('.a.swp'), log)
  append(log, write(11))
  tailer.settle()
  expect(1, 11)
})

bothKinds('a backup copy beside the log doubles nothing', (world, tailer, write, expect) => {
  const log = world.log('a.log')
  append(log, lines(write, 1, 10))
  tailer.poll()
  copyFileSync(log, world.log('a.log.bak'))
  append(log, write(11))
  tailer.settle()
  expect(1, 11)
})

bothKinds(
  'after a restart reading goes on, nothing lost and nothing doubled',
  (world, tailer, write, expect) => {
    append(world.log('a.log'), lines(write, 1, 5))
    append(world.log('b.log'), lines(write, 6, 10))
    tailer.poll()
    tailer.stop()
    append(world.log('a.log'), lines(write, 11, 12))
    append(world.log('b.log'), lines(write, 13, 14))
    Object.assign(tailer, createTailer(world))
    tailer.settle()
    expect(1, 14)
  },
)

bothKinds(
  'a directory that was removed and restored is recognised',
  (world, tailer, write, expect) => {
    append(world.log('a.log'), lines(write, 1, 5))
    append(world.log('a.log.1'), lines(write, 6, 10))
    tailer.poll()
    const saved = [readFileSync(world.log('a.log')), readFileSync(world.log('a.log.1'))] as const
    tailer.stop()
    rmSync(world.logs, { recursive: true })
    mkdirSync(world.logs)
    // Made first, so that the old inode numbers go to other files.
    writeFileSync(world.log('z.txt'), 'x')
    writeFileSync(world.log('a.log'), saved[0])
    writeFileSync(world.log('a.log.1'), saved[1])
    append(world.log('a.log'), write(11))
    Object.assign(tailer, createTailer(world))
    tailer.settle()
    expect(1, 11)
  },
)

test('files that begin alike are kept apart', () => {
  const world = createWorld()
  const tailer = createTailer(world)
  const banner = `${JSON.stringify({ level: 30, time: NOON, msg: 'x'.repeat(2000) })}\n`
  for (const [index, name] of ['a.log.2', 'a.log.1', 'a.log'].entries()) {
    append(world.log(name), banner, lines(unstamped, index * 5 + 1, index * 5 + 5))
  }
  tailer.settle()
  append(world.log('a.log'), lines(unstamped, 16, 20))
  tailer.settle()
  assert.deepEqual(storedCalls(tailer.database), ids('u-', 1, 20))
  assertSound(tailer.database)
  tailer.stop()
})

test('two directories and a glob are read, a link out of them is not', () => {
  const world = createWorld()
  const other = join(world.directory, 'other', 'deep')
  const outside = join(world.directory, 'outside.jsonl')
  mkdirSync(other, { recursive: true })
  append(world.log('a.jsonl'), stamped(1))
  append(join(other, 'b.jsonl'), stamped(2))
  append(join(other, 'b.txt'), stamped(3))
  append(outside, stamped(4))
  symlinkSync(outside, world.log('link.jsonl'))
  symlinkSync('nowhere', world.log('dangling.jsonl'))
  const tailer = createTailer(world, {
    roots: [world.logs, join(world.directory, 'other', '**', '*.jsonl')],
  })
  const { problems } = tailer.poll()
  assert.deepEqual(storedCalls(tailer.database), ['c-1', 'c-2'])
  assert.equal(problems.length, 2)
  assert.match(problems.join(), /link\.jsonl is a link to a file outside/)
  assert.match(problems.join(), /dangling\.jsonl is a link to a file that does not exist/)
  tailer.stop()
})

test('E7: the unfinished end of a rotated file is kept once it stays quiet', () => {
  const world = createWorld()
  const tailer = createTailer(world)
  append(world.log('a.log.1'), stamped(1), stamped(2).trimEnd())
  append(world.log('b.log.1'), stamped(3), stamped(4).slice(0, 60))
  tailer.settle()
  assert.deepEqual(storedCalls(tailer.database), ['c-1', 'c-3'])
  tailer.clock.nowMs += 120_000
  tailer.settle()
  assert.deepEqual(storedCalls(tailer.database), ['c-1', 'c-2', 'c-3'])
  const flags = tailer.database.prepare('SELECT flags FROM call WHERE n = 2').pluck().get()
  assert.equal(flags, CALL_FLAGS.unterminated)
  assert.deepEqual(quarantined(tailer.database), [{ reason: 'unterminated', lines: 1, bytes: 60 }])
  assertSound(tailer.database)
  tailer.stop()
})

test('an end that was given up as unfinished is read again when it is finished', () => {
  const world = createWorld()
  const tailer = createTailer(world)
  append(world.log('a.log.1'), stamped(1), stamped(2).slice(0, 60))
  tailer.settle()
  tailer.clock.nowMs += 120_000
  tailer.settle()
  assert.equal(quarantined(tailer.database).length, 1)
  append(world.log('a.log.1'), stamped(2).slice(60), stamped(3))
  tailer.settle()
  assert.deepEqual(storedCalls(tailer.database), ['c-1', 'c-2', 'c-3'])
  assert.deepEqual(quarantined(tailer.database), [])
  assertSound(tailer.database)
  tailer.stop()
})

test('E26: a saved offset inside a line goes on at the next one', () => {
  const world = createWorld()
  const first = createTailer(world)
  append(world.log('a.jsonl'), stamped(1), stamped(2), stamped(3))
  first.poll()
  first.stop()
  const tampered = createTailer(world)
  tampered.database.exec('UPDATE stream SET committed_offset = committed_offset - 100')
  tampered.poll()
  // Head and anchor do not fit the place any more: read anew, and (w, n) keeps it from doubling.
  assert.deepEqual(storedCalls(tampered.database), ['c-1', 'c-2', 'c-3'])
  tampered.stop()
})

test("a FIFO or a directory with a log's name is passed over", async () => {
  const world = createWorld()
  mkdirSync(world.log('dir.jsonl'))
  const { execFileSync } = await import('node:child_process')
  execFileSync('mkfifo', [world.log('pipe.jsonl')])
  append(world.log('a.jsonl'), stamped(1))
  const tailer = createTailer(world)
  assert.equal(tailer.poll().files, 1)
  assert.deepEqual(storedCalls(tailer.database), ['c-1'])
  tailer.stop()
})

test('a batch of many streams is one transaction, and small polls end where they must', () => {
  const world = createWorld()
  for (let file = 0; file < 20; file += 1) {
    const w = String.fromCharCode(97 + file).repeat(32)
    append(
      world.log(`${file}.jsonl`),
      lines((n) => stamped(n, w), 1, 30),
    )
  }
  const tailer = createTailer(world, { limits: { importLines: 50, liveLines: 50 } })
  assert.equal(tailer.poll().caughtUp, true)
  assert.equal(storedCalls(tailer.database).length, 600)
  assertSound(tailer.database)
  tailer.stop()
})

test('a copy that turns out to be a log of its own is read to its end, in small batches too', () => {
  const world = createWorld()
  const tailer = createTailer(world, { limits: { liveLines: 2, importLines: 2 } })
  // Longer than what may be a copy of it, and without hashes to decide by.
  append(world.log('a.log'), lines(stamped, 1, 20))
  tailer.poll()
  append(world.log('a.log.1'), lines(stamped, 1, 5), lines(stamped, 31, 40))
  tailer.settle()
  assert.deepEqual(storedCalls(tailer.database), [...ids('c-', 1, 20), ...ids('c-', 31, 40)].sort())
  assertSound(tailer.database)
  tailer.stop()
})

test('a log that was written anew with the same beginning, the same line ends and line lengths is noticed', () => {
  const world = createWorld()
  const tailer = createTailer(world)
  const banner = `${JSON.stringify({ level: 30, time: NOON, msg: 'x'.repeat(2000) })}\n`
  const padded = (n: number): string => foreignCall(`u-${n}`, { args: 'p'.repeat(200) })
  append(world.log('a.log'), banner, lines(padded, 10, 14))
  tailer.poll()
  truncateSync(world.log('a.log'), 0)
  append(world.log('a.log'), banner, lines(padded, 20, 29))
  tailer.settle()
  assert.deepEqual(storedCalls(tailer.database), [...ids('u-', 10, 14), ...ids('u-', 20, 29)])
  assertSound(tailer.database)
  tailer.stop()
})

test('a backup of half a line that is replaced by a backup of more is still a copy', () => {
  const world = createWorld()
  const tailer = createTailer(world)
  append(world.log('a.log'), unstamped(1).slice(0, 60))
  copyFileSync(world.log('a.log'), world.log('a.log.bak'))
  tailer.settle()
  // The backup's unfinished line is given up, the log's is waited for.
  tailer.clock.nowMs += 120_000
  tailer.settle()
  append(world.log('a.log'), unstamped(1).slice(60), lines(unstamped, 2, 5))
  tailer.settle()
  copyFileSync(world.log('a.log'), world.log('a.log.bak'))
  tailer.settle()
  assert.deepEqual(storedCalls(tailer.database), ids('u-', 1, 5))
  assertSound(tailer.database)
  tailer.stop()
})

test('a backup of stamped lines that is replaced by one with unstamped lines is still a copy', () => {
  const world = createWorld()
  const tailer = createTailer(world)
  append(world.log('a.log'), lines(stamped, 1, 5))
  tailer.poll()
  copyFileSync(world.log('a.log'), world.log('a.log.bak'))
  append(world.log('a.log'), lines(unstamped, 1, 5))
  // Nothing is hashed of what the backup holds: it is followed as a log of its own.
  tailer.settle()
  assert.equal(tailer.poll().caughtUp, true)
  copyFileSync(world.log('a.log'), world.log('a.log.bak'))
  tailer.settle()
  assert.deepEqual(storedCalls(tailer.database), [...ids('c-', 1, 5), ...ids('u-', 1, 5)])
  assertSound(tailer.database)
  tailer.stop()
})

test('logs that end alike are told apart by how they begin', () => {
  const world = createWorld()
  const tailer = createTailer(world)
  const ending = `${JSON.stringify({ level: 30, time: NOON, msg: 'x'.repeat(2000) })}\n`
  append(world.log('a.log'), lines(unstamped, 10, 14), ending)
  tailer.poll()
  truncateSync(world.log('a.log'), 0)
  append(world.log('a.log'), lines(unstamped, 20, 24), ending, unstamped(25))
  tailer.settle()
  assert.deepEqual(storedCalls(tailer.database), [...ids('u-', 10, 14), ...ids('u-', 20, 25)])
  assertSound(tailer.database)
  tailer.stop()
})

test('R9: a log that is truncated and written anew during a read is read as it is then', () => {
  const padded = (n: number): string => foreignCall(`u-${n}`, { args: 'p'.repeat(n % 50) })
  for (let k = 1; ; k += 1) {
    const world = createWorld()
    let reads = 0
    const files = {
      ...realFiles,
      read(...[file, buffer, length, position]: Parameters<typeof realFiles.read>): number {
        reads += 1
        if (reads === k) {
          truncateSync(world.log('a.log'), 0)
          append(world.log('a.log'), lines(padded, 101, 140))
        }
        return realFiles.read(file, buffer, length, position)
      },
    }
    const tailer = createTailer(world, { files })
    reads = k
    append(world.log('a.log'), lines(padded, 1, 10))
    tailer.poll()
    append(world.log('a.log'), lines(padded, 11, 20))
    reads = 0
    tailer.settle()
    const rows = storedCalls(tailer.database)
    if (reads < k) {
      assert.ok(k > 5, `only ${reads} reads`)
      return tailer.stop()
    }
    const isOld = (id: string): boolean => Number(id.slice(2)) <= 20
    // What was written anew is there, once each; of the rest what could be read in time.
    assert.deepEqual(
      rows.filter((id) => !isOld(id)),
      ids('u-', 101, 140),
      `at read ${k}`,
    )
    assert.equal(new Set(rows).size, rows.length, `at read ${k}`)
    assert.deepEqual(quarantined(tailer.database), [], `at read ${k}`)
    assertSound(tailer.database)
    tailer.stop()
  }
})

test('a copy in the making is waited for, and becomes no stream of its own', () => {
  const world = createWorld()
  const tailer = createTailer(world)
  append(world.log('a.log'), lines(stamped, 1, 20))
  tailer.poll()
  const bytes = readFileSync(world.log('a.log'))
  for (let done = 0; done < bytes.length; done += 1000) {
    append(world.log('a.log.1'), bytes.subarray(done, done + 1000))
    tailer.poll()
  }
  tailer.settle()
  const sums = tailer.database.prepare(
    'SELECT count(*) AS streams, sum(duplicate_rows) AS again FROM stream',
  )
  assert.deepEqual(sums.get(), { streams: 1, again: 0 })
  assert.deepEqual(storedCalls(tailer.database), ids('c-', 1, 20))
  assertSound(tailer.database)
  tailer.stop()
})

test('a fresh log that so far says what the old one said is not taken for a copy', () => {
  const world = createWorld()
  const tailer = createTailer(world)
  append(world.log('a.log'), unstamped(1), unstamped(2))
  tailer.poll()
  renameSync(world.log('a.log'), world.log('a.log.1'))
  append(world.log('a.log'), unstamped(1))
  tailer.settle()
  assert.deepEqual(storedCalls(tailer.database), ['u-1', 'u-1', 'u-2'])
  assertSound(tailer.database)
  tailer.stop()
})

for (const [what, offset] of [
  ['inside a line', 'committed_offset - 97'],
  ['beyond the file', 'committed_offset + 1'],
  ['before it', '-1'],
] as const) {
  test(`E26: a saved offset that was changed to ${what} doubles and loses nothing`, () => {
    const world = createWorld()
    const first = createTailer(world)
    append(world.log('a.jsonl'), stamped(1), stamped(2))
    first.poll()
    first.stop()
    const tampered = createTailer(world)
    tampered.database.exec(`UPDATE stream SET committed_offset = ${offset}`)
    append(world.log('a.jsonl'), stamped(3))
    tampered.settle()
    assert.deepEqual(storedCalls(tampered.database), ['c-1', 'c-2', 'c-3'])
    assert.equal(tampered.poll().caughtUp, true)
    tampered.stop()
  })
}
