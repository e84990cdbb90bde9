import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { runIngest } from '../../ingest/run-ingest.ts'
import { readOpenJournal } from '../../server/call-log/open-journal.ts'
import { startChild } from '../server/stdio-child.ts'
import { until } from '../server/wrapper-harness.ts'
import { assertWorldSound, createWorld, withReader } from './support.ts'

const fixture = '../../ingest/fixtures/slow-server.ts'
const KILLS = 6
const CALLS = 12

test('of servers that are killed again and again each call has one row: how it ended, or that it died', async (t) => {
  const world = createWorld()
  const aborter = new AbortController()
  const run = runIngest({
    roots: [world.logs],
    databasePath: world.databasePath,
    signal: aborter.signal,
    pollMs: 20,
  })
  t.after(() => aborter.abort())

  const expected = KILLS * CALLS
  let died = 0
  for (let kill = 0; kill < KILLS; kill += 1) {
    const child = await startChild(t, fixture, [world.logs])
    const path = (id: number) => join(world.directory, `go-${kill}-${id}`)
    for (let id = 1; id <= CALLS; id += 1) child.call(id, 'waits_for', { path: path(id) })
    await until(() => (openCalls(world.logs) >= died + CALLS ? true : undefined), 'the journal')
    // Some end before the kill, some just about then.
    for (let id = 1; id <= kill * 2; id += 1) writeFileSync(path(id), '')
    if (kill > 0) await child.answer(1)
    child.process.kill('SIGKILL')
    await child.exitCode()
    died = openCalls(world.logs)
  }
  const all = () =>
    withReader(world, (database) =>
      database.prepare("SELECT uid, class FROM calls WHERE tool = 'waits_for'").all(),
    ) as { uid: string; class: string }[]
  const deadline = Date.now() + 30_000
  while (all().length < expected && Date.now() < deadline) await sleep(50)
  // Nothing more may come.
  await sleep(300)
  aborter.abort()
  await run
  const rows = all()
  assert.equal(rows.length, expected)
  assert.equal(new Set(rows.map(({ uid }) => uid)).size, expected)
  const crashed = rows.filter((row) => row.class === 'crashed').length
  // A call may have its record and still stand in the journal, if it was killed in between.
  assert.ok(crashed <= died && crashed >= died - KILLS, `${crashed} of ${died}`)
  assertWorldSound(world)
})

/** In all journals, which dead servers leave behind. */
function openCalls(logs: string): number {
  return readdirSync(logs)
    .filter((name) => name.endsWith('.open'))
    .reduce(
      (sum, name) => sum + (readOpenJournal(readFileSync(join(logs, name)))?.calls.length ?? 0),
      0,
    )
}
