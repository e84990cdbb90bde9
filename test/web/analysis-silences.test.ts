import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findSilences } from '../../web/analysis/silences.ts'
import type { ProcessRow } from '../../web/queries/call-store.ts'

const NOW = Date.UTC(2026, 1, 18, 10)
const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** A process that began three hours ago, beats every 30 s, and is alive unless told otherwise. */
function processOf(parts: Partial<ProcessRow> = {}): ProcessRow {
  return {
    writer: 'w',
    server: 'demo',
    version: '1',
    pid: 1,
    hostname: 'host',
    bootId: 'boot-1',
    beatMs: 30_000,
    startedMs: NOW - 3 * HOUR,
    lastSeenMs: NOW - 10_000,
    exit: undefined,
    fatal: undefined,
    openCalls: [],
    pauses: [],
    ...parts,
  }
}

const exitOf = (code: number | undefined, reason?: string) => ({ atMs: NOW - HOUR, code, reason })
const lost = { lastSeenMs: NOW - HOUR }
const later = processOf({ writer: 'next', startedMs: NOW - 30 * MINUTE })

const cases: [name: string, processes: ProcessRow[], kinds: string[]][] = [
  ['a process that beats is not silent', [processOf()], []],
  [
    'a process that ended as it was told is no silence',
    [processOf({ exit: exitOf(0, 'SIGTERM') })],
    [],
  ],
  [
    'a signal that ends a process with a code is no crash',
    [processOf({ exit: exitOf(143, 'SIGTERM') })],
    [],
  ],
  [
    'an exit with an error is a crash',
    [processOf({ exit: exitOf(1, 'uncaughtException') })],
    ['crashed'],
  ],
  ['exit code 78 is a refusal', [processOf({ exit: exitOf(78) })], ['refused']],
  ['no last record and a successor: killed', [processOf(lost), later], ['killed']],
  ['no last record and no successor: gone', [processOf(lost)], ['gone']],
  [
    'a successor after a new start of the same machine: the machine went down',
    [processOf(lost), { ...later, bootId: 'boot-2' }],
    ['machine_restarted'],
  ],
  [
    'a successor on another machine says nothing about this one',
    [processOf(lost), { ...later, bootId: 'boot-2', hostname: 'other' }],
    ['killed'],
  ],
  ['a process without beats may be alive', [processOf({ ...lost, beatMs: 0 })], []],
  ['a beat that is a little late is no silence', [processOf({ lastSeenMs: NOW - 70_000 })], []],
  [
    'a pause in which the event loop stood still is a hang',
    [
      processOf({
        pauses: [{ fromMs: NOW - HOUR, toMs: NOW - 50 * MINUTE, loopDelayMs: 9.9 * MINUTE }],
      }),
    ],
    ['hung'],
  ],
  [
    'a pause that the event loop did not notice is sleep',
    [processOf({ pauses: [{ fromMs: NOW - HOUR, toMs: NOW - 50 * MINUTE, loopDelayMs: 12 }] })],
    ['asleep'],
  ],
]
for (const [name, processes, kinds] of cases) {
  test(name, () => {
    assert.deepEqual(
      findSilences(processes, NOW).map(({ kind }) => kind),
      kinds,
    )
  })
}

test('a silence lasts until the next process of the server begins', () => {
  const earlier = processOf({
    writer: 'before',
    startedMs: NOW - 5 * HOUR,
    exit: exitOf(0),
    lastSeenMs: NOW - HOUR,
  })
  const other = processOf({ writer: 'other', server: 'other', startedMs: NOW - 50 * MINUTE })
  const [silence] = findSilences([earlier, processOf(lost), other, later], NOW)
  assert.equal(silence?.fromMs, NOW - HOUR)
  assert.equal(silence?.toMs, NOW - 30 * MINUTE)
  assert.equal(silence?.othersAlive, false)
})

test('where another process of the server was alive, that is said', () => {
  const sibling = processOf({ writer: 'sibling' })
  const [silence] = findSilences([processOf(lost), sibling, later], NOW)
  assert.equal(silence?.othersAlive, true)
})
