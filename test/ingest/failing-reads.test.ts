import assert from 'node:assert/strict'
import { renameSync } from 'node:fs'
import { test } from 'node:test'
import { type FilePort, realFiles } from '../../ingest/file-port.ts'
import {
  append,
  assertSound,
  callRecord,
  createStampedLine,
  createTailer,
  createWorld,
  foreignCall,
  NOON,
  storedCalls,
} from './support.ts'

type Fault = { code: string; sticky: boolean }

/** Fails the k-th call; a sticky fault goes on until `mend`. */
function failing(k: number, { code, sticky }: Fault) {
  let calls = 0
  let mended = false
  const guard =
    <A extends unknown[], R>(call: (...args: A) => R) =>
    (...args: A): R => {
      calls += 1
      if (!mended && (sticky ? calls >= k : calls === k)) {
        throw Object.assign(new Error(`${code}: made to fail`), { code })
      }
      return call(...args)
    }
  const files: FilePort = {
    ...realFiles,
    open: guard(realFiles.open),
    facts: guard(realFiles.facts),
    look: guard(realFiles.look),
    list: guard(realFiles.list),
    read: guard(realFiles.read),
  }
  return {
    files,
    mend: () => {
      mended = true
    },
    wasReached: () => calls >= k,
  }
}

const FAULTS: readonly Fault[] = [
  { code: 'EIO', sticky: false },
  { code: 'ESTALE', sticky: true },
  { code: 'EMFILE', sticky: true },
]

for (const fault of FAULTS) {
  const how = fault.sticky ? 'from the k-th call on' : 'once, at the k-th call'
  test(`E20: ${fault.code} ${how}, for every k: nothing is lost or doubled`, () => {
    let k = 1
    for (let reached = true; reached; k += 1) {
      assert.ok(k < 500, 'the story ends')
      reached = tell(k, fault)
    }
    assert.ok(k > 30, `only ${k} calls were there to fail`)
  })
}

/** A short story with a rotation; false if it was over before the k-th call. */
function tell(k: number, fault: Fault): boolean {
  const world = createWorld()
  const stamped = (n: number): string =>
    createStampedLine('9'.repeat(32), n, NOON, callRecord({ call: `s-${n}` }))
  append(world.log('a.log'), stamped(1), stamped(2))
  append(world.log('b.log'), foreignCall('u-1'))
  const port = failing(k, fault)
  // The roots are looked at before the files begin to fail.
  const tailer = createTailer(world, { files: port.files, rootFiles: realFiles })
  tailer.poll()
  append(world.log('a.log'), stamped(3))
  renameSync(world.log('a.log'), world.log('a.log.1'))
  append(world.log('a.log'), stamped(4))
  append(world.log('b.log'), foreignCall('u-2'))
  tailer.poll()
  const reached = port.wasReached()
  port.mend()
  // Longer than any wait before the next try.
  tailer.clock.nowMs += 35_000
  tailer.settle()
  assert.deepEqual(
    storedCalls(tailer.database),
    ['s-1', 's-2', 's-3', 's-4', 'u-1', 'u-2'],
    `k = ${k}`,
  )
  assertSound(tailer.database)
  tailer.stop()
  return reached
}

test('a poll that fails in the middle of a batch forgets what was not committed', () => {
  const world = createWorld()
  const writer = '8'.repeat(32)
  const stamped = (n: number): string =>
    createStampedLine(writer, n, NOON, callRecord({ call: `s-${n}` }))
  append(world.log('a.log'), stamped(1))
  const other = `${JSON.stringify({ text: 'x'.repeat(2000) })}\n`
  append(world.log('b.log'), other)
  let fails = false
  const files: FilePort = {
    ...realFiles,
    read: (file, buffer, length, position) => {
      // Where b.log goes on, after a.log was stored. Not a fault of the file, which would be put off.
      if (fails && position === other.length) throw new Error('made to fail')
      return realFiles.read(file, buffer, length, position)
    },
  }
  const tailer = createTailer(world, { files })
  tailer.poll()
  append(world.log('a.log'), stamped(2), foreignCall('u-1', { session: 'new', tool: 'new' }))
  append(world.log('b.log'), other)
  fails = true
  assert.throws(() => tailer.poll(), /made to fail/)
  assert.deepEqual(storedCalls(tailer.database), ['s-1'])
  fails = false
  tailer.settle()
  assert.deepEqual(storedCalls(tailer.database), ['s-1', 's-2', 'u-1'])
  assertSound(tailer.database)
  tailer.stop()
})
