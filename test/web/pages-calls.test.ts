import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestCall } from './fixtures/build-database.ts'
import { dashboardOf, NOW_MS, PARTIAL } from './fixtures/dashboard.ts'
import { textOf, totalOf } from './fixtures/page-text.ts'

const MINUTE_MS = 60_000

const unescaped = (href: string) => href.replaceAll('&amp;', '&')

const idsOf = (html: string) =>
  [...html.matchAll(/<tr id="call-(\d+)"/g)].map(([, id]) => Number(id))

const MIXED: TestCall[] = [
  { startedMs: NOW_MS - 1 * MINUTE_MS, tool: 'search', client: 'cursor' },
  { startedMs: NOW_MS - 2 * MINUTE_MS, tool: 'search', class: 'timeout', client: 'claude' },
  { startedMs: NOW_MS - 3 * MINUTE_MS, tool: 'fetch', class: 'timeout', client: 'claude' },
  { startedMs: NOW_MS - 4 * MINUTE_MS, tool: 'fetch', outcome: 'retried', client: 'claude' },
  { startedMs: NOW_MS - 26 * 60 * MINUTE_MS, tool: 'fetch', class: 'cancelled', client: 'claude' },
]

test('calls are listed newest first and filtered by each dimension', async (t) => {
  const { page } = dashboardOf(t, MIXED)
  const cases: [string, number[]][] = [
    ['/calls', [1, 2, 3, 4, 5]],
    ['/calls?tool=fetch', [3, 4, 5]],
    ['/calls?class=timeout', [2, 3]],
    ['/calls?outcome=retried&outcome=succeeded', [1, 4]],
    ['/calls?client=!claude', [1]],
    ['/calls?tool=fetch&class=!cancelled', [3, 4]],
    ['/calls?from=now-1h', [1, 2, 3, 4]],
    ['/calls?tod=09:00-10:30', [5]],
    ['/calls?dow=sun', [5]],
  ]
  for (const [path, ids] of cases) {
    const html = await page(path)
    assert.deepEqual(idsOf(html), ids, path)
    assert.equal(totalOf(html), ids.length, path)
  }
})

test('a text is searched for in arguments and messages, and its chip takes it out', async (t) => {
  const { page } = dashboardOf(t, [
    { startedMs: NOW_MS - 3, args: { query: 'Travel expenses' } },
    { startedMs: NOW_MS - 2, class: 'timeout', message: 'travel agency did not answer' },
    { startedMs: NOW_MS - 1, args: { query: 'invoices' } },
  ])
  const html = await page('/calls?q=travel')
  assert.deepEqual(idsOf(html).sort(), [1, 2])
  assert.match(html, /<a href="\/calls"[^>]*aria-label="Remove: Text contains travel"/)
  assert.match(html, /<input type="search"[^>]*name="q" value="travel"/)
})

test('G12: every outcome is in the list, failures and refusals too', async (t) => {
  const { page } = dashboardOf(t, [
    ...[1, 2, 3].map((minute) => ({ startedMs: NOW_MS - minute * MINUTE_MS })),
    { startedMs: NOW_MS - 1, class: 'timeout' },
    { startedMs: NOW_MS - 1, class: 'unexpected' },
    { startedMs: NOW_MS - 1, class: 'cancelled' },
    { startedMs: NOW_MS - 1, class: 'unknown_tool' },
  ])
  assert.equal(totalOf(await page('/calls')), 7)
  assert.equal(totalOf(await page('/calls?outcome=failed')), 4)
})

test('G6: pages of calls with one time show each call once', async (t) => {
  const calls = Array.from({ length: 130 }, () => ({ startedMs: NOW_MS - MINUTE_MS }))
  const { page } = dashboardOf(t, calls)
  const seen: number[] = []
  let path: string | undefined = '/calls'
  let pages = 0
  while (path) {
    const html: string = await page(path)
    seen.push(...idsOf(html))
    path = /<a href="([^"]+)"[^>]*id="older"/.exec(html)?.[1]
    path = path && unescaped(path)
    pages++
  }
  assert.equal(pages, 3)
  assert.equal(new Set(seen).size, 130)
  assert.equal(seen.length, 130)
})

test('facets count with all other filters on, and lead to what they count', async (t) => {
  const { page } = dashboardOf(t, MIXED)
  const html = await page('/calls?tool=fetch&class=timeout')
  const text = textOf(html)
  assert.match(text, /Tool fetch 1 ≠ search 1 ≠/)
  assert.match(html, /<input type="checkbox"[^>]*name="tool" value="fetch" checked=""/)
  const leaveOut = /<a href="([^"]+)"[^>]*aria-label="Leave out search"/.exec(html)?.[1] ?? ''
  assert.equal(unescaped(leaveOut), '/calls?tool=fetch&tool=%21search&class=timeout')
})

