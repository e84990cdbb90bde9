import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { valueTextOf } from '../../ingest/formats/field-values.ts'
import { gluedRecordAt, parseLine } from '../../ingest/formats/parse-line.ts'
import { readTimestamp } from '../../ingest/formats/timestamp.ts'
import { OUTCOMES } from '../../server/call-log/record.ts'
import { callRecord, createStampedLine, NOON } from './support.ts'

const CONTEXT = {
  nowMs: NOON + 60_000,
  fallbackServer: 'from-the-file',
  redactor: { text: (text: string) => text, value: (value: unknown) => value },
}

function parsed(record: Record<string, unknown> | string) {
  const text = typeof record === 'string' ? record : JSON.stringify(record)
  return parseLine(text, CONTEXT)
}

function callOf(record: Record<string, unknown>) {
  const line = parsed(record)
  assert.equal(line.fate, 'call', JSON.stringify(line))
  return line.fate === 'call' ? line.call : assert.fail()
}

test('E15: one instant in all the ways in which programs write it', () => {
  const instant = Date.UTC(2026, 0, 1)
  for (const value of [
    1767225600000,
    1767225600,
    '1767225600',
    '1767225600000',
    1767225600000000,
    Number('1767225600000123456'),
    '2026-01-01T00:00:00Z',
    '2026-01-01T01:00:00+01:00',
    '2026-01-01T01:00:00+0100',
    '20260101T000000Z',
  ]) {
    assert.equal(readTimestamp(value), instant, String(value))
  }
  assert.equal(readTimestamp(1767225600.5), instant + 500)
  const local = new Date(2026, 0, 1).getTime()
  assert.equal(readTimestamp('2026-01-01 00:00:00'), local)
  assert.equal(readTimestamp('2026-01-01 00:00:00,123'), local + 123)
  for (const value of ['', null, {}, 'yesterday', '2026-13-01T00:00:00Z', Number.NaN]) {
    assert.equal(readTimestamp(value), undefined, String(value))
  }
})

test('the text of args is exact, wherever it stands and whatever is in it', () => {
  const args = '{"big":9007199254740993,"s":"a\\",\\"args\\":{}}","deep":{"args":[1, 2]}}'
  const last = `{"level":30,"w":"wwwwwwww","n":1,"kind":"call","tool":"t","outcome":"failed","started":${NOON},"duration_ms":1,"args":${args}}`
  const first = `{"args":${args},"level":30,"w":"wwwwwwww","n":1,"kind":"call","tool":"t","outcome":"failed","started":${NOON},"duration_ms":1}`
  const nested = last.replace('"tool"', '"x":{"a":1,"args":{"no":1}},"tool"')
  const spaced = last.replace(/,"args":/, ', "args": ')
  const twice = last.replace(/,"args":/, ',"args":{"no":1},"args":')
  const escaped = last.replace(/,"args":/, ',"args":1,"\\u0061rgs":')
  for (const line of [last, first, nested, spaced, twice, escaped]) {
    const result = parsed(line)
    assert.equal(result.fate === 'call' && result.call.args, args)
  }
})

test('valueTextOf finds what JSON.parse finds', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.boolean(), (object, spaced) => {
      const json = JSON.stringify(object, undefined, spaced ? 2 : undefined)
      for (const [key, value] of Object.entries(object)) {
        const text = valueTextOf(json, key)
        assert.deepEqual(JSON.parse(text as string), JSON.parse(JSON.stringify(value)))
      }
      assert.equal(valueTextOf(json, 'no such key at all'), undefined)
    }),
  )
})

test('whatever a line says, reading it does not throw', () => {
  const line = createStampedLine('w'.repeat(32), 1, NOON, callRecord())
  fc.assert(
    fc.property(
      fc.nat(line.length),
      fc.nat(20),
      fc.string({ unit: 'binary' }),
      (at, drop, noise) => {
        const text = line.slice(0, at) + noise + line.slice(at + drop)
        parseLine(text, CONTEXT)
        gluedRecordAt(text)
      },
    ),
    { numRuns: 2000 },
  )
  fc.assert(fc.property(fc.json(), (json) => void parseLine(json, CONTEXT)))
})

