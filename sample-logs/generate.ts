import { parseArgs } from 'node:util'
import { generateSampleLogs } from './generate-sample-logs.ts'
import { DEFAULT_HUGE_LINE_BYTES, writeHostileFile } from './hostile.ts'
import { SampleLogError } from './write-logs.ts'

const HELP = `Writes sample call logs: two servers over some weeks, with known faults planted in them.

Usage: npm run samples -- --out DIR [options]

  --out DIR      new or empty directory for the logs
  --days N       how many days, 7 to 366 (default 28)
  --calls N      how many tool calls, exactly (default 40000)
  --end TIME     when the samples end: now, or a time with its zone (default now)
  --seed N       another seed, other samples; the same seed, the same bytes (default 1)
  --hostile FILE write only the file of bad lines, to FILE, and say what is in it
  --huge N       bytes of its longest line, 0 for none (default ${DEFAULT_HUGE_LINE_BYTES})
  --help

Examples:
  npm run samples -- --days 28 --calls 40000 --end now --out /tmp/logs
  npm run samples -- --days 60 --calls 10000000 --end 2026-04-12T00:00:00Z --out /tmp/many
  npm run samples -- --hostile /tmp/hostile.jsonl
`

const EXIT_FAILURE = 1
const EXIT_USAGE = 2

class UsageError extends Error {
  override readonly name = 'UsageError'
}

type Flags = ReturnType<typeof readFlags>

function readFlags(args: string[]) {
  try {
    return parseArgs({
      args,
      strict: true,
      options: {
        out: { type: 'string' },
        days: { type: 'string', default: '28' },
        calls: { type: 'string', default: '40000' },
        end: { type: 'string', default: 'now' },
        seed: { type: 'string', default: '1' },
        hostile: { type: 'string' },
        huge: { type: 'string', default: String(DEFAULT_HUGE_LINE_BYTES) },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    const [sentence] = (error instanceof Error ? error.message : String(error)).split('\n')
    throw new UsageError(`${sentence} See --help.`)
  }
}

function wholeNumber(flag: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new UsageError(`--${flag} takes a whole number, not "${text}".`)
}

function endTime(text: string): number {
  if (text === 'now') return Date.now()
  const hasZone = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/.test(text)
  const ms = hasZone ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(ms)) return ms
  throw new UsageError(
    `--end takes "now" or a time with its zone, such as 2026-04-12T00:00:00Z, not "${text}".`,
  )
}

async function writeSamples(flags: Flags): Promise<void> {
  const directory = flags.out
  if (!directory)
    throw new UsageError('Say where the logs go: --out DIR, a new or empty directory.')
  const started = performance.now()
  const { files, lines, calls, plantedSummary } = await generateSampleLogs({
    directory,
    days: wholeNumber('days', flags.days),
    calls: wholeNumber('calls', flags.calls),
    endMs: endTime(flags.end),
    seed: wholeNumber('seed', flags.seed),
    onProgress: process.stderr.isTTY ? showProgress : undefined,
  })
  const seconds = (performance.now() - started) / 1_000
  console.log(JSON.stringify(plantedSummary, undefined, 2))
  console.error(
    `${lines} lines, ${calls} of them calls, in ${files.length} files in ${directory} after ${seconds.toFixed(1)} s.`,
  )
}

function showProgress({ calls, ofCalls }: { calls: number; ofCalls: number }): void {
  process.stderr.write(`\r${calls} of ${ofCalls} calls${calls === ofCalls ? '\n' : ''}`)
}

async function writeHostile(path: string, flags: Flags): Promise<void> {
  if (flags.out) throw new UsageError('Use --out for samples or --hostile for bad lines, not both.')
  const facts = await writeHostileFile({ path, hugeLineBytes: wholeNumber('huge', flags.huge) })
  console.log(JSON.stringify(facts, undefined, 2))
}

async function main(): Promise<void> {
  const flags = readFlags(process.argv.slice(2))
  if (flags.help) console.log(HELP)
  else if (flags.hostile) await writeHostile(flags.hostile, flags)
  else await writeSamples(flags)
}

main().catch((error: unknown) => {
  const isUsage = error instanceof UsageError || error instanceof SampleLogError
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = isUsage ? EXIT_USAGE : EXIT_FAILURE
})
