import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Finding } from '../../web/analysis/finding.ts'
import { bestOfEachKind } from '../../web/pages/finding-cards.tsx'
import type { TestCall } from './fixtures/build-database.ts'
import { dashboardOf, NOW_MS, PARTIAL } from './fixtures/dashboard.ts'
import { islandOf, numberAt, textOf, totalOf } from './fixtures/page-text.ts'

const HOUR_MS = 3_600_000

const ago = (hours: number, call: Omit<TestCall, 'startedMs'> = {}): TestCall => ({
  startedMs: NOW_MS - hours * HOUR_MS,
  ...call,
})

/** Seven calls, one of each kind. */
const ONE_OF_EACH: TestCall[] = [
  ago(1, { tool: 'search', session: 's1' }),
  ago(2, { tool: 'search', session: 's1' }),
  ago(3, { tool: 'search', outcome: 'retried', session: 's2' }),
  ago(4, { tool: 'fetch', class: 'timeout' }),
  ago(5, { tool: 'fetch', class: 'invalid_arguments' }),
  ago(6, { tool: 'fetch', class: 'cancelled' }),
  ago(7, { tool: 'fetch', outcome: 'deferred' }),
]

test('key figures count every call once and leave cancelled and deferred out of the rate', async (t) => {
  const { page } = dashboardOf(t, ONE_OF_EACH)
  const text = textOf(await page('/'))
  assert.match(text, /Calls 7 in 28 days/)
  assert.match(text, /Failed 2 of 5 that count/)
  assert.match(text, /Failure rate 40 %/)
  assert.match(text, /Saved by a retry 1/)
})

test('each linked figure leads to as many calls as it says', async (t) => {
  const { page } = dashboardOf(t, ONE_OF_EACH)
  const html = await page('/?tool=fetch')
  const figures = [...html.matchAll(/<p class="figure-value"[^>]*><a href="([^"]+)">([^<]+)<\/a>/g)]
  assert.equal(figures.length, 3)
  for (const [, href = '', value = ''] of figures) {
    assert.equal(totalOf(await page(href.replaceAll('&amp;', '&'))), Number(value), href)
  }
})

test('the chart, its table and its drawing come from the same numbers', async (t) => {
  const { page } = dashboardOf(t, ONE_OF_EACH)
  const html = await page('/?from=now-24h')
  const island = islandOf(html, 'over-time-data') as {
    labels: string[]
    series: { family: string; values: number[] }[]
  }
  const totals = island.series.map(({ family, values }) => [
    family,
    values.reduce((sum, value) => sum + value, 0),
  ])
  assert.deepEqual(totals, [
    ['succeeded', 2],
    ['retried', 1],
    ['network', 1],
    ['arguments', 1],
    ['aside', 2],
  ])
  assert.equal(island.labels.length, 96)
  assert.match(
    html,
    /role="img" aria-label="Bar chart of calls over time: 7 calls, 2 of them failed/,
  )
  for (const { family } of island.series)
    assert.match(html, new RegExp(`<path class="fill-${family}"`))
  const [, table = ''] = /<details id="over-time-numbers".*?(<tbody>.*?<\/tbody>)/s.exec(html) ?? []
  assert.equal(table.match(/<tr>/g)?.length, 96)
})

test('a cell of the heatmap leads to the failures it counted', async (t) => {
  const { page } = dashboardOf(t, [
    ...ONE_OF_EACH,
    ago(4, { tool: 'fetch', class: 'timeout' }),
    ago(4 + 7 * 24, { tool: 'fetch', class: 'timeout' }),
    ago(4, { tool: 'fetch', class: 'cancelled' }),
  ])
  const html = await page('/')
  const cell =
    /<a href="([^"]+)"[^>]*aria-label="Monday 08:00: 3 of 3 calls failed, 100\u00a0%"/.exec(html)
  assert.ok(cell, 'there is a cell for Monday 08:00')
  const list = await page((cell[1] ?? '').replaceAll('&amp;', '&'))
  assert.equal(totalOf(list), 3)
})

test('a cell inside a filtered time of day leads to no more than it counted', async (t) => {
  const { page } = dashboardOf(t, [
    { startedMs: Date.UTC(2026, 2, 9, 8, 5), class: 'timeout' },
    { startedMs: Date.UTC(2026, 2, 9, 8, 50), class: 'timeout' },
  ])
  const html = await page('/?tod=08:00-08:30')
  const cell = /<a href="([^"]+)"[^>]*aria-label="Monday 08:00: 1 of 1 call failed/.exec(html)
  assert.ok(cell)
  assert.equal(totalOf(await page((cell[1] ?? '').replaceAll('&amp;', '&'))), 1)
})

test('G3: a range without calls says so, without a number that is none', async (t) => {
  const { page } = dashboardOf(t, [ago(30 * 24)])
  const html = await page('/')
  assert.match(textOf(html), /No calls here There is no call in this range of time/)
  assert.doesNotMatch(html, /NaN|Infinity|undefined/)
})

test('G3: one failure of one call is 100 %', async (t) => {
  const { page } = dashboardOf(t, [ago(1, { class: 'timeout' })])
  assert.match(textOf(await page('/')), /Failure rate 100 %/)
})

