import { type Command, InvalidArgumentError } from 'commander'
import type { RetentionLimits } from '../../ingest/worker/retention.ts'

/** As they were written, and fit to be handed on to a child. */
export type RetentionFlags = { keep: string; maxDb: string }

const DEFAULT_KEEP = '90d'
const DEFAULT_MAX_DB = '10GB'

/** `--keep` and `--max-db`, for every command that writes to the database. */
export function addRetentionOptions(command: Command): Command {
  return command
    .option(
      '--keep <time>',
      'how long rows are kept after they were made or read: 90d, 12h, forever',
      checkedBy(parseKeep),
      DEFAULT_KEEP,
    )
    .option(
      '--max-db <size>',
      'beyond it the oldest rows go: 10GB, 500MB, unlimited',
      checkedBy(parseSize),
      DEFAULT_MAX_DB,
    )
}

export function retentionOf({ keep, maxDb }: RetentionFlags): RetentionLimits {
  return { maxAgeMs: parseKeep(keep), maxBytes: parseSize(maxDb) }
}

export function retentionArgs({ keep, maxDb }: RetentionFlags): string[] {
  return ['--keep', keep, '--max-db', maxDb]
}

function checkedBy(parse: (text: string) => unknown): (text: string) => string {
  return (text) => {
    parse(text)
    return text
  }
}

const HOUR_MS = 3_600_000
const UNIT_MS: Readonly<Record<string, number>> = {
  h: HOUR_MS,
  d: 24 * HOUR_MS,
  w: 7 * 24 * HOUR_MS,
}

/** Undefined: for ever. */
function parseKeep(text: string): number | undefined {
  if (text === 'forever') return undefined
  const [, number, unit = ''] = /^(\d{1,6})([hdw])$/.exec(text) ?? []
  const unitMs = UNIT_MS[unit]
  if (unitMs !== undefined && Number(number) > 0) return Number(number) * unitMs
  throw new InvalidArgumentError('Write a time such as 90d, 12h or 4w, or forever.')
}

const UNIT_BYTES: Readonly<Record<string, number>> = {
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
}

/** Undefined: as large as it gets. */
function parseSize(text: string): number | undefined {
  if (text === 'unlimited') return undefined
  const [, number, unit = ''] = /^(\d{1,6}(?:\.\d{1,3})?) ?([MGT]i?B)$/.exec(text) ?? []
  const unitBytes = UNIT_BYTES[unit]
  const bytes = Math.floor(Number(number) * (unitBytes ?? 0))
  if (bytes >= 1e6) return bytes
  throw new InvalidArgumentError('Write a size from 1MB on, such as 10GB or 500MiB, or unlimited.')
}
