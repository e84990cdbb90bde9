import assert from 'node:assert/strict'
import { mkdtempSync, openSync, readFileSync, rmSync, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { LineSink } from '../../server/call-log/line-sink.ts'

/** A sink on a real file, over a disk that can be filled up and a clock that can be pushed. */
function setUp(t: TestContext, options: { maxWaitingBytes?: number } = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'unsilent-sink-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const disk = { freeBytes: Number.POSITIVE_INFINITY, code: 'ENOSPC', writes: 0 }
  const clock = { ms: 0 }
  let files = 0
  const path = () => join(directory, `${files}.jsonl`)
  const sink = new LineSink({
    monotonicMs: () => clock.ms,
    append(fd, data) {
      const bytes = Buffer.from(data)
      disk.writes += 1
      const room = Math.min(bytes.length, disk.freeBytes)
      if (room <= 0)
        throw Object.assign(new Error(`${disk.code}: cannot write`), { code: disk.code })
      disk.freeBytes -= room
      return writeSync(fd, bytes.subarray(0, room))
    },
    ...options,
  })
  const openNext = () => {
    files += 1
    sink.useFile(openSync(path(), 'a'))
  }
  openNext()
  return {
    sink,
    disk,
    clock,
    openNext,
    path,
    text: () => readFileSync(path(), 'utf8'),
    write(from: number, to = from) {
      for (let n = from; n <= to; n++) sink.write({ text: `line ${n}\n`, n })
    },
  }
}

function linesFrom(from: number, to: number): string {
  return Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}\n`).join('')
}

test('a line is one write', (t) => {
  const { disk, write, text } = setUp(t)
  write(1, 3)
  assert.equal(text(), linesFrom(1, 3))
  assert.equal(disk.writes, 3)
})

test('lines wait while the disk is full, and follow in order without a line torn or doubled', (t) => {
  const { sink, disk, clock, write, text } = setUp(t)
  write(1)
  disk.freeBytes = 4
  write(2, 50)
  assert.equal(text(), 'line 1\nline')
  assert.equal(sink.fault?.code, 'ENOSPC')
  assert.equal(sink.waitingRecords, 49)
  disk.freeBytes = Number.POSITIVE_INFINITY
  clock.ms = 1_000
  assert.equal(sink.flush(), true)
  assert.equal(text(), linesFrom(1, 50))
  assert.equal(sink.fault, undefined)
  assert.equal(sink.takeDropped(), undefined)
})

test('a full disk is not asked again for each line', (t) => {
  const { sink, disk, clock, write } = setUp(t)
  disk.freeBytes = 0
  write(1, 100)
  assert.equal(disk.writes, 1)
  assert.equal(sink.isDue, false)
  clock.ms = 300
  assert.equal(sink.isDue, true)
})

test('what memory has no room for is counted, as one range', (t) => {
  const { sink, disk, write, text } = setUp(t, { maxWaitingBytes: 71 })
  disk.freeBytes = 0
  write(1, 100)
  assert.equal(sink.waitingRecords, 10)
  assert.equal(sink.droppedRecords, 90)
  assert.equal(sink.takeDropped(), undefined, 'not before what waits is written')
  disk.freeBytes = 7 * 5
  sink.flush()
  write(101)
  disk.freeBytes = Number.POSITIVE_INFINITY
  sink.flush()
  assert.equal(text(), linesFrom(1, 10))
  assert.deepEqual(sink.takeDropped(), { reason: 'ENOSPC', records: 91, fromN: 11, toN: 101 })
  write(102)
  assert.equal(text(), linesFrom(1, 10) + linesFrom(102, 102))
})

test('one step of a long recovery writes a bounded amount', (t) => {
  const { sink, disk } = setUp(t)
  disk.freeBytes = 0
  for (let n = 1; n <= 20; n++) sink.write({ text: `${'x'.repeat(49_999)}\n`, n })
  disk.freeBytes = Number.POSITIVE_INFINITY
  assert.equal(sink.flush(), false)
  assert.ok(sink.waitingRecords > 10)
  assert.equal(sink.flush(Number.POSITIVE_INFINITY), true)
})

test('a broken descriptor is left; the line is written whole in the next file', (t) => {
  const { sink, disk, openNext, write, text, path } = setUp(t)
  write(1)
  disk.freeBytes = 3
  write(2)
  disk.code = 'EIO'
  disk.freeBytes = 0
  sink.flush()
  assert.equal(sink.isOpen, false)
  const first = path()
  disk.freeBytes = Number.POSITIVE_INFINITY
  openNext()
  sink.flush()
  assert.equal(text(), 'line 2\n')
  assert.equal(readFileSync(first, 'utf8'), 'line 1\nlin')
})

test('a file at its limit is left at once, a line that no file can hold is not chased', (t) => {
  const { sink, disk, openNext, write } = setUp(t)
  disk.code = 'EFBIG'
  write(1, 2)
  disk.freeBytes = 3
  write(3)
  assert.equal(sink.isOpen, false)
  assert.equal(sink.isDue, true)
  openNext()
  disk.freeBytes = 3
  sink.flush()
  assert.equal(sink.isOpen, true)
  assert.equal(sink.isDue, false)
})

test('A15: the lines of a removed file are written again in the next one', (t) => {
  const { sink, clock, openNext, write, text, path } = setUp(t)
  write(1, 2)
  clock.ms = 2_000
  write(3)
  write(4, 5)
  unlinkSync(path())
  write(6)
  assert.equal(sink.isOpen, true, 'not looked at for each line')
  clock.ms = 4_000
  write(7)
  assert.equal(sink.isOpen, false)
  openNext()
  sink.flush()
  assert.equal(text(), linesFrom(4, 7))
})
