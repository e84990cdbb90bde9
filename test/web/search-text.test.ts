import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dashboardOf, NOW_MS } from './fixtures/dashboard.ts'

/** Each means something in a full-text query, in LIKE, in SQL or in a URL. */
const TEXTS = [
  'multi-agent',
  '"',
  "don't",
  '127.0.0.1:5432',
  'C++',
  '100%',
  'a,b',
  '*',
  'AND',
  'NOT x',
  'a OR',
  '(',
  'a/b',
  'a:b',
  'TODO: fix',
  '-band',
  '38.101',
  'NEAR(a b',
  'é',
  '中文',
  'under_score',
  'back\\slash',
  "'; DROP TABLE call; --",
]

type Page = { rows: { id: number }[]; total: number }

function searching(t: Parameters<typeof dashboardOf>[0]) {
  const plain = { startedMs: NOW_MS - 1000, args: { query: 'nothing of note' } }
  const planted = TEXTS.map((text) => ({ startedMs: NOW_MS - 1000, args: { query: `<${text}>` } }))
  const dashboard = dashboardOf(t, [...planted, plain])
  const get = async (path: string) => {
    const response = await dashboard.get(path)
    // A parameter that says nothing is left out of the address.
    const next = response.status === 303 ? response.headers.get('location') : null
    return next ? dashboard.get(next) : response
  }
  return async (text: string): Promise<{ status: number; page: Page }> => {
    const response = await get(`/calls.json?limit=500&q=${encodeURIComponent(text)}`)
    const { status } = response
    if (status !== 200) return { status, page: NO_PAGE }
    const { rows, total } = (await response.json()) as Page
    return { status, page: { rows, total } }
  }
}

const NO_PAGE: Page = { rows: [], total: -1 }

test('F8: any text is looked for as it was typed, and finds the call that holds it', async (t) => {
  const search = searching(t)
  for (const [index, text] of TEXTS.entries()) {
    const { status, page } = await search(text)
    assert.equal(status, 200, text)
    assert.ok(
      page.rows.some(({ id }) => id === index + 1),
      `${text} is found`,
    )
    // Arguments are searched as JSON, which has a quote in each.
    const elsewhere = page.rows.some(({ id }) => id === TEXTS.length + 1)
    assert.equal(elsewhere, text === '"', `${text} elsewhere`)
    assert.equal(page.total, page.rows.length)
  }
})

test('F8: no text at all keeps every call', async (t) => {
  const search = searching(t)
  assert.equal((await search('')).page.total, TEXTS.length + 1)
})

test('F8: what no call holds is not found, and what cannot be a text is refused with a reason', async (t) => {
  const search = searching(t)
  for (const text of ['a\u0000b', 'no such thing']) {
    assert.deepEqual(await search(text), { status: 200, page: { ...NO_PAGE, total: 0 } }, text)
  }
  assert.equal((await search('x'.repeat(10_000))).status, 400)
})
