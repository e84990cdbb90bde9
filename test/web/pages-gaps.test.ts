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

test('a hole in the numbers is told with its reason, where the writer gave one', async (t) => {
  const world = createWorld()
  const line = (w: string, n: number) =>
    createStampedLine(w, n, NOON, callRecord({ call: `${w[0]}-${n}` }))
  const [a, b] = ['a'.repeat(32), 'b'.repeat(32)] as [string, string]
  append(
    world.log('a.jsonl'),
    line(a, 1),
    createStampedLine(a, 5, NOON, {
      kind: 'drop',
      reason: 'ENOSPC',
      records: 3,
      from_n: 2,
      to_n: 4,
    }),
    line(a, 8),
  )
  append(world.log('b.jsonl'), line(b, 3), createStampedLine(b, 4, NOON, { kind: 'exit', code: 0 }))
  await ingestOnce(world)
  const store = openCallStore(world.databasePath)
  t.after(() => store.close())
  assert.deepEqual(
    store
      .ingestHealth()
      .gaps.map(({ writer, firstN, lastN, reason, exited }) => [
        writer[0],
        firstN,
        lastN,
        reason,
        exited,
      ]),
    [
      ['b', 1, 2, undefined, true],
      ['a', 2, 4, 'ENOSPC', false],
      ['a', 6, 7, undefined, false],
    ],
  )
})

test('the page about ingesting says where lost records went', async (t) => {
  const { page, databasePath } = dashboardOf(t, [{ startedMs: NOW_MS }])
  const database = openWriter(databasePath)
  database.exec(`
    INSERT INTO writer_range VALUES (1, 5, 5), (1, 9, 9);
    INSERT INTO process_event (writer_id, n, kind, at_ms, detail)
      VALUES (1, 5, 'drop', 0, '{"reason":"<EIO>","from_n":1,"to_n":4}')`)
  database.close()
  const text = textOf(await page('/ingest'))
  assert.match(
    text,
    /4 records of demo: numbers 1 to 4 of writer w1; the writer could not write them \(<EIO>\)/,
  )
  assert.match(
    text,
    /3 records of demo: numbers 6 to 8 of writer w1; their file was not read, or is yet to be/,
  )
})
