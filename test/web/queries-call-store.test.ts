import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CallStore } from '../../web/queries/call-store.ts'
import { defaultFilter, type Filter, parseFilter } from '../../web/queries/filter.ts'
import { storeOf, type TestCall } from './fixtures/build-database.ts'

const NOW = Date.UTC(2026, 1, 18, 10, 7)
const HOUR = 3_600_000
const now = () => NOW
const context = { nowMs: NOW, defaultZone: 'UTC' }

function filterOf(query: string): Filter {
  const parsed = parseFilter(new URLSearchParams(query), context)
  assert.ok(parsed.ok, JSON.stringify(parsed))
  return parsed.filter
}

function allIds(store: CallStore, filter: Filter, limit: number): number[] {
  const ids: number[] = []
  let cursor: string | undefined
  do {
    const page = store.calls(filter, { limit, cursor })
    ids.push(...page.rows.map((row) => row.id))
    cursor = page.next
  } while (cursor)
  return ids
}

const mixed: TestCall[] = [
  { startedMs: NOW - HOUR, tool: 'search', session: 'a', durationMs: 10 },
  { startedMs: NOW - HOUR, tool: 'search', session: 'a', durationMs: 20, class: 'timeout' },
  { startedMs: NOW - 2 * HOUR, tool: 'search', session: 'b', durationMs: 40, outcome: 'retried' },
  { startedMs: NOW - 3 * HOUR, tool: 'fetch', client: 'cursor', class: 'invalid_arguments' },
  { startedMs: NOW - 4 * HOUR, tool: 'fetch', client: '', outcome: 'deferred' },
  { startedMs: NOW - 5 * HOUR, tool: 'fetch', class: 'cancelled', server: 'other' },
  { startedMs: NOW - 6 * HOUR, tool: 'fetch', version: '2.0.0', flags: ['suspect', 'empty'] },
]

test('G3: an empty database gives zeros and "not known", never a number made of nothing', (t) => {
  const store = storeOf(t, [], { now })
  const filter = defaultFilter(context)
  assert.deepEqual(store.keyFigures(filter), {
    calls: 0,
    byOutcome: { succeeded: 0, retried: 0, failed: 0, deferred: 0 },
    hidden: 0,
    rated: 0,
    failures: 0,
    failureRate: undefined,
    p50Ms: undefined,
    p95Ms: undefined,
    sessions: 0,
    removed: 0,
  })
  assert.deepEqual(store.tools(filter), [])
  assert.deepEqual(store.calls(filter, { limit: 50 }), {
    rows: [],
    total: 0,
    removed: 0,
    next: undefined,
    search: undefined,
  })
  assert.equal(store.extent(), undefined)
  assert.equal(store.heatmap(filter).length, 168)
  assert.equal(store.callsOverTime(filter).at(-1)?.unfinished, true)
  assert.deepEqual(store.quarterSeries(filter), [])
  assert.deepEqual(store.signatures(filter), [])
  assert.equal(store.call(1), undefined)
})

test('G3: one failure of one call is a rate of 100 % with its interval', (t) => {
  const store = storeOf(t, [{ startedMs: NOW, class: 'timeout', durationMs: 100 }])
  const figures = store.keyFigures(defaultFilter(context))
  assert.equal(figures.failureRate?.rate, 1)
  assert.equal(figures.failureRate?.interval.high, 1)
  assert.ok(Math.abs((figures.failureRate?.interval.low ?? 0) - 0.2065) < 0.0001)
  assert.ok(Math.abs((figures.p95Ms ?? 0) / 100 - 1) <= 0.022)
})

test('deferred and cancelled calls are counted as calls and left out of the rate', (t) => {
  const figures = storeOf(t, mixed).keyFigures(defaultFilter(context))
  assert.equal(figures.calls, 7)
  assert.deepEqual(figures.byOutcome, { succeeded: 2, retried: 1, failed: 3, deferred: 1 })
  assert.equal(figures.rated, 5)
  assert.equal(figures.failures, 2)
  // Sessions a and b, and the process that stands for all calls without one.
  assert.equal(figures.sessions, 3)
})