test('an empty database teaches how to fill it and says who is looking', async (t) => {
  const { page } = dashboardOf(t, [])
  const text = textOf(await page('/'))
  assert.match(text, /No tool call yet/)
  assert.match(text, /unsilence\(server\)/)
  assert.match(text, /Nothing is reading logs now: start unsilent serve/)
})

test('filters that hide everything say how much they hide', async (t) => {
  const { page } = dashboardOf(t, ONE_OF_EACH)
  assert.match(textOf(await page('/?tool=nothing')), /The filters hide all 7 calls of this range/)
})

test('a nightly window is found, outlined on the heatmap and listed first', async (t) => {
  const nights = Array.from({ length: 27 }, (_, night) => night + 1)
  const calls = nights.flatMap((night): TestCall[] => {
    const midnight = Date.UTC(2026, 2, 9) - night * 24 * HOUR_MS
    return Array.from({ length: 48 }, (_, half) => ({
      startedMs: midnight + half * 1_800_000,
      tool: 'get_rate',
      session: `n${night}`,
      ...(half === 4 ? { class: 'timeout' as const } : {}),
    }))
  })
  const { page } = dashboardOf(t, calls)
  const html = await page('/')
  assert.match(textOf(html), /What needs attention/)
  assert.match(textOf(html), /get_rate times out between 02:00 and/)
  assert.equal(html.match(/<td class="[^"]*edge-l[^"]*"><a [^>]*day 02:00/g)?.length, 7)
  const timeouts = textOf(await page('/timeouts'))
  assert.match(timeouts, /1 found/)
  assert.match(timeouts, /Hit 27 of 27/)
})

test('nothing found says what was tested and what is missing', async (t) => {
  const { page } = dashboardOf(t, ONE_OF_EACH)
  for (const path of ['/', '/timeouts']) {
    assert.match(textOf(await page(path)), /Tested 0 pairs of tool and error class/, path)
    assert.match(textOf(await page(path)), /Daily windows need 7 days of calls/, path)
  }
})

test('a refresh sends nothing while nothing is new, and the new calls when they come', async (t) => {
  const { get, page, add } = dashboardOf(t, ONE_OF_EACH)
  const html = await page('/')
  const token = /name="token" value="([^"]+)"/.exec(html)?.[1] ?? ''
  const newest = numberAt(html, /name="newest" value="(\d+)"/)
  const live = `/live?token=${token}&newest=${newest}`
  assert.equal((await get(live, PARTIAL)).status, 204)
  add([ago(0.1, { tool: 'fresh_one' })])
  const fresh = await page(live, PARTIAL)
  assert.match(fresh, /id="live"/)
  assert.match(fresh, /<li[^>]*class="fresh"[^>]*>.*fresh_one/s)
  assert.equal(fresh.match(/class="fresh"/g)?.length, 1)
  assert.doesNotMatch(fresh, /<html|<main/)
})

test('the empty page loads anew as soon as there is a call', async (t) => {
  const { get, add } = dashboardOf(t, [])
  assert.equal((await get('/live?token=empty', PARTIAL)).status, 204)
  add([ago(1)])
  assert.equal((await get('/live?token=empty', PARTIAL)).headers.get('hx-refresh'), 'true')
})

test('overview.json has the numbers of the page', async (t) => {
  const { get } = dashboardOf(t, ONE_OF_EACH)
  const answer = (await (await get('/overview.json?tool=fetch')).json()) as {
    figures: { calls: number; failures: number }
    heatmap: unknown[]
  }
  assert.equal(answer.figures.calls, 4)
  assert.equal(answer.figures.failures, 2)
  assert.equal(answer.heatmap.length, 168)
})

test('G2: a day of 23 hours has no bar for the hour that was skipped', async (t) => {
  const start = Date.UTC(2026, 2, 8, 5)
  const calls = Array.from({ length: 23 }, (_, hour) => ({ startedMs: start + hour * HOUR_MS }))
  const { page } = dashboardOf(t, calls, { zone: 'America/New_York' })
  const html = await page('/?from=2026-03-08&to=2026-03-08')
  const island = islandOf(html, 'over-time-data') as { labels: string[] }
  assert.equal(island.labels.length, 23 * 4)
  assert.equal(island.labels.filter((label) => label.includes(', 02:')).length, 0)
  assert.match(textOf(html), /Calls 23/)
})

test('the cards on the overview show the best of each kind before more of one kind', () => {
  const finding = (id: string, kind: Finding['kind']): Finding => ({
    ...{
      id,
      kind,
      family: 'arguments',
      grade: 'confirmed',
      server: 's',
      tool: 't',
      class: undefined,
    },
    ...{ sentence: id, impact: { calls: 1, sessions: 1 }, impactText: '', action: '' },
    ...{ paste: undefined, check: '', evidenceQuery: '', detailPath: '/arguments' },
  })
  const findings = [
    finding('a1', 'malformed_arguments'),
    finding('a2', 'malformed_arguments'),
    finding('a3', 'malformed_arguments'),
    finding('w1', 'timeout_window'),
    finding('l1', 'retry_loop'),
  ]
  const ids = (most: number) => bestOfEachKind(findings, most).map(({ id }) => id)
  assert.deepEqual(ids(3), ['w1', 'a1', 'l1'])
  assert.deepEqual(ids(4), ['w1', 'a1', 'l1', 'a2'])
  assert.deepEqual(ids(9), ['w1', 'a1', 'l1', 'a2', 'a3'])
  assert.deepEqual(ids(0), [])
})
