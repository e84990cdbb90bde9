import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readdirSync, readSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runIngest } from '../../ingest/run-ingest.ts'
import { measureIdle, measureLag } from './ingest-live.ts'
import { comparePeers } from './ingest-peers.ts'

/**
 * What a line costs to ingest, in CPU time, against what nobody can do without: reading the file,
 * cutting it into lines, parsing them. The variants take turns in one process, so that a noisy
 * machine is noisy for all of them; the medians and their ratio count.
 *
 * Then, without --quick: what other programs need, the lag of live lines, and the cost of waiting.
 *
 *   npm run bench:ingest -- [--calls 100000] [--rounds 5] [--logs DIR] [--quick]
 */
const CHUNK_BYTES = 256 * 1024

type Measured = { cpuMs: number; wallMs: number }

async function measure(work: () => unknown): Promise<Measured> {
  const wallStart = performance.now()
  const cpuStart = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(cpuStart)
  return { cpuMs: (user + system) / 1000, wallMs: performance.now() - wallStart }
}

function forEachLine(path: string, use: (line: string) => void): void {
  const file = openSync(path, 'r')
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES + 1024 * 1024)
  let kept = 0
  try {
    for (;;) {
      const count = readSync(file, buffer, kept, CHUNK_BYTES, null)
      if (count === 0) break
      const end = kept + count
      let start = 0
      for (;;) {
        const found = buffer.indexOf(0x0a, start)
        if (found < 0 || found >= end) break
        use(buffer.toString('utf8', start, found))
        start = found + 1
      }
      buffer.copy(buffer, 0, start, end)
      kept = end - start
    }
  } finally {
    closeSync(file)
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

function option(name: string, fallback: string): string {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? fallback : (process.argv[at + 1] ?? fallback)
}

function makeLogs(directory: string, calls: string): void {
  const generator = new URL('../../sample-logs/generate.ts', import.meta.url).pathname
  const days = ['--days', '28', '--end', 'now']
  execFileSync(
    process.execPath,
    ['--import', 'tsx', generator, ...days, '--calls', calls, '--out', directory],
    { stdio: 'ignore' },
  )
}

const scratch = mkdtempSync(join(tmpdir(), 'unsilent-bench-'))
const logs = option('logs', join(scratch, 'logs'))
if (logs.startsWith(scratch)) makeLogs(logs, option('calls', '100000'))
const paths = readdirSync(logs)
  .filter((name) => name.endsWith('.jsonl'))
  .map((name) => join(logs, name))
const bytes = paths.reduce((sum, path) => sum + statSync(path).size, 0)

let lines = 0
const variants: Record<string, () => unknown> = {
  'read and split': () => {
    lines = 0
    for (const path of paths) {
      forEachLine(path, () => {
        lines += 1
      })
    }
  },
  'read, split, JSON.parse': () => {
    for (const path of paths) forEachLine(path, JSON.parse)
  },
  ingest: async () => {
    const databasePath = join(scratch, 'bench.db')
    for (const suffix of ['', '-wal', '-shm']) rmSync(databasePath + suffix, { force: true })
    await runIngest({ roots: [logs], databasePath, once: true })
  },
}

const measured = new Map<string, Measured[]>(Object.keys(variants).map((name) => [name, []]))
const rounds = Number(option('rounds', '5'))
for (let round = 0; round <= rounds; round += 1) {
  for (const [name, work] of Object.entries(variants)) {
    const result = await measure(work)
    // The first round warms up caches and the compiler.
    if (round > 0) measured.get(name)?.push(result)
  }
}

const base = median((measured.get('read, split, JSON.parse') ?? []).map(({ cpuMs }) => cpuMs))
console.log('target: at most 4.20x of read, split, JSON.parse')
console.log(`${lines} lines, ${(bytes / 1e6).toFixed(0)} MB, medians of ${rounds}`)
console.log(`${'variant'.padEnd(26)}µs/line CPU   lines/s CPU    ratio   lines/s wall`)
for (const [name, results] of measured) {
  const cpuMs = median(results.map((result) => result.cpuMs))
  const wallMs = median(results.map((result) => result.wallMs))
  console.log(
    name.padEnd(26) +
      ((cpuMs * 1000) / lines).toFixed(2).padStart(11) +
      String(Math.round(lines / (cpuMs / 1000))).padStart(14) +
      `${(cpuMs / base).toFixed(2)}x`.padStart(9) +
      String(Math.round(lines / (wallMs / 1000))).padStart(15),
  )
}
const databaseBytes = statSync(join(scratch, 'bench.db')).size
console.log(
  `database: ${(databaseBytes / lines).toFixed(0)} bytes a line, ${(databaseBytes / bytes).toFixed(2)} of the log's (target: at most 0.50)`,
)
console.log(
  `peak memory: ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MB (target: below 200 MB)`,
)
if (!process.argv.includes('--quick')) {
  const ours = median((measured.get('ingest') ?? []).map(({ cpuMs }) => cpuMs)) / 1000
  comparePeers(paths, scratch, ours)
  await measureLag(scratch)
  await measureIdle(scratch)
}
rmSync(scratch, { recursive: true })