test('a filter hides calls and says how many', (t) => {
  const figures = storeOf(t, mixed).keyFigures(filterOf('tool=search&class=timeout'))
  assert.equal(figures.calls, 1)
  assert.equal(figures.hidden, 6)
})

test('tools come with most failures first, apart by server', (t) => {
  const rows = storeOf(t, mixed).tools(defaultFilter(context))
  assert.deepEqual(
    rows.map((row) => [row.server, row.tool, row.calls, row.failures, row.topClass]),
    [
      ['demo', 'fetch', 3, 1, 'invalid_arguments'],
      ['demo', 'search', 3, 1, 'timeout'],
      ['other', 'fetch', 1, 0, undefined],
    ],
  )
  const search = rows[1]
  assert.ok(Math.abs((search?.p50Ms ?? 0) / 20 - 1) <= 0.022)
  assert.ok(Math.abs((search?.p99Ms ?? 0) / 40 - 1) <= 0.022)
  assert.equal(search?.lastMs, NOW - HOUR)
})

test('a facet is counted without its own part, and a selected value stays at zero', (t) => {
  const facets = storeOf(t, mixed).facets(filterOf('tool=search&class=rate_limited&client=!cursor'))
  assert.deepEqual(facets.class, [
    { value: 'timeout', calls: 1, selected: undefined },
    { value: 'rate_limited', calls: 0, selected: 'include' },
  ])
  assert.deepEqual(facets.tool, [{ value: 'search', calls: 0, selected: 'include' }])
  assert.deepEqual(facets.client, [{ value: 'cursor', calls: 0, selected: 'exclude' }])
  const open = storeOf(t, mixed).facets(defaultFilter(context))
  assert.deepEqual(
    open.client.map(({ value, calls }) => [value, calls]),
    [
      ['claude', 5],
      ['(unknown)', 1],
      ['cursor', 1],
    ],
  )
  assert.deepEqual(
    open.version.map(({ value, calls }) => [value, calls]),
    [
      ['1.0.0', 6],
      ['2.0.0', 1],
    ],
  )
})

test('marks, sessions and signatures narrow the list and the numbers alike', (t) => {
  const store = storeOf(t, mixed)
  for (const [query, total] of [
    ['flag=suspect', 1],
    ['flag=suspect&flag=!empty', 0],
    ['flag=!suspect', 6],
    ['session=a', 2],
    ['session=nobody', 0],
    ['signature=s1:none', 0],
    ['client=(unknown)', 1],
    ['version=2.0.0', 1],
    ['server=nobody', 0],
    ['class=!timeout', 6],
  ] as const) {
    const filter = filterOf(query)
    assert.equal(store.keyFigures(filter).calls, total, query)
    assert.equal(store.calls(filter, { limit: 10 }).total, total, query)
    assert.equal(store.calls(filter, { limit: 10 }).rows.length, total, query)
  }
})

test('G6: 250 rows of one instant come as 250 distinct rows over three pages', (t) => {
  const same = Array.from({ length: 250 }, () => ({ startedMs: NOW }))
  const store = storeOf(t, same)
  const filter = defaultFilter(context)
  const ids = allIds(store, filter, 100)
  assert.equal(ids.length, 250)
  assert.equal(new Set(ids).size, 250)
  assert.equal(store.calls(filter, { limit: 100 }).total, 250)
  assert.deepEqual(
    ids,
    [...ids].sort((a, b) => b - a),
  )
})

test('G6: rows that arrive between two pages neither repeat nor hide a row', (t) => {
  const store = storeOf(
    t,
    Array.from({ length: 150 }, () => ({ startedMs: NOW - HOUR })),
  )
  const filter = defaultFilter(context)
  const first = store.calls(filter, { limit: 100 })
  store.add(Array.from({ length: 30 }, () => ({ startedMs: NOW })))
  const second = store.calls(filter, { limit: 100, cursor: first.next })
  assert.equal(second.rows.length, 50)
  assert.equal(second.next, undefined)
  assert.equal(new Set([...first.rows, ...second.rows].map((row) => row.id)).size, 150)
  assert.equal(second.total, 180)
})

