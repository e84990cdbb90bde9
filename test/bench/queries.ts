/**
 * How long the dashboard's questions take: `node --import tsx test/bench/queries.ts`, with
 * `--calls N` (default 100000) and `--days N` (default 60) for made samples, or `--db FILE`.
 *
 * Prints milliseconds of CPU a question under several filters, each on a fresh connection, so with
 * nothing remembered: the median and the slowest of the runs. The file is in the system's cache.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runIngest } from '../../ingest/run-ingest.ts'
import { generateSampleLogs } from '../../sample-logs/generate-sample-logs.ts'
import { createFindings } from '../../web/analysis/findings.ts'
import type { CallStore } from '../../web/queries/call-store.ts'
import { type Filter, parseFilter } from '../../web/queries/filter.ts'
import { openCallStore } from '../../web/queries/sqlite-call-store.ts'

const ZONE = 'Europe/Berlin'
const END = Date.UTC(2026, 3, 12)
const RUNS = 5

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '100000' },
    days: { type: 'string', default: '60' },
    db: { type: 'string' },
  },
})

const QUESTIONS: Record<string, (store: CallStore, filter: Filter) => unknown> = {
  'key figures': (store, filter) => store.keyFigures(filter),
  'over time': (store, filter) => store.callsOverTime(filter),
  tools: (store, filter) => store.tools(filter),
  heatmap: (store, filter) => store.heatmap(filter),
  facets: (store, filter) => store.facets(filter),
  'newest 50': (store, filter) => store.calls(filter, { limit: 50 }),
  signatures: (store, filter) => store.signatures(filter),
}

const FILTERS = [
  'from=now-1d',
  `from=now-${values.days}d`,
  `from=now-${values.days}d&tool=get_invoice`,
  `from=now-${values.days}d&class=timeout`,
  `from=now-${values.days}d&class=bad_result`,
  `from=now-${values.days}d&tod=02:00-03:00&dow=1-5`,
  `from=now-${values.days}d&client=cursor&outcome=failed`,
  `from=now-${values.days}d&q=no-such-text`,
]

async function makeDatabase(directory: string): Promise<string> {
  const logs = join(directory, 'logs')
  const databasePath = join(directory, 'unsilent.db')
  const options = { days: Number(values.days), calls: Number(values.calls), endMs: END, seed: 1 }
  await generateSampleLogs({ directory: logs, ...options })
  await runIngest({ roots: [logs], databasePath, once: true, now: () => END })
  return databasePath
}

function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

function measure(path: string, query: string, ask: (typeof QUESTIONS)[string]): string {
  const parsed = parseFilter(new URLSearchParams(query), { nowMs: END, defaultZone: ZONE })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems))
  const { filter } = parsed
  const times = Array.from({ length: RUNS }, () => {
    const store = openCallStore(path, { now: () => END })
    try {
      return cpuMs(() => ask(store, filter))
    } finally {
      store.close()
    }
  }).sort((a, b) => a - b)
  const [median, slowest] = [times[Math.floor(RUNS / 2)] ?? 0, times.at(-1) ?? 0]
  return `${median.toFixed(1)}/${slowest.toFixed(0)}`
}

function printTable(path: string): void {
  const columns = Object.keys(QUESTIONS)
  console.log(`\n${'filter'.padEnd(44)}${columns.map((name) => name.padStart(13)).join('')}`)
  for (const query of FILTERS) {
    const cells = Object.values(QUESTIONS).map((ask) => measure(path, query, ask).padStart(13))
    console.log(query.padEnd(44) + cells.join(''))
  }
  const store = openCallStore(path, { now: () => END })
  const days = Number(values.days)
  const all = cpuMs(() => createFindings(store, { zone: ZONE, now: () => END, days }).current())
  console.log(`\nall findings of ${days} days: ${all.toFixed(0)} ms`)
  store.close()
}

const directory = mkdtempSync(join(tmpdir(), 'unsilent-bench-'))
try {
  const path = values.db ?? (await makeDatabase(directory))
  const store = openCallStore(path)
  console.log(`${path}: ${(store.ingestHealth().databaseBytes / 1e6).toFixed(0)} MB`)
  store.close()
  printTable(path)
} finally {
  rmSync(directory, { recursive: true, force: true })
}
