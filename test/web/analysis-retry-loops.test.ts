import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loopFindings, loopGroups } from '../../web/analysis/loop-findings.ts'
import { findLoops } from '../../web/analysis/retry-loops.ts'
import type { SessionCall } from '../../web/queries/call-store.ts'
import { defaultFilter, parseFilter } from '../../web/queries/filter.ts'
import { storeOf, type TestCall } from './fixtures/build-database.ts'

const NOW = Date.UTC(2026, 1, 18, 10, 7)
const SECOND = 1000
const MINUTE = 60_000

/**
 * A session as letters: F fails, T fails with a time-out, S succeeds, with arguments 1; `f` and `s`
 * with arguments 2; `o` is another tool. One step a time.
 */
function session(letters: string, step = 10 * SECOND, start = NOW - 60 * MINUTE): SessionCall[] {
  return [...letters].map((letter, i) => ({
    id: i + 1,
    session: 7,
    startedMs: start + i * step,
    durationMs: 100,
    server: 'demo',
    tool: letter === 'o' ? 'other' : 'search',
    argsKey: letter === 'f' || letter === 's' ? 2 : 1,
    outcome: /[Sso]/.test(letter) ? 'succeeded' : 'failed',
    class: letter === 'T' ? 'timeout' : /[Ff]/.test(letter) ? 'tool_error' : undefined,
    request: i,
  }))
}

const shapes: [letters: string, loops: [k: number, ending: string][]][] = [
  ['FFFS', [[3, 'recovered']]],
  ['FF', []],
  ['FFS', []],
  ['SSSSS', []],
  ['FFFo', [[3, 'switched_tool']]],
  ['FFFs', [[3, 'changed_arguments']]],
  ['FFF', [[3, 'gave_up']]],
  ['FoFFS', [[3, 'recovered']]],
  ['FooFF', []],
  ['FFTF', []],
  [
    'FfFfFf',
    [
      [3, 'changed_arguments'],
      [3, 'gave_up'],
    ],
  ],
  ['FFSFFFF', [[4, 'gave_up']]],
]
for (const [letters, expected] of shapes) {
  test(`${letters} has ${expected.length} loops`, () => {
    const loops = findLoops(session(letters), NOW)
    assert.deepEqual(
      loops.map(({ calls, ending }) => [calls.length, ending]),
      expected,
    )
  })
}

test('a loop that changes its class is two loops', () => {
  const loops = findLoops(session('FFFTTT'), NOW)
  assert.deepEqual(
    loops.map(({ calls }) => calls[0]?.class),
    ['tool_error', 'timeout'],
  )
})

test('pauses of more than ten minutes break a loop', () => {
  assert.equal(findLoops(session('FFF', 9 * MINUTE), NOW).length, 1)
  assert.equal(findLoops(session('FFF', 11 * MINUTE), NOW).length, 0)
})

test('a loop whose last try is fresh is still running', () => {
  const [loop] = findLoops(session('FFF', 10 * SECOND, NOW - MINUTE), NOW)
  assert.equal(loop?.ending, 'still_running')
})

test('the same call sent twice at once is one try', () => {
  const [first, second, third] = session('FFF')
  assert.ok(first && second && third)
  const twice = [first, { ...first, id: 90, startedMs: first.startedMs + 5 }, second, third]
  const [loop] = findLoops(twice, NOW)
  assert.equal(loop?.calls.length, 3)
  assert.deepEqual(
    loop?.duplicates.map(({ id }) => id),
    [90],
  )
})

test('waste is every try but the first, and the time they took', () => {
  const [loop] = findLoops(session('FFFF'), NOW)
  assert.equal(loop?.wastedCalls, 3)
  assert.equal(loop?.wastedMs, 30 * SECOND)
  assert.deepEqual(loop?.gapsMs, [9900, 9900, 9900])
})

test('calls without a hash of their arguments are in no loop', () => {
  const unknown = session('FFF').map((call) => ({ ...call, argsKey: undefined }))
  assert.deepEqual(findLoops(unknown, NOW), [])
})

test('sessions are apart', () => {
  const other = session('F').map((call) => ({ ...call, session: 8 }))
  assert.deepEqual(findLoops([...session('FF'), ...other], NOW), [])
})

test('loops become one finding a tool and class, whose calls are exactly those in the loops', (t) => {
  const context = { nowMs: NOW, defaultZone: 'UTC' }
  const filter = defaultFilter(context)
  const loop = (session: string, minutes: number, tries: number): TestCall[] =>
    Array.from({ length: tries }, (_, i) => ({
      startedMs: NOW - minutes * MINUTE + i * 5 * SECOND,
      session,
      class: 'tool_error',
      argsKey: 42,
    }))
  const store = storeOf(t, [
    ...loop('a', 50, 4),
    ...loop('b', 40, 3),
    // Not a loop: twice, and another class.
    ...loop('c', 30, 2),
    { startedMs: NOW - 29 * MINUTE, session: 'b', class: 'timeout', argsKey: 42 },
  ])
  const [group, ...others] = loopGroups(store, filter, NOW)
  assert.equal(others.length, 0)
  assert.deepEqual([group?.loops.length, group?.sessions, group?.wastedCalls], [2, 2, 5])
  const [finding] = loopFindings(loopGroups(store, filter, NOW), store, filter, NOW)
  assert.equal(
    finding?.sentence,
    '`search` is called up to 4 times in a row with the same arguments that fail (tool_error): 2 loops in 2 sessions, 5 calls and 25 seconds wasted.',
  )
  assert.deepEqual(finding?.impact, { calls: 7, sessions: 2 })
  const parsed = parseFilter(new URLSearchParams(finding?.evidenceQuery), context)
  assert.ok(parsed.ok)
  const page = store.calls(parsed.filter, { limit: 50 })
  assert.equal(page.total, 7)
  assert.equal(page.rows.length, 7)
  // All but those in loops.
  const rest = store.calls({ ...filter, flag: { include: [], exclude: ['loop'] } }, { limit: 50 })
  assert.equal(rest.total, 3)
})
