import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createRowPruner } from '../../ingest/store/row-pruner.ts'
import { failureRows } from '../../web/cli/failure-rows.ts'
import { defaultFilter, type Filter, withRange } from '../../web/queries/filter.ts'
import { openCallStore } from '../../web/queries/sqlite-call-store.ts'
import { startWeb } from '../../web/start-web.ts'
import { buildDatabase, type TestCall } from './fixtures/build-database.ts'
import { textOf } from './fixtures/page-text.ts'

const DAY = 24 * 3600 * 1000
const START = Date.UTC(2026, 2, 1)
const NOW = START + 10 * DAY

/** Ten calls a day, each tenth a time-out; the first two tools are used in the first days only. */
const calls: TestCall[] = Array.from({ length: 100 }, (_, index) => ({
  startedMs: START + index * 144 * 60_000,
  tool: index < 20 ? 'old' : 'search',
  session: index < 50 ? 'early' : 'late',
  durationMs: 10,
  ...(index % 10 === 0 ? { outcome: 'failed' as const, class: 'timeout' as const } : {}),
}))

/** The rows of the first forty calls are gone, as retention removes them. */
function pruned(t: TestContext) {
  const built = buildDatabase(calls)
  const pruner = createRowPruner(built.database)
  built.database.transaction(() => {
    const removed = pruner.removeOldest(40)
    pruner.count('size', removed, NOW)
  })()
  const store = openCallStore(built.path, { now: () => NOW })
  t.after(() => {
    store.close()
    built.close()
  })
  return { path: built.path, database: built.database, store }
}

const context = { nowMs: NOW, defaultZone: 'UTC' }
const filter: Filter = withRange(defaultFilter(context), START, NOW)

test('numbers of the range stay what they were, and say how many of them have no row', (t) => {
  const { store } = pruned(t)
  const figures = store.keyFigures(filter)
  assert.deepEqual(
    [
      figures.calls,
      figures.failures,
      figures.removed,
      figures.sessions,
      figures.p50Ms !== undefined,
    ],
    [100, 10, 40, 2, true],
  )
  const buckets = store.callsOverTime(filter)
  assert.equal(
    buckets.reduce((sum, { byOutcome }) => sum + byOutcome.succeeded + byOutcome.failed, 0),
    100,
  )
})

test('a list has exactly the calls that are kept, and the others are a number beside it', (t) => {
  const { store } = pruned(t)
  for (const [narrowed, kept, total] of [
    [filter, 60, 100],
    [{ ...filter, tool: { include: ['old'], exclude: [] } }, 0, 20],
    [{ ...filter, class: { include: ['timeout'], exclude: [] } }, 6, 10],
    [withRange(filter, START + 4 * DAY, NOW), 60, 60],
  ] as [Filter, number, number][]) {
    const page = store.calls(narrowed, { limit: 500 })
    assert.deepEqual([page.rows.length, page.total, page.removed], [kept, total, total - kept])
  }
  const session = store.calls({ ...filter, session: 'early' }, { limit: 500 })
  assert.deepEqual([session.rows.length, session.total, session.removed], [10, 10, 40])
})

test('a tool of which only counts are left keeps its place in the tables', (t) => {
  const { store } = pruned(t)
  const old = store.tools(filter).find(({ tool }) => tool === 'old')
  assert.deepEqual(
    [old?.calls, old?.failures, old?.p50Ms, old?.lastMs],
    [20, 2, undefined, Math.floor((START + 19 * 144 * 60_000) / 900_000) * 900_000],
  )
  const row = failureRows(store, filter, 50).find(({ tool }) => tool === 'old')
  assert.deepEqual(
    [row?.failures, row?.calls, row?.lastCall, row?.lastMs],
    [2, 20, undefined, START + 10 * 144 * 60_000],
  )
})

test('the extent of the data reaches back over what is only counted', (t) => {
  const { store, database } = pruned(t)
  assert.equal(store.extent()?.firstMs, START)
  const pruner = createRowPruner(database)
  database.transaction(() => pruner.count('size', pruner.removeOldest(100), NOW))()
  assert.equal(store.keyFigures(filter).calls, 100)
  assert.equal(store.extent()?.firstMs, START)
})

test('a text is said to have been looked for in the rows that there are', (t) => {
  const { store } = pruned(t)
  const page = store.calls({ ...filter, text: 'x' }, { limit: 10 })
  assert.deepEqual([page.search?.searched, page.search?.calls, page.removed], [60, 60, 40])
})

test('pages say "N of M kept", and what was removed and why', async (t) => {
  const { path } = pruned(t)
  const web = await startWeb({ databasePath: path, port: 0, zone: 'UTC', now: () => NOW })
  t.after(() => web.close())
  const text = async (page: string) => textOf(await (await fetch(web.url + page)).text())
  const range = `from=${START}&to=${NOW}`
  assert.match(await text(`/calls?${range}`), /60 of 100 kept: the others were removed/)
  assert.match(
    await text(`/calls?${range}&session=early`),
    /Looked for in the rows that are kept: those of 40 more calls were removed/,
  )
  assert.match(await text(`/?${range}`), /95 % within [^,]+, of the 60 calls kept/)
  assert.match(
    await text('/ingest'),
    /Removed rows 40 calls, 0 process records and 0 refused lines for space \(--max-db\), last/,
  )
})
