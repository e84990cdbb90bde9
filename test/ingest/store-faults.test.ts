import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkInvariants } from '../../ingest/store/check-invariants.ts'
import { loadSqlite } from '../../ingest/store/load-sqlite.ts'
import { openWriter } from '../../ingest/store/open-database.ts'
import { BatchWriter } from '../../ingest/store/write-batch.ts'
import {
  append,
  assertSound,
  assertWorldSound,
  callRecord,
  createStampedLine,
  createTailer,
  createWorld,
  foreignCall,
  ingestOnce,
  NOON,
  storedCalls,
  type World,
  withReader,
} from './support.ts'

const W = 'f'.repeat(32)

/** Stamped and unstamped lines in turn. */
function writeLines(world: World, first: number, last: number): void {
  for (let n = first; n <= last; n += 1) {
    const id = `c-${n}`
    append(
      world.log('a.jsonl'),
      n % 3 === 0 ? foreignCall(id) : createStampedLine(W, n, NOON, callRecord({ call: id })),
    )
  }
}

function ids(last: number): string[] {
  return Array.from({ length: last }, (_, index) => `c-${index + 1}`).sort()
}

test('a batch has the write lock from its first moment, so that it never has to be given up', () => {
  const world = createWorld()
  const database = openWriter(world.databasePath)
  const other = new (loadSqlite())(world.databasePath, { timeout: 0 })
  const writer = new BatchWriter(database)
  writer.begin()
  assert.throws(
    () => other.exec("INSERT INTO client (name, version) VALUES ('x', '1')"),
    (error) => error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY',
  )
  writer.commit()
  other.exec("INSERT INTO client (name, version) VALUES ('x', '1')")
  other.close()
  database.close()
})

/** A database whose last commits are in its write-ahead log alone, as a power cut may leave it. */
function createUncheckpointed(): { world: World; database: Buffer; wal: Buffer; lines: number } {
  const world = createWorld()
  const lines = 120
  const tailer = createTailer(world, { limits: { liveLines: 20, importLines: 20 } })
  tailer.database.pragma('wal_autocheckpoint = 0')
  for (let last = 40; last <= lines; last += 40) {
    writeLines(world, last - 39, last)
    tailer.poll()
  }
  const database = readFileSync(world.databasePath)
  const wal = readFileSync(`${world.databasePath}-wal`)
  tailer.stop()
  return { world, database, wal, lines }
}

test('a write-ahead log that is cut or damaged anywhere leaves a sound state, from which reading goes on', () => {
  const { world, database, wal, lines } = createUncheckpointed()
  const directory = mkdtempSync(join(tmpdir(), 'unsilent-wal-'))
  const path = join(directory, 'unsilent.db')
  const states = new Set<number>()
  let tried = 0
  // A prime step, so that cuts fall everywhere in pages and frames.
  for (let at = 0; at < wal.length; at += 9973) {
    for (const damage of ['cut', 'flipped'] as const) {
      for (const suffix of ['-shm', '-wal', '']) rmSync(path + suffix, { force: true })
      writeFileSync(path, database)
      writeFileSync(`${path}-wal`, wal)
      if (damage === 'cut') truncateSync(`${path}-wal`, at)
      else {
        const flipped = Buffer.from(wal)
        for (let byte = at; byte < at + 64 && byte < wal.length; byte += 1) {
          flipped[byte] = (flipped[byte] as number) ^ 0xff
        }
        writeFileSync(`${path}-wal`, flipped)
      }
      const recovered = openWriter(path)
      const place = `${damage} at ${at}`
      assert.deepEqual(checkInvariants(recovered), [], place)
      states.add(storedCalls(recovered).length)
      recovered.close()
      tried += 1
      if (tried % 4 !== 0) continue
      const tailer = createTailer({ ...world, directory, databasePath: path })
      tailer.settle()
      assert.deepEqual(storedCalls(tailer.database), ids(lines), place)
      assertSound(tailer.database)
      tailer.stop()
    }
  }
  assert.ok(tried > 40, `${tried} states were tried`)
  assert.ok(states.size > 3, `only ${states.size} different states were recovered`)
})

test('F3: a database that may not grow any more stops with a sentence, and goes on when it may', async () => {
  const world = createWorld()
  writeLines(world, 1, 3000)
  openWriter(world.databasePath).close()
  const ingester = new URL('./fixtures/ingester.ts', import.meta.url).pathname
  const command = `ulimit -f 400; exec "${process.execPath}" --import tsx "${ingester}" "$1" "$2"`
  const child = spawn('bash', ['-c', command, 'bash', world.logs, world.databasePath], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const closed = once(child, 'close')
  let said = ''
  for await (const chunk of child.stdout) {
    said += chunk
    if (/failed|no space left/.test(said)) break
  }
  assert.match(said, /Reading or writing the database .* failed|no space left/)
  child.kill('SIGTERM')
  await closed
  assertWorldSound(world)
  assert.ok(withReader(world, storedCalls).length < 3000)
  await ingestOnce(world)
  assert.deepEqual(withReader(world, storedCalls), ids(3000))
  assertWorldSound(world)
})
