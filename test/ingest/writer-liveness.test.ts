import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import {
  type Death,
  deathOf,
  type Host,
  realHost,
  type WriterTraces,
} from '../../ingest/writer-liveness.ts'

const NOW = Date.UTC(2026, 2, 10, 12)
const MINUTE = 60_000

const host: Host = {
  name: 'host-a',
  bootId: 'boot-1',
  pidNamespace: 'pid:[1]',
  bootedMs: () => NOW - 60 * MINUTE,
  startOf: (pid) => ({ 1: NOW - 30 * MINUTE, 2: NOW - 5 * MINUTE, 3: 'unknown' as const })[pid],
}

/** A writer of this host that began 20 minutes ago, beats each half minute, and beat just now. */
function traces(
  pid: number,
  header: Partial<WriterTraces['header']> = {},
  rest: Partial<WriterTraces> = {},
): WriterTraces {
  return {
    header: {
      v: 1,
      kind: 'open_calls',
      w: 'a'.repeat(32),
      pid,
      pid_ns: 'pid:[1]',
      boot_id: 'boot-1',
      started: NOW - 20 * MINUTE,
      slot_bytes: 8192,
      ...header,
    },
    hostname: 'host-a',
    beatMs: 30_000,
    exited: false,
    lastSignMs: NOW - 10_000,
    ...rest,
  }
}

const quiet = { lastSignMs: NOW - 2 * MINUTE }
const longQuiet = { lastSignMs: NOW - 11 * MINUTE }
const noBeats = { beatMs: 0 }
const unknownPlace = { pid_ns: undefined, boot_id: undefined }

const cases: [string, WriterTraces, Death | undefined][] = [
  ['its process is there', traces(1), undefined],
  ['its process is there and hangs for long', traces(1, {}, longQuiet), undefined],
  ['its process is there and has no known beginning', traces(3, {}, longQuiet), undefined],
  ['its process is gone', traces(9), 'gone'],
  ['its pid belongs to a younger process, and it is quiet', traces(2, {}, quiet), 'gone'],
  ['the process looks younger, as after a changed clock, and it beats', traces(2), undefined],
  ['it said goodbye', traces(1, {}, { exited: true }), 'exited'],
  [
    'the machine was started again since',
    traces(1, { boot_id: 'boot-0' }, { lastSignMs: NOW - 61 * MINUTE }),
    'rebooted',
  ],
  ['another machine of the same name writes on', traces(9, { boot_id: 'boot-0' }), undefined],
  ['another container, whose pids mean nothing here', traces(9, { pid_ns: 'pid:[2]' }), undefined],
  [
    'another container that is quiet for a while',
    traces(9, { pid_ns: 'pid:[2]' }, quiet),
    undefined,
  ],
  [
    'another container that is quiet for long',
    traces(9, { pid_ns: 'pid:[2]' }, longQuiet),
    'silent',
  ],
  ['another host', traces(9, { boot_id: 'boot-9' }, { hostname: 'host-b' }), undefined],
  [
    'another host that is quiet for long',
    traces(9, { boot_id: 'boot-9' }, { hostname: 'host-b', ...longQuiet }),
    'silent',
  ],
  [
    'another host that never beats',
    traces(9, { boot_id: 'boot-9' }, { hostname: 'host-b', ...noBeats, ...longQuiet }),
    undefined,
  ],
  ['this host by name, process gone, but it beats', traces(9, unknownPlace), undefined],
  ['this host by name, process gone and quiet', traces(9, unknownPlace, quiet), 'gone'],
  ['this host by name, process there', traces(3, unknownPlace, longQuiet), undefined],
  [
    'nobody knows whose it is',
    traces(9, unknownPlace, { hostname: undefined, ...longQuiet }),
    'silent',
  ],
]

for (const [what, writer, death] of cases) {
  test(`a writer is ${death ?? 'taken to be alive'} where ${what}`, () => {
    assert.equal(deathOf(writer, host, NOW), death)
  })
}

test('of a real process its beginning is known, and its end even while nobody collects it', async () => {
  const start = realHost.startOf(process.pid)
  assert.ok(start === 'unknown' || Math.abs(Date.now() - performance.now() - (start ?? 0)) < 5_000)
  // The shell's child has ended, and the shell never asks for it.
  const child = spawn('sh', ['-c', 'true & echo $!; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  try {
    const [line] = await once(child.stdout, 'data')
    const pid = Number(String(line).trim())
    const deadline = Date.now() + 20_000
    while (realHost.startOf(pid) !== undefined && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    assert.equal(realHost.startOf(pid), undefined)
  } finally {
    child.kill('SIGKILL')
  }
})
