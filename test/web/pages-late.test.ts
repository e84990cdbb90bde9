import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWriter } from '../../ingest/store/open-database.ts'
import { openCallStore } from '../../web/queries/sqlite-call-store.ts'
import {
  append,
  callRecord,
  createStampedLine,
  createWorld,
  ingestOnce,
  NOON,
} from '../ingest/support.ts'
import { dashboardOf, NOW_MS } from './fixtures/dashboard.ts'
import { textOf } from './fixtures/page-text.ts'

const W = 'c'.repeat(32)

test('C15: a handler that ended after its call is stored, and found by its call and by its time', async (t) => {
  const world = createWorld()
  const error = { class: 'timeout' as const, message: 'too slow', by: 'deadline' as const }
  append(
    world.log('a.jsonl'),
    createStampedLine(W, 1, NOON, callRecord({ call: 'c-1', outcome: 'failed', error })),
    createStampedLine(W, 2, NOON, callRecord({ call: 'c-2' })),
    createStampedLine(W, 3, NOON + 14_000, {
      kind: 'late',
      call: 'c-1',
      tool: 'get_invoice',
      ms: 14_000.5,
      outcome: 'succeeded',
    }),
  )
  await ingestOnce(world)
  const store = openCallStore(world.databasePath)
  t.after(() => store.close())
  assert.deepEqual(store.call(1)?.late, [{ ms: 14_000.5, outcome: 'succeeded' }])
  assert.deepEqual(store.call(2)?.late, [])
  assert.deepEqual(store.lateEndings({ fromMs: NOON, toMs: NOON + 60_000 }), [
    {
      call: 'c-1',
      server: 'invoices',
      tool: 'get_invoice',
      atMs: NOON + 14_000,
      ms: 14_000.5,
      outcome: 'succeeded',
    },
  ])
  assert.deepEqual(store.lateEndings({ fromMs: NOON + 60_000, toMs: NOON + 120_000 }), [])
})

function addLate(databasePath: string, detail: object): void {
  const database = openWriter(databasePath)
  const add =
    "INSERT INTO process_event (writer_id, n, kind, at_ms, detail) VALUES (1, 2, 'late', ?, ?)"
  database.prepare(add).run(NOW_MS + 14_000, JSON.stringify(detail))
  database.close()
}

for (const { call, end, words } of [
  {
    call: { class: 'timeout' as const },
    end: 'succeeded' as const,
    words:
      'The handler went on after the call was closed, and succeeded 14 s after the call began. Nobody got its result; what it did is done.',
  },
  {
    call: { class: 'cancelled' as const },
    end: 'failed' as const,
    words: 'The handler went on after the call was closed, and failed 14 s after the call began.',
  },
  {
    call: {},
    end: 'failed' as const,
    words: 'The client was gone before the answer: heard 14 s after the call began.',
  },
  {
    call: { outcome: 'deferred' as const },
    end: 'failed' as const,
    words: 'The task that it was answered with failed 14 s after the call began.',
  },
]) {
  test(`the page of a call says: ${words}`, async (t) => {
    const { page, databasePath } = dashboardOf(t, [{ startedMs: NOW_MS, ...call }])
    assert.ok(!textOf(await page('/calls/1')).includes('after the call began'))
    addLate(databasePath, { call: 'call-1', ms: 14_000, outcome: end })
    const text = textOf(await page('/calls/1'))
    assert.ok(text.includes(words), text)
  })
}
