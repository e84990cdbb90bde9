import { parseArgs } from 'node:util'
import { DEFAULT_HUGE_LINE_BYTES } from './hostile.ts'
import { SampleLogError } from './write-logs.ts'

export const HELP = `Writes sample call logs: two servers over some weeks, with known faults planted in them.

Usage: npm run samples -- --out DIR [options]

  --out DIR       new or empty directory for the logs
  --days N        how many days, 7 to 366 (default 28)
  --calls N       how many tool calls, exactly (default 40000)
  --end TIME      when the samples end: now, or a time with its zone (default now)
  --seed N        another seed, other samples; the same seed, the same bytes (default 1)
  --hostile FILE  write only the file of bad lines, to a new FILE, and say what is in it
  --huge N        bytes of its longest line, 0 for none (default ${DEFAULT_HUGE_LINE_BYTES})
  --help

Examples:
  npm run samples -- --days 28 --calls 40000 --end now --out /tmp/logs
  npm run samples -- --days 60 --calls 10000000 --end 2026-04-12T00:00:00Z --out /tmp/many
  npm run samples -- --hostile /tmp/hostile.jsonl
`

const OPTIONS = {
  out: { type: 'string' },
  days: { type: 'string', default: '28' },
  calls: { type: 'string', default: '40000' },
  end: { type: 'string', default: 'now' },
  seed: { type: 'string', default: '1' },
  hostile: { type: 'string' },
  huge: { type: 'string', default: String(DEFAULT_HUGE_LINE_BYTES) },
  help: { type: 'boolean', default: false },
} as const

export type Command =
  | { kind: 'help' }
  | { kind: 'hostile'; path: string; hugeLineBytes: number }
  | {
      kind: 'samples'
      directory: string
      days: number
      calls: number
      endMs: number
      seed: number
    }

/** Throws SampleLogError, in one sentence that says what to write instead. */
export function readFlags(args: string[], nowMs: number): Command {
  const flags = parse(args)
  if (flags.help) return { kind: 'help' }
  if (flags.hostile !== undefined) {
    if (flags.out !== undefined) {
      throw new SampleLogError('Write --out for samples or --hostile for bad lines, not both.')
    }
    return {
      kind: 'hostile',
      path: flags.hostile,
      hugeLineBytes: wholeNumber('huge', flags.huge),
    }
  }
  if (!flags.out) {
    throw new SampleLogError('Say where the logs go: --out DIR, a new or empty directory.')
  }
  return {
    kind: 'samples',
    directory: flags.out,
    days: wholeNumber('days', flags.days),
    calls: wholeNumber('calls', flags.calls),
    endMs: endTime(flags.end, nowMs),
    seed: wholeNumber('seed', flags.seed),
  }
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, strict: true, options: OPTIONS }).values
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    throw new SampleLogError(`${said.split(/[.\n]/)[0]}: see --help.`)
  }
}

function wholeNumber(flag: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new SampleLogError(`--${flag} takes a whole number, not "${text}".`)
}

const TIME_WITH_ZONE = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/

function endTime(text: string, nowMs: number): number {
  if (text === 'now') return nowMs
  const ms = TIME_WITH_ZONE.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(ms)) return ms
  throw new SampleLogError(
    `--end takes "now" or a time with its zone, such as 2026-04-12T00:00:00Z, not "${text}".`,
  )
}
