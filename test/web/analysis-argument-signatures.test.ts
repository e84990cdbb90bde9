import assert from 'node:assert/strict'
import { test } from 'node:test'
import { argumentFix } from '../../web/analysis/argument-fix.ts'
import {
  argumentFindings,
  gradeOfSignature,
  rankSignatures,
} from '../../web/analysis/argument-signatures.ts'
import type { SignatureRow } from '../../web/queries/call-store.ts'
import { defaultFilter, parseFilter } from '../../web/queries/filter.ts'
import { storeOf, type TestCall } from './fixtures/build-database.ts'

const NOW = Date.UTC(2026, 1, 18, 10, 7)
const DAY = 86_400_000
const context = { nowMs: NOW, defaultZone: 'UTC' }
const filter = defaultFilter(context)

function row(parts: Partial<SignatureRow>): SignatureRow {
  return {
    fingerprint: 's1:x',
    server: 'demo',
    tool: 'search',
    code: 'wrong_type',
    path: 'limit',
    subtype: undefined,
    expected: 'integer',
    received: 'string',
    suggest: undefined,
    calls: 10,
    failures: 10,
    sessions: 5,
    clients: [],
    toolCalls: 100,
    toolSessions: 50,
    firstMs: NOW - 20 * DAY,
    lastMs: NOW - DAY,
    sampleCallId: 1,
    sampleArgs: undefined,
    ...parts,
  }
}

test('sessions come before calls: a loop of one caller is isolated', () => {
  const loop = row({ fingerprint: 's1:loop', calls: 500, sessions: 1 })
  const common = row({ fingerprint: 's1:common', calls: 12, sessions: 9 })
  const rare = row({ fingerprint: 's1:rare', calls: 300, sessions: 2 })
  const { recurring, isolated } = rankSignatures([loop, rare, common], [])
  assert.deepEqual(
    recurring.map((ranked) => ranked.row.fingerprint),
    ['s1:common', 's1:rare'],
  )
  assert.deepEqual(
    isolated.map((ranked) => ranked.row.fingerprint),
    ['s1:loop'],
  )
})

const unknown = row({
  fingerprint: 's1:u',
  code: 'unknown_key',
  path: 'pattern',
  expected: undefined,
  received: undefined,
})
const missing = row({ fingerprint: 's1:m', code: 'missing_required', path: 'query' })
const pairOf = (calls: number, sessions: number) => ({
  server: 'demo',
  tool: 'search',
  unknown: { fingerprint: 's1:u', path: 'pattern' },
  missing: { fingerprint: 's1:m', path: 'query' },
  calls,
  sessions,
})

test('a wrong name that always comes with one missing parameter is told as one fault', () => {
  const { recurring } = rankSignatures([missing, unknown], [pairOf(9, 5)])
  assert.equal(recurring.length, 1)
  assert.equal(
    recurring[0]?.sentence,
    '`search` is sent `pattern`, in place of `query`: 10 calls in 5 of 50 sessions.',
  )
  assert.equal(recurring[0]?.fix.paste, 'The parameter is called "query", not "pattern".')
})

test('a pair of one session, or of fewer than four in five calls, proves nothing', () => {
  for (const pair of [pairOf(10, 1), pairOf(7, 5)]) {
    const { recurring } = rankSignatures([missing, unknown], [pair])
    assert.equal(recurring.length, 2)
    assert.equal(recurring.find((ranked) => ranked.row.code === 'unknown_key')?.meant, undefined)
  }
})

test('a name that looks like a real one is said to be probably meant', () => {
  const spelt = { ...unknown, path: 'querry', suggest: 'query' }
  assert.match(
    rankSignatures([spelt], []).recurring[0]?.sentence ?? '',
    /probably meant as `query`/,
  )
})

const sentences: [Partial<SignatureRow>, string][] = [
  [{}, '`search` gets a string in `limit` where an integer is needed'],
  [{ code: 'missing_required' }, '`search` is called without `limit`'],
  [
    { code: 'not_in_enum', path: 'order', expected: 'one of "ASC", "DESC"' },
    '`search` gets a value in `order` that is not one of "ASC", "DESC"',
  ],
  [
    { code: 'unknown_key', path: 'format', failures: 0 },
    '`search` is sent `format`, which it ignores',
  ],
]
for (const [parts, start] of sentences) {
  test(`the sentence of ${parts.code ?? 'wrong_type'} says what was sent`, () => {
    const sentence = rankSignatures([row({ ...parts, clients: ['claude', 'cursor'] })], [])
      .recurring[0]?.sentence
    assert.equal(sentence, `${start}: 10 calls in 5 of 50 sessions, by claude and cursor.`)
  })
}