test('each chip says what it keeps and its link leaves it out', async (t) => {
  const { page } = dashboardOf(t, MIXED)
  const html = await page('/calls?tool=fetch&class=!cancelled&tod=22:00-02:00&dow=mon,fri')
  const chips = [...html.matchAll(/<a href="([^"]+)"[^>]*aria-label="Remove: ([^"]+)"/g)].map(
    ([, href = '', words = '']) => [words, decodeURIComponent(unescaped(href))],
  )
  assert.deepEqual(chips, [
    ['Tool is fetch', '/calls?class=!cancelled&tod=22:00-02:00&dow=mon,fri'],
    ['Error class is not Cancelled', '/calls?tool=fetch&tod=22:00-02:00&dow=mon,fri'],
    ['Time of day 22:00 – 02:00', '/calls?tool=fetch&class=!cancelled&dow=mon,fri'],
    ['Mon, Fri', '/calls?tool=fetch&class=!cancelled&tod=22:00-02:00'],
  ])
})

test('a parameter that cannot be meant is refused by name', async (t) => {
  const { get } = dashboardOf(t, MIXED)
  const cases: [string, RegExp][] = [
    ['/calls?tol=search', /tol there is no parameter "tol" here/],
    ['/calls?class=timeouts', /class "timeouts" is no class/],
    ['/calls?from=yesterday', /from "yesterday" is not a time/],
    ['/calls?tz=Mars/Olympus', /tz "Mars\/Olympus" is no time zone/],
    ['/calls?cursor=nonsense', /cursor "nonsense" is no cursor/],
    ['/calls?cursor=a&cursor=b', /cursor cursor is given several times/],
    ['/calls?tod=25:00-26:00', /tod "25:00-26:00" is not a time of day/],
    ['/?cursor=x', /cursor there is no parameter/],
  ]
  for (const [path, words] of cases) {
    const response = await get(path)
    assert.equal(response.status, 400, path)
    assert.match(textOf(await response.text()), words, path)
  }
})

test('a bad field in the form is explained without the page around it', async (t) => {
  const { get } = dashboardOf(t, MIXED)
  const response = await get('/calls?from=yesterday', PARTIAL)
  const html = await response.text()
  assert.equal(response.status, 400)
  assert.match(html, /^<dl class="bad-query">/)
})

test('htmx gets a fragment with the address to show, history and reload get the page', async (t) => {
  const { get } = dashboardOf(t, MIXED)
  const fragment = await get('/calls?tool=fetch&class=', PARTIAL)
  const html = await fragment.text()
  assert.equal(fragment.headers.get('hx-push-url'), '/calls?tool=fetch')
  assert.match(html, /^<title>Calls · unsilent<\/title>/)
  assert.doesNotMatch(html, /<html|<main|<header class="top"/)
  assert.match(html, /<hx-partial hx-target="#menu"/)
  for (const headers of [
    {},
    { 'hx-history-restore-request': 'true', 'hx-request-type': 'full' },
    { 'hx-request': 'true', 'hx-request-type': 'full' },
  ]) {
    const response = await get('/calls?tool=fetch', headers)
    assert.match(await response.text(), /^<!doctype html>/i)
    assert.equal(response.headers.get('hx-push-url'), null)
    assert.match(response.headers.get('vary') ?? '', /HX-Request, HX-Request-Type/)
  }
})

test('a plain form is led to its clean address', async (t) => {
  const { get } = dashboardOf(t, MIXED)
  const response = await get('/calls?tool=fetch&from=&to=&tod_from=22:00&tod_to=02:00&tz=')
  assert.equal(response.status, 303)
  assert.equal(response.headers.get('location'), '/calls?tool=fetch&tod=22%3A00-02%3A00')
})

test('the menu keeps the filter where it has a meaning', async (t) => {
  const { page } = dashboardOf(t, MIXED)
  const html = await page('/calls?tool=fetch&from=now-7d')
  const menu = /<nav id="menu".*?<\/nav>/s.exec(html)?.[0] ?? ''
  assert.match(menu, /href="\/\?tool=fetch&amp;from=now-7d"/)
  assert.match(menu, /href="\/arguments\?tool=fetch&amp;from=now-7d"/)
  assert.match(menu, /href="\/ingest"/)
  assert.match(menu, /<a href="\/calls\?[^"]*" aria-current="page">/)
})

test('calls.json lists the same calls, with a limit and a cursor', async (t) => {
  const { get } = dashboardOf(t, MIXED)
  type Answer = { rows: { id: number }[]; total: number; next: string | undefined }
  const ask = async (path: string) => (await (await get(path)).json()) as Answer
  const first = await ask('/calls.json?limit=2')
  assert.deepEqual([first.rows.map(({ id }) => id), first.total], [[1, 2], 5])
  const second = await ask(`/calls.json?limit=2&cursor=${first.next}`)
  assert.deepEqual(
    second.rows.map(({ id }) => id),
    [3, 4],
  )
  assert.equal((await get('/calls.json?limit=0')).status, 400)
  assert.equal((await get('/calls.json?cursor=nonsense')).status, 400)
})

test('a page and a call that do not exist are not found', async (t) => {
  const { get } = dashboardOf(t, MIXED)
  for (const path of ['/nowhere', '/calls/999', '/calls/99999999999999999999', '/calls/x']) {
    assert.equal((await get(path)).status, 404, path)
  }
  assert.equal((await get('/calls/999.json')).status, 404)
})
