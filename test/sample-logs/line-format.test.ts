import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SMALL_SAMPLE } from '../../sample-logs/small-sample.ts'
import { argumentsHash } from '../../server/call-log/canonical-json.ts'
import { ERROR_CLASSES, ISSUE_CODES, OUTCOMES } from '../../server/call-log/record.ts'
import {
  callsIn,
  type Line,
  type LogFile,
  linesOf,
  readLogFiles,
  smallFolder,
} from './read-logs.ts'

const ENVELOPE = ['level', 'time', 'pid', 'hostname', 'v', 'w', 'n', 'kind']
const KINDS = ['call', 'late', 'start', 'beat', 'exit', 'fatal', 'open', 'close', 'drop']

const files = readLogFiles(smallFolder)
const lines = linesOf(files)
const calls = callsIn(lines)

/** The files of each writer, joined in the order of their numbers. */
function writers(): Map<string, Line[]> {
  const found = new Map<string, Line[]>()
  for (const line of linesOf(inOrder(files))) {
    found.set(line.w, [...(found.get(line.w) ?? []), line])
  }
  return found
}

function inOrder(unordered: readonly LogFile[]): LogFile[] {
  return [...unordered].sort((one, other) => (one.lines[0]?.n ?? 0) - (other.lines[0]?.n ?? 0))
}

test('each line begins with the envelope, in its order', () => {
  for (const line of lines) assert.deepEqual(Object.keys(line).slice(0, 8), ENVELOPE)
})

test('each file ends with a line break', () => {
  for (const { name, text } of files) assert.ok(text.endsWith('}\n'), name)
})

test('all kinds of record occur, and no other', () => {
  assert.deepEqual([...new Set(lines.map(({ kind }) => kind))].sort(), [...KINDS].sort())
})

test('args is the last key of a call, and the text from there is the arguments', () => {
  const texts = files.flatMap(({ text }) => text.split('\n').slice(0, -1))
  for (const text of texts) {
    const record = JSON.parse(text)
    if (record.kind !== 'call') continue
    assert.equal(Object.keys(record).at(-1), 'args')
    const cut = text.slice(text.indexOf(',"args":') + ',"args":'.length, -1)
    assert.deepEqual(JSON.parse(cut), record.args)
  }
})

test('args_hash is the hash of the arguments', () => {
  for (const call of calls) assert.equal(call.args_hash, argumentsHash(call.args))
})

test('outcomes, classes and issue codes are those of the format', () => {
  for (const call of calls) {
    assert.ok(OUTCOMES.includes(call.outcome))
    assert.equal(call.error !== undefined, call.outcome === 'failed', call.call)
    if (call.error) assert.ok(ERROR_CLASSES.includes(call.error.class))
    for (const issue of call.issues ?? []) assert.ok(ISSUE_CODES.includes(issue.code))
  }
})

test('ids of calls are unique', () => {
  assert.equal(new Set(calls.map(({ call }) => call)).size, calls.length)
})

test('the parts of a duration add up', () => {
  for (const { call, attempts, duration_ms, handler_ms = 0 } of calls) {
    const inHandler = attempts.reduce((sum, { ms }) => sum + ms, 0)
    const waiting = attempts.reduce((sum, { wait_ms = 0 }) => sum + wait_ms, 0)
    assert.ok(inHandler + waiting <= duration_ms + 0.001, call)
    assert.ok(handler_ms <= duration_ms, call)
  }
})

test('a retried call has a failed attempt, a wait, and an attempt that succeeded', () => {
  const retried = calls.filter(({ outcome }) => outcome === 'retried')
  assert.equal(retried.length, SMALL_SAMPLE.byOutcome.retried)
  for (const { attempts } of retried) {
    assert.equal(attempts.length, 2)
    assert.ok(attempts[0]?.class === 'timeout' || attempts[0]?.class === 'connection')
    assert.ok((attempts[1]?.wait_ms ?? -1) >= 0)
    assert.equal(attempts[1]?.class, undefined)
  }
})

test('a line is written when the call ends, and time never runs backwards in a writer', () => {
  for (const { started, duration_ms, time, call } of calls) {
    assert.ok(Math.abs(started + duration_ms - time) <= 1, call)
  }
  for (const writer of writers().values()) {
    for (const [index, line] of writer.entries()) {
      assert.ok(line.time >= (writer[index - 1]?.time ?? 0))
    }
  }
})

test('n counts up without holes but for the records that a full disk swallowed', () => {
  const holes: { writer: string; fromN: number; toN: number }[] = []
  for (const [writer, written] of writers()) {
    assert.equal(written[0]?.n, 1)
    for (const [index, line] of written.entries()) {
      const before: number = written[index - 1]?.n ?? 0
      if (line.n !== before + 1) holes.push({ writer, fromN: before + 1, toN: line.n - 1 })
    }
  }
  assert.deepEqual(holes, [SMALL_SAMPLE.dropped])
  const drop = lines.find((line) => line.kind === 'drop')
  assert.ok(drop?.kind === 'drop')
  assert.equal(drop.w, SMALL_SAMPLE.dropped.writer)
  assert.deepEqual([drop.from_n, drop.to_n, drop.records], [258, 263, 6])
})

test('a writer starts with start and ends with exit, but for the one that died', () => {
  const lasts = [...writers().values()].map((written) => written.at(-1)?.kind)
  assert.equal(lasts.length, SMALL_SAMPLE.writers)
  assert.equal(lasts.filter((kind) => kind !== 'exit').length, 1)
  for (const written of writers().values()) assert.equal(written[0]?.kind, 'start')
})

test('the beats come as often as the start record says', () => {
  for (const written of writers().values()) {
    const start = written[0]
    assert.ok(start?.kind === 'start')
    assert.equal(start.beat_ms, 7_200_000)
    const beats = written.filter(({ kind }) => kind === 'beat')
    for (const [index, beat] of beats.entries()) {
      const before: number = beats[index - 1]?.time ?? start.time
      // One beat may be among the swallowed records.
      assert.equal((beat.time - before) % start.beat_ms, 0)
    }
  }
})

test('the rotated pair names each other and shares one writer', () => {
  const [one, two] = SMALL_SAMPLE.rotated.map((name) => files.find((file) => file.name === name))
  const close = one?.lines.at(-1)
  const open = two?.lines[0]
  assert.ok(close?.kind === 'close' && open?.kind === 'open')
  assert.equal(close.next_file, two?.name)
  assert.equal(open.previous_file, one?.name)
  assert.equal(close.w, open.w)
  assert.equal(open.n, close.n + 1)
})

test('nothing in the sample is of the machine that made it', () => {
  assert.deepEqual([...new Set(lines.map(({ hostname }) => hostname))].sort(), ['app-1', 'app-2'])
})