test('each subtype has a text to paste', () => {
  const paste = (parts: Partial<SignatureRow>) => argumentFix(row(parts)).paste
  assert.equal(paste({ subtype: 'stringified_number' }), 'limit: z.coerce.number()')
  assert.equal(
    paste({ subtype: 'stringified_number', path: 'items[*].max-size' }),
    '"max-size": z.coerce.number()',
  )
  assert.match(paste({ subtype: 'null_for_optional' }), /nullish\(\)/)
  assert.match(paste({ subtype: 'wrapped_args', path: 'params' }), /not inside "params"/)
  assert.match(paste({ subtype: 'stringified_json', expected: 'array' }), /\["a", "b"\]/)
  assert.match(paste({ code: 'not_in_enum', expected: 'one of "a"' }), /one of "a"/)
  assert.match(paste({ code: 'malformed_json', path: '(root)' }), /one JSON object/)
})

test('grades follow the sessions, and a fault that is new or quiet says so', () => {
  const grade = (parts: Partial<SignatureRow>) => gradeOfSignature(row(parts), filter, NOW)
  assert.equal(grade({ sessions: 5 }), 'confirmed')
  assert.equal(grade({ sessions: 3 }), 'likely')
  assert.equal(grade({ sessions: 2 }), 'possible')
  assert.equal(grade({ firstMs: NOW - DAY }), 'emerging')
  assert.equal(grade({ lastMs: NOW - 8 * DAY }), 'fading')
})

test('a finding lists exactly the calls that it counts, failing or not', (t) => {
  const call = (session: string, minutes: number, parts: Partial<TestCall>): TestCall => ({
    startedMs: NOW - minutes * 60_000,
    session,
    ...parts,
  })
  const wrongName: Partial<TestCall> = {
    class: 'invalid_arguments',
    issues: [
      { code: 'unknown_key', path: 'pattern' },
      { code: 'missing_required', path: 'query', expected: 'string' },
    ],
  }
  const ignored: Partial<TestCall> = {
    tool: 'fetch',
    flags: ['dropped'],
    issues: [{ code: 'unknown_key', path: 'format' }],
  }
  const store = storeOf(t, [
    call('a', 50, wrongName),
    call('b', 40, wrongName),
    call('b', 39, wrongName),
    call('a', 30, ignored),
    call('c', 20, ignored),
    call('c', 10, {}),
  ])
  const findings = argumentFindings(store, filter, NOW)
  assert.deepEqual(
    findings.map(({ kind, tool, class: name, impact }) => [kind, tool, name, impact]),
    [
      ['ignored_arguments', 'fetch', undefined, { calls: 2, sessions: 2 }],
      ['malformed_arguments', 'search', 'invalid_arguments', { calls: 3, sessions: 2 }],
    ],
  )
  assert.match(findings[1]?.sentence ?? '', /is sent `pattern`, in place of `query`/)
  for (const { evidenceQuery, impact } of findings) {
    const parsed = parseFilter(new URLSearchParams(evidenceQuery), { ...context, nowMs: NOW + DAY })
    assert.ok(parsed.ok)
    assert.equal(store.calls(parsed.filter, { limit: 1 }).total, impact.calls)
  }
})

test('B16: one mistake in five sessions is one cluster with its count, before a rarer one', (t) => {
  const wrong = (path: string, n: number): TestCall => ({
    startedMs: NOW - DAY - n * 1_000,
    tool: 'search',
    session: `s${n % 5}`,
    outcome: 'failed',
    class: 'invalid_arguments',
    issues: [{ code: 'missing_required', path }],
  })
  const store = storeOf(t, [
    ...Array.from({ length: 40 }, (_, n) => wrong('q', n)),
    ...Array.from({ length: 3 }, (_, n) => wrong('page', n)),
  ])
  const { recurring, isolated } = rankSignatures(store.signatures(filter), [])
  assert.deepEqual(
    [...recurring, ...isolated].map(({ row: { path, calls, sessions, firstMs, lastMs } }) => [
      path,
      calls,
      sessions,
      firstMs,
      lastMs,
    ]),
    [
      ['q', 40, 5, NOW - DAY - 39_000, NOW - DAY],
      ['page', 3, 3, NOW - DAY - 2_000, NOW - DAY],
    ],
  )
})