test('a cursor that no page has given is refused with a sentence', (t) => {
  const store = storeOf(t, mixed)
  assert.throws(
    () => store.calls(defaultFilter(context), { limit: 10, cursor: 'DROP TABLE' }),
    /is no cursor: take it from the link to the next page/,
  )
})

test('G2: the buckets of a day of 23 hours add up to its calls', (t) => {
  const from = Date.UTC(2026, 2, 8, 5)
  const calls = Array.from({ length: 23 }, (_, i) => ({ startedMs: from + i * HOUR }))
  const store = storeOf(t, calls, { now: () => from + 90 * 24 * HOUR })
  const day = filterOf('from=2026-03-08&to=2026-03-08&tz=America/New_York')
  const hours = store.callsOverTime(filterOf('from=2026-03-08&to=2026-03-09&tz=America/New_York'))
  assert.equal(store.keyFigures(day).calls, 23)
  assert.equal(hours.length, 47)
  assert.ok(hours.slice(0, 23).every(({ byOutcome }) => byOutcome.succeeded === 1))
  assert.ok(hours.every(({ unfinished }) => !unfinished))
  // The heatmap's skipped hour has no exposure.
  const sunday = store.heatmap(day).filter(({ weekday, rated }) => weekday === 7 && rated > 0)
  assert.deepEqual(
    sunday.map(({ hour }) => hour),
    [0, 1, ...Array.from({ length: 21 }, (_, i) => i + 3)],
  )
})

test('the heatmap puts failures into the local hour and weekday', (t) => {
  // Sunday 23:30 UTC is Monday 05:00 in Kolkata.
  const store = storeOf(t, [{ startedMs: Date.UTC(2026, 1, 15, 23, 30), class: 'timeout' }])
  const cells = store.heatmap(filterOf('tz=Asia/Kolkata')).filter(({ rated }) => rated > 0)
  assert.deepEqual(cells, [{ weekday: 1, hour: 5, rated: 1, failures: 1 }])
})

test('a call is shown with its neighbours in the session, in order', (t) => {
  const calls = Array.from({ length: 15 }, (_, i) => ({
    startedMs: NOW - HOUR + Math.floor(i / 2),
    session: 's',
    args: { i },
  }))
  const store = storeOf(t, [...calls, { startedMs: NOW - HOUR, session: 'other' }])
  const detail = store.call(8)
  assert.equal(detail?.session, 's')
  assert.equal(detail?.args, '{"i":7}')
  assert.equal(detail?.writer, 'w1')
  assert.deepEqual(
    detail?.neighbours.map(({ id }) => id),
    [3, 4, 5, 6, 7, 9, 10, 11, 12, 13],
  )
  assert.equal(store.call(Number.NaN), undefined)
})

const sentString = {
  code: 'wrong_type',
  path: 'limit',
  expected: 'integer',
  received: 'string',
  subtype: 'stringified_number',
} as const

test('signatures count calls, sessions and clients, and list the calls behind them', (t) => {
  const bad = (session: string, minutes: number, client = 'claude'): TestCall => ({
    startedMs: NOW - minutes * 60_000,
    session,
    client,
    class: 'invalid_arguments',
    issues: [sentString],
    args: { limit: String(minutes) },
  })
  const store = storeOf(t, [
    bad('a', 9),
    bad('a', 8),
    bad('b', 7, 'cursor'),
    { startedMs: NOW - 60_000, session: 'c' },
  ])
  const [row, ...others] = store.signatures(defaultFilter(context))
  assert.equal(others.length, 0)
  assert.equal(row?.calls, 3)
  assert.equal(row?.sessions, 2)
  assert.equal(row?.toolCalls, 4)
  assert.equal(row?.toolSessions, 3)
  assert.deepEqual(row?.clients, ['claude', 'cursor'])
  assert.equal(row?.sampleArgs, '{"limit":"7"}')
  assert.equal(row?.firstMs, NOW - 9 * 60_000)
  assert.equal(row?.lastMs, NOW - 7 * 60_000)
  const list = store.calls(
    { ...defaultFilter(context), signature: row?.fingerprint },
    { limit: 10 },
  )
  assert.equal(list.total, 3)
  assert.deepEqual(
    list.rows.map(({ id }) => id),
    [3, 2, 1],
  )
})

