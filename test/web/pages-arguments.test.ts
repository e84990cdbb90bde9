import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestCall } from './fixtures/build-database.ts'
import { dashboardOf, NOW_MS } from './fixtures/dashboard.ts'
import { textOf, totalOf } from './fixtures/page-text.ts'

const wrongName = (session: string, minute: number): TestCall => ({
  startedMs: NOW_MS - minute * 60_000,
  tool: 'search',
  session,
  class: 'invalid_arguments',
  args: { pattern: 'travel' },
  issues: [
    { path: 'pattern', code: 'unknown_key' },
    { path: 'query', code: 'missing_required', expected: 'string' },
  ],
})

const CALLS: TestCall[] = [
  wrongName('s1', 1),
  wrongName('s2', 2),
  wrongName('s2', 3),
  {
    startedMs: NOW_MS - 240_000,
    tool: 'list',
    session: 's3',
    class: 'invalid_arguments',
    args: { limit: '10' },
    issues: [
      {
        path: 'limit',
        code: 'wrong_type',
        subtype: 'stringified_number',
        expected: 'integer',
        received: 'string',
      },
    ],
  },
]

test('a wrong name and the parameter that is missing for it are one entry', async (t) => {
  const { page } = dashboardOf(t, CALLS)
  const html = await page('/arguments')
  const text = textOf(html)
  assert.match(text, /search is sent pattern, in place of query/)
  assert.match(text, /"pattern": "travel" ← no such parameter, probably query was meant/)
  assert.match(text, /"query" ← missing/)
  assert.match(text, /The parameter is called "query", not "pattern"\./)
  assert.equal(html.match(/<article class="signature/g)?.length, 2)
})

test('what one session did alone is folded away', async (t) => {
  const { page } = dashboardOf(t, CALLS)
  const html = await page('/arguments')
  const isolated = html.slice(html.indexOf('<details class="isolated"'))
  assert.match(textOf(isolated), /1 in one session only/)
  assert.match(textOf(isolated), /limit: z\.coerce\.number\(\)/)
})

test('an entry leads to exactly its calls', async (t) => {
  const { page } = dashboardOf(t, CALLS)
  const html = await page('/arguments')
  const links = [...html.matchAll(/<a href="([^"]+)">See the (\d+) calls?<\/a>/g)]
  assert.equal(links.length, 2)
  for (const [, href = '', count] of links) {
    assert.equal(totalOf(await page(href.replaceAll('&amp;', '&'))), Number(count))
  }
})

test('the card on the overview leads to the entry', async (t) => {
  const { page } = dashboardOf(t, CALLS)
  const [, anchor = ''] = /href="\/arguments#([^"]+)"/.exec(await page('/')) ?? []
  assert.match(anchor, /^arguments-/)
  assert.match(await page('/arguments'), new RegExp(`<article [^>]*id="${anchor}"`))
})

test('no malformed arguments is an answer too', async (t) => {
  const { page } = dashboardOf(t, [{ startedMs: NOW_MS - 1 }])
  assert.match(textOf(await page('/arguments')), /No malformed arguments/)
})
