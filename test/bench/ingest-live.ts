import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { runIngest } from '../../ingest/run-ingest.ts'
import { openReader, prepareDatabase } from '../../ingest/store/open-database.ts'
import { callRecord, createStampedLine } from '../ingest/support.ts'

const LINES_PER_SECOND = 2000
const TICK_MS = 50
const LAG_SECONDS = 10
const IDLE_FILES = 1000
const IDLE_SECONDS = 20

/** From a line's write to its row being visible to a reader, asked for every 25 ms. */
export async function measureLag(dir: string): Promise<void> {
  const logs = join(dir, 'live')
  mkdirSync(logs)
  const databasePath = join(dir, 'live.db')
  prepareDatabase(databasePath)
  const aborter = new AbortController()
  const run = runIngest({ roots: [logs], databasePath, signal: aborter.signal })
  const reader = openReader(databasePath)
  const newest = reader.prepare('SELECT max(n) FROM call').pluck()
  const writtenAt: number[] = []
  const lags: number[] = []
  let seen = 0
  const look = setInterval(() => {
    const last = (newest.get() as number | null) ?? 0
    for (; seen < last; seen += 1) lags.push(performance.now() - (writtenAt[seen] as number))
  }, 25)
  for (let tick = 0; tick < (LAG_SECONDS * 1000) / TICK_MS; tick += 1) {
    let text = ''
    for (let line = 0; line < (LINES_PER_SECOND * TICK_MS) / 1000; line += 1) {
      writtenAt.push(performance.now())
      const record = callRecord({ call: `c-${writtenAt.length}`, started: Date.now() })
      text += createStampedLine('b'.repeat(32), writtenAt.length, Date.now(), record)
    }
    appendFileSync(join(logs, 'live.jsonl'), text)
    await sleep(TICK_MS)
  }
  await sleep(1500)
  clearInterval(look)
  reader.close()
  aborter.abort()
  await run
  lags.sort((a, b) => a - b)
  const p95 = lags[Math.floor(lags.length * 0.95)] ?? Number.NaN
  console.log(
    `live lag: p95 ${p95.toFixed(0)} ms over ${lags.length} lines (target: below 1000 ms at ${LINES_PER_SECOND} lines/s)`,
  )
}

/** CPU of a following ingester when nothing happens in many files. */
export async function measureIdle(dir: string): Promise<void> {
  const logs = join(dir, 'idle')
  mkdirSync(logs)
  for (let file = 1; file <= IDLE_FILES; file += 1) {
    const w = file.toString(16).padStart(32, '0')
    appendFileSync(
      join(logs, `${file}.jsonl`),
      createStampedLine(w, 1, Date.now(), callRecord({ call: `c-${file}`, started: Date.now() })),
    )
  }
  const aborter = new AbortController()
  let caughtUp = false
  const run = runIngest({
    roots: [logs],
    databasePath: join(dir, 'idle.db'),
    signal: aborter.signal,
    onProgress: (progress) => {
      caughtUp = progress.caughtUp
    },
  })
  while (!caughtUp) await sleep(100)
  // The wait between looks doubles until it is at its longest.
  await sleep(10_000)
  const before = process.cpuUsage()
  await sleep(IDLE_SECONDS * 1000)
  const { user, system } = process.cpuUsage(before)
  aborter.abort()
  await run
  const percent = (user + system) / 1e4 / IDLE_SECONDS
  console.log(
    `idle: ${percent.toFixed(2)} % of a core with ${IDLE_FILES} files (target: below 1 %)`,
  )
}