test('a series holds the quarters of a tool with a failure, without deferred and cancelled calls', (t) => {
  const series = storeOf(t, [
    { startedMs: NOW, class: 'timeout' },
    { startedMs: NOW },
    { startedMs: NOW, outcome: 'deferred' },
    { startedMs: NOW, class: 'cancelled' },
    { startedMs: NOW - HOUR, class: 'connection' },
    { startedMs: NOW, tool: 'well' },
  ]).quarterSeries(filterOf('class=timeout'))
  const quarter = Math.floor(NOW / 900_000)
  assert.deepEqual(series, [
    {
      server: 'demo',
      tool: 'search',
      class: 'timeout',
      quarters: [
        { quarter: quarter - 4, calls: 1, failures: 0 },
        { quarter, calls: 2, failures: 1 },
      ],
    },
  ])
})

test('the data version grows with new calls and stays where nothing came', (t) => {
  const store = storeOf(t, mixed)
  const before = store.dataVersion()
  assert.equal(store.dataVersion(), before)
  const filter = defaultFilter(context)
  assert.equal(store.keyFigures(filter).calls, 7)
  store.add([{ startedMs: NOW }])
  assert.notEqual(store.dataVersion(), before)
  assert.equal(store.keyFigures(filter).calls, 8)
})

test('questions in a snapshot are about one state of the data', (t) => {
  const store = storeOf(t, mixed)
  const filter = defaultFilter(context)
  const [number, total] = store.snapshot((inside) => {
    const figures = inside.keyFigures(filter)
    store.add([{ startedMs: NOW }])
    return [figures.calls, inside.calls(filter, { limit: 1 }).total]
  })
  assert.equal(number, 7)
  assert.equal(total, 7)
  assert.equal(store.keyFigures(filter).calls, 8)
})

test('extent is the time of the first and of the last call', (t) => {
  const store = storeOf(t, mixed)
  assert.deepEqual(store.extent(), { firstMs: NOW - 6 * HOUR, lastMs: NOW - HOUR })
})

const texts: [text: string, ids: number[]][] = [
  ['invoice 7', [1]],
  ['INVOICE', [1, 2]],
  ['"query":"100%"', [2]],
  ['100%', [2]],
  ['_', [3]],
  ['line\nbreak', [3]],
  ['upstream said no', [4]],
  // Names of our own record are no text of the user's.
  ['attempts', []],
  ['no such thing', []],
  ["'; DROP TABLE call; --", []],
  ['\0', []],
  ['NEAR(', []],
]
test('text is found in arguments and errors, as it was typed, and any text may be searched for', (t) => {
  const store = storeOf(t, [
    { startedMs: NOW - 4, args: { query: 'Invoice 7' } },
    { startedMs: NOW - 3, args: { query: '100%', note: 'invoices' } },
    { startedMs: NOW - 2, args: { under_score: 'line\nbreak' } },
    { startedMs: NOW - 1, class: 'upstream', message: 'Upstream said no' },
  ])
  for (const [text, ids] of texts) {
    const filter = { ...defaultFilter(context), text }
    const page = store.calls(filter, { limit: 10 })
    assert.deepEqual(page.rows.map(({ id }) => id).sort(), ids, text)
    assert.equal(page.total, ids.length)
    assert.equal(store.keyFigures(filter).calls, ids.length)
    assert.deepEqual(page.search, { fromMs: filter.fromMs, searched: 4, calls: 4 })
  }
})

test('a search looks at the newest hundred thousand calls and says so', (t) => {
  const store = storeOf(t, [{ startedMs: NOW }])
  // Counts alone, as of so many calls as no test should insert one by one.
  store.database.exec(`WITH RECURSIVE step (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM step WHERE i < 1000)
    INSERT INTO quarter_count
    SELECT tool_id, class_id, outcome_id, server_id, client_id, quarter - i, 150, 0, 0, 0
    FROM quarter_count, step`)
  const filter = { ...defaultFilter(context), text: 'x' }
  const { search } = store.calls(filter, { limit: 1 })
  assert.equal(search?.calls, 150_001)
  assert.equal(search?.searched, 99_901)
  assert.equal(search?.fromMs, Math.floor(NOW / 900_000 - 666) * 900_000)
})