test('outcome and class are numbered as in the tables', () => {
  for (const [index, outcome] of OUTCOMES.entries()) {
    const line = parsed({ ...callRecord({ outcome }), w: 'wwwwwwww', n: 1 })
    assert.equal(line.fate === 'call' && line.call.outcomeId, index + 1)
    assert.equal(line.fate === 'call' && line.call.classId, outcome === 'failed' ? 11 : 0)
  }
  const timeout = callOf({
    ...callRecord({ outcome: 'failed', error: { class: 'timeout', message: 'late' } }),
    w: 'wwwwwwww',
    n: 1,
  })
  assert.deepEqual([timeout.outcomeId, timeout.classId], [3, 2])
})

test('H12: calls in the lines of other programs are calls', () => {
  const one = callOf({
    ts: '2026-03-10T11:30:08.145Z',
    tool: 't1',
    args: { q: 1 },
    duration_ms: 312.4,
    result: { is_error: false, chars: 35 },
  })
  assert.deepEqual(
    [one.tool, one.server.name, one.outcomeId, one.durationUs, one.args, one.startedMs],
    ['t1', 'from-the-file', 1, 312400, '{"q":1}', Date.UTC(2026, 2, 10, 11, 30, 7, 833)],
  )
  const two = callOf({
    timestamp: { occurredAt: '2026-03-10T08:00:00-04:00', recordedAt: '2026-03-10T08:00:01-04:00' },
    action: { operation: 'tools/call', name: 't3' },
    outcome: { status: 'success', durationMs: 5105 },
  })
  assert.deepEqual([two.tool, two.outcomeId, two.durationUs], ['t3', 1, 5_105_000])
  const three = callOf({
    time: NOON,
    event_type: 'tool_execution',
    tool_name: 't5',
    status_code: 503,
    exception_type: 'HTTPError',
    root_cause: 'upstream gone',
  })
  assert.deepEqual([three.tool, three.outcomeId, three.classId], ['t5', 3, 5])
})

test('the class of a foreign failure is told by its words', () => {
  for (const [error, classId] of [
    [{ type: 'Error', message: 'Request timed out' }, 2],
    [{ code: 'ECONNREFUSED', message: 'connect' }, 3],
    [{ message: 'HTTP 429 Too Many Requests' }, 4],
    [{ name: 'ZodError', message: 'bad' }, 1],
    ['the operation was aborted: AbortError', 9],
    [{ message: 'what?' }, 11],
  ] as const) {
    const call = callOf({ time: NOON, tool: 't', duration_ms: 1, outcome: 'error', error })
    assert.equal(call.classId, classId, JSON.stringify(error))
  }
})

test('JSON lines of other programs that are no calls are only counted', () => {
  for (const record of [
    {},
    { level: 30, time: NOON, pid: 1, hostname: 'h', msg: 'hello' },
    { timestamp: '2025-10-16T18:42:49.149Z', message: { type: 'tool', tool: { name: 't2' } } },
    { time: '2026-09-01T08:00:00.000Z', level: 'error', message: 'x' },
    { tool: 'named without an end' },
  ]) {
    assert.deepEqual(parsed(record), { fate: 'foreign' })
  }
})

test('secrets in the arguments of foreign calls are taken out, other arguments are exact', () => {
  const redactor = {
    text: (text: string) => text,
    value: (value: unknown) =>
      JSON.parse(JSON.stringify(value).replace('hunter2', '[redacted]')) as unknown,
  }
  const read = (args: string) => {
    const line = parseLine(`{"time":${NOON},"tool":"t","ok":true,"args":${args}}`, {
      ...CONTEXT,
      redactor,
    })
    return line.fate === 'call' ? line.call.args : undefined
  }
  assert.equal(read('{"password":"hunter2"}'), '{"password":"[redacted]"}')
  assert.equal(read('{"id": 9007199254740993}'), '{"id": 9007199254740993}')
})

test('a stamp must be one', () => {
  for (const stamp of [
    { w: 'w', n: 0 },
    { w: 'wwwwwwww', n: 1.5 },
    { w: 'wwwwwwww', n: '1' },
    { w: '', n: 1 },
    { w: 'x'.repeat(129), n: 1 },
    { w: 'with space', n: 1 },
  ]) {
    const line = parsed({ ...callRecord(), ...stamp })
    assert.equal(line.fate === 'call' && line.stamp, undefined, JSON.stringify(stamp))
  }
})

test('dropped arguments count as unknown keys', () => {
  const { issues } = callOf({ ...callRecord({ dropped: ['qeury'] }), w: 'wwwwwwww', n: 1 })
  assert.deepEqual(issues, [{ path: 'qeury', code: 'unknown_key' }])
})
