import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildDatabase } from './fixtures/build-database.ts'
import { dashboardOf, NOW_MS } from './fixtures/dashboard.ts'
import { textOf } from './fixtures/page-text.ts'

test('the arguments are shown with the issues at their places', async (t) => {
  const { page } = dashboardOf(t, [
    {
      startedMs: NOW_MS,
      tool: 'search',
      class: 'invalid_arguments',
      message: 'Invalid arguments for "search": `query` is missing.',
      args: { items: [{ id: 'x' }], pattern: 'a' },
      issues: [
        { path: 'pattern', code: 'unknown_key', suggest: 'query' },
        { path: 'query', code: 'missing_required', expected: 'string' },
        { path: 'items[0].id', code: 'wrong_type', expected: 'integer', received: 'string' },
      ],
    },
  ])
  const text = textOf(await page('/calls/1'))
  assert.match(text, /"pattern": "a" ← no such parameter, probably query was meant/)
  assert.match(text, /"query" ← missing, string expected/)
  assert.match(text, /"id": "x" ← expected integer, received string/)
  assert.match(text, /Malformed arguments/)
})

test('numbers of arguments stay as they were sent', async (t) => {
  const { page, get, databasePath } = dashboardOf(t, [{ startedMs: NOW_MS }])
  const exact = '{"id":9007199254740993,"price":1.10}'
  setColumns(databasePath, { args: exact })
  assert.match(textOf(await page('/calls/1')), /"id": 9007199254740993, "price": 1\.10/)
  assert.equal(await (await get('/calls/1/arguments')).text(), exact)
})

test('attempts, causes, upstream, result and place are told', async (t) => {
  const { page, databasePath } = dashboardOf(t, [
    { startedMs: NOW_MS, durationMs: 6500, class: 'timeout', tool: 'get_rate' },
  ])
  setColumns(databasePath, {
    detail: JSON.stringify({
      attempts: [
        { ms: 3000, class: 'timeout', code: 'ETIMEDOUT' },
        { ms: 3000, wait_ms: 200, class: 'timeout', reconnected: true },
      ],
      error: {
        class: 'timeout',
        message: 'fetch failed',
        upstream: 'rates.example:443',
        by: 'deadline',
        causes: [{ name: 'HeadersTimeoutError', message: 'Headers Timeout Error' }],
        stack: 'TypeError: fetch failed\n    at handler',
      },
      result: { bytes: 2048, blocks: 1 },
      dropped: ['verbose'],
      retry_suppressed: 'budget',
    }),
  })
  const text = textOf(await page('/calls/1'))
  for (const words of [
    'fetch failed',
    'Upstream rates.example:443',
    'Ended by the deadline',
    'HeadersTimeoutError Headers Timeout Error',
    '2 attempts',
    'waited 200 ms, then 3 s, on a new connection',
    'Result 2 kB in 1 block',
    'the tool has no such parameter: verbose',
    'Not retried because budget',
    'In the log /logs/test.jsonl at byte 100',
  ]) {
    assert.ok(text.includes(words), `${words}\n${text}`)
  }
})

test('a record of another shape is shown as far as it can be', async (t) => {
  const { page, databasePath } = dashboardOf(t, [{ startedMs: NOW_MS, class: 'unexpected' }])
  for (const detail of [
    '{"error":"just text","attempts":"three","issues":{"path":1},"dropped":[1,null],"result":7}',
    '{"error":{"message":{"nested":true},"causes":[null,3,{}]},"attempts":[null,{"ms":"x"}]}',
    '[]',
    'no json',
  ]) {
    setColumns(databasePath, { detail })
    assert.match(await page('/calls/1'), /<h1>/, detail)
  }
})

test('arguments that are no JSON are shown as they are', async (t) => {
  const { page, databasePath } = dashboardOf(t, [{ startedMs: NOW_MS }])
  setColumns(databasePath, { args: '{"broken": <b>' })
  assert.match(textOf(await page('/calls/1')), /\{"broken": <b>/)
})

test('the calls around it in the session are listed in their order', async (t) => {
  const { page } = dashboardOf(
    t,
    [3, 2, 1].map((minute) => ({
      startedMs: NOW_MS - minute * 60_000,
      session: 's1',
      tool: `tool_${minute}`,
    })),
  )
  const html = await page('/calls/2')
  const rows = [...html.matchAll(/<tr id="call-(\d+)"([^>]*)>/g)].map(([, id, rest = '']) => [
    Number(id),
    rest.includes('aria-current="true"'),
  ])
  assert.deepEqual(rows, [
    [1, false],
    [2, true],
    [3, false],
  ])
  assert.match(html, /href="\/calls\?session=s1"/)
})

test('a call as JSON is the whole of it', async (t) => {
  const { get } = dashboardOf(t, [{ startedMs: NOW_MS, tool: 'search', args: { q: 'a' } }])
  const call = (await (await get('/calls/1.json')).json()) as Record<string, unknown>
  assert.equal(call.tool, 'search')
  assert.equal(call.args, '{"q":"a"}')
  assert.equal(call.n, 1)
})

function setColumns(databasePath: string, columns: { args?: string; detail?: string }): void {
  const { database, close } = buildDatabase()
  // The addon's own class, so that the test needs no second way to load it.
  const other = new (database.constructor as new (path: string) => typeof database)(databasePath)
  for (const [column, value] of Object.entries(columns)) {
    other.prepare(`UPDATE call_text SET ${column} = ? WHERE call_id = 1`).run(value)
  }
  other.close()
  close()
}
