import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { compileFixtures } from './fixtures/compiled.ts'
import {
  assertSound,
  createWorld,
  ingestOnce,
  storedCalls,
  type World,
  withReader,
} from './support.ts'

/** `KILLS=500` for the long form. */
const KILLS = Number(process.env.KILLS ?? 50)

function start(script: string, ...args: string[]): ChildProcess {
  return spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
}

async function untilSaid(child: ChildProcess, word: string): Promise<void> {
  let said = ''
  for await (const chunk of child.stdout ?? []) {
    said += chunk
    if (said.includes(word)) return
  }
}

function rowsIn(world: World): number {
  if (!existsSync(world.databasePath)) return 0
  return withReader(world, (database) => storedCalls(database).length)
}

test('E24: an ingester killed again and again while servers write stores each call once', async () => {
  const world = createWorld()
  const fixtures = compileFixtures()
  const writers = ['k', 'm'].map((letter) =>
    start(join(fixtures, 'log-writer.js'), world.log(`${letter}.log`), letter.repeat(32)),
  )
  const written = Promise.all(writers.map((writer) => once(writer, 'close')))
  let killsAtWork = 0
  for (let kill = 0; kill < KILLS; kill += 1) {
    const ingester = start(join(fixtures, 'ingester.js'), world.logs, world.databasePath)
    const closed = once(ingester, 'close')
    // Some before they have stored anything, most while they do.
    await untilSaid(ingester, kill % 4 === 0 ? 'started' : 'stored')
    await sleep((kill * 37) % 200)
    ingester.kill('SIGKILL')
    await closed
    if (rowsIn(world) > 0) killsAtWork += 1
  }
  assert.ok(killsAtWork > KILLS / 2, `only ${killsAtWork} kills hit an ingester at work`)
  for (const writer of writers) writer.kill('SIGTERM')
  await written
  await ingestOnce(world, { now: Date.now })
  await ingestOnce(world, { now: Date.now })

  const expected = readdirSync(world.logs).flatMap((name) =>
    [...readFileSync(join(world.logs, name), 'utf8').matchAll(/"call":"([km]-\d+)"/g)].map(
      ([, call]) => call as string,
    ),
  )
  withReader(world, (database) => {
    assert.deepEqual(storedCalls(database), expected.sort())
    const rows = database.prepare(
      'SELECT sum(rows) AS rows, sum(duplicate_rows) AS again FROM stream',
    )
    assert.deepEqual(rows.get(), { rows: expected.length, again: 0 })
    assertSound(database)
  })
})
