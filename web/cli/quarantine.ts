import { Argument, type Command, Option } from 'commander'
import { defaultDatabasePath } from '../../server/call-log/state-directory.ts'
import { reasonWords } from '../pages/refusal-words.ts'
import type { Refused } from '../queries/quarantine.ts'
import { printableSample, refusedEntries, refusedEntry } from '../queries/quarantine.ts'
import { CommandError } from './command-error.ts'
import { parsePositive } from './options.ts'
import { mayStyle, note, writeData } from './output.ts'
import { stopSignal } from './stop-signal.ts'
import { type Column, formatTable, formatTsv } from './table.ts'
import { UsageError } from './usage-error.ts'

const ACTIONS = ['list', 'show', 'retry'] as const
const DEFAULT_LIMIT = 50
const ROW_CHARACTERS = 200
const ALL_CHARACTERS = 4096

type Flags = { db?: string; format: string; limit: number; reason?: string }

export function registerQuarantine(program: Command): void {
  program
    .command('quarantine')
    .description('lines of the logs that were refused')
    .addArgument(new Argument('[action]', 'what to do').choices(ACTIONS).default('list'))
    .argument('[ids...]', 'which, by the ids of the list')
    .option('--reason <reason>', 'only lines refused for this reason')
    .addOption(
      new Option('--limit <number>', 'most rows').argParser(parsePositive).default(DEFAULT_LIMIT),
    )
    .addOption(new Option('--format <name>', 'output').choices(['table', 'json']).default('table'))
    .option('--db <file>', 'the database (default: unsilent.db in the state directory)')
    .addHelpText('after', HELP)
    .action(quarantine)
}

async function quarantine(
  action: (typeof ACTIONS)[number],
  idTexts: string[],
  flags: Flags,
): Promise<void> {
  const ids = idTexts.map(parseId)
  if (action === 'retry') return retry(ids, flags)
  if (action === 'list' && ids.length > 0) {
    throw new UsageError('The list takes no ids: write "unsilent quarantine show 12".')
  }
  if (action === 'show' && ids.length === 0) {
    throw new UsageError('Say which to show: "unsilent quarantine show 12" with an id of the list.')
  }
  const { openReader } = await import('../../ingest/store/open-database.ts')
  const database = openReader(flags.db ?? defaultDatabasePath())
  try {
    if (action === 'list') {
      await list(refusedEntries(database, { reason: flags.reason, limit: flags.limit }), flags)
    } else
      await show(
        ids.map((id) => refusedEntry(database, id) ?? missing(id)),
        flags,
      )
  } finally {
    database.close()
  }
}

function parseId(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new UsageError(`"${text}" is no id: write a number of the list's first column.`)
}

function missing(id: number): never {
  throw new CommandError(`There is no refused line ${id}: see the list for those that there are.`)
}

async function list(found: ReturnType<typeof refusedEntries>, { format }: Flags): Promise<void> {
  const { entries, total, lines } = found
  if (format === 'json') {
    return writeData(asJson({ entries: total, lines, refused: entries.map(toJson) }))
  }
  if (entries.length === 0) return note('No line was refused.')
  await writeData(
    process.stdout.isTTY
      ? formatTable(entries, COLUMNS, {
          width: process.stdout.columns || 80,
          styled: mayStyle(process.stdout),
        })
      : formatTsv(entries, COLUMNS),
  )
  if (total > entries.length) note(`${entries.length} of ${total}: use --limit for more.`)
}

const COLUMNS: Column<Refused>[] = [
  { title: 'ID', align: 'right', text: ({ id }) => String(id) },
  { title: 'REASON', text: ({ reason }) => reason },
  { title: 'LINES', align: 'right', text: ({ lines }) => String(lines) },
  { title: 'BYTES', align: 'right', text: ({ lengthBytes }) => String(lengthBytes) },
  { title: 'PLACE', text: ({ path, lineNumber }) => `${path}:${lineNumber}` },
  {
    title: 'BEGINS WITH',
    flexible: true,
    text: ({ sample }) => printableSample(sample, ROW_CHARACTERS),
  },
]

async function show(entries: readonly Refused[], { format }: Flags): Promise<void> {
  if (format === 'json') return writeData(asJson({ refused: entries.map(toJson) }))
  await writeData(entries.map(asText).join('\n'))
}

function asText(entry: Refused): string {
  const facts: [string, string][] = [
    ['id', String(entry.id)],
    ['reason', `${entry.reason}: ${reasonWords(entry.reason)}`],
    ['file', printableSample(Buffer.from(entry.path), ALL_CHARACTERS)],
    ['line', `${entry.lineNumber}, at byte ${entry.lineOffset}`],
    [
      'length',
      `${entry.lengthBytes} bytes in ${entry.lines === 1 ? '1 line' : `${entry.lines} lines`}`,
    ],
    ['sha256', entry.sha256 || '(unknown)'],
    ['seen', new Date(entry.seenMs).toISOString()],
    ['begins with', printableSample(entry.sample, ALL_CHARACTERS)],
  ]
  return facts.map(([name, value]) => `${name.padEnd(13)}${value}\n`).join('')
}

function toJson(entry: Refused) {
  return {
    bytes: entry.lengthBytes,
    file: entry.path,
    id: entry.id,
    line: entry.lineNumber,
    lines: entry.lines,
    offset: entry.lineOffset,
    reason: entry.reason,
    sample: printableSample(entry.sample, ALL_CHARACTERS),
    seen: new Date(entry.seenMs).toISOString(),
    sha256: entry.sha256,
  }
}

/** `version` changes only when a key changes its meaning. */
function asJson(document: object): string {
  return `${JSON.stringify({ ...document, version: 1 }, undefined, 2)}\n`
}

async function retry(ids: number[], { db, format, reason }: Flags): Promise<void> {
  if (ids.length > 0 && reason !== undefined) {
    throw new UsageError('Name ids or a --reason, not both.')
  }
  const { carryOut } = await import('../../ingest/worker/carry-out.ts')
  const answer = await carryOut({
    databasePath: db ?? defaultDatabasePath(),
    kind: 'quarantine_retry',
    parameters: ids.length > 0 ? { ids } : reason === undefined ? {} : { reason },
    onWaiting: (sentence) => note(`unsilent: ${sentence}`),
    signal: stopSignal(),
  })
  if (!answer) return
  if (answer.outcome === 'refused') throw new CommandError(answer.reason)
  const { counts } = answer
  await writeData(format === 'json' ? asJson({ retried: counts }) : retriedText(counts))
}

const COUNTED: readonly [string, string][] = [
  ['rows', 'stored as calls'],
  ['events', 'stored as records of a process'],
  ['duplicates', 'known already'],
  ['passedOver', 'of other programs and no calls'],
  ['refused', 'refused as before'],
  ['gone', 'in no file any more'],
]

function retriedText(counts: Readonly<Record<string, number>>): string {
  const parts = COUNTED.flatMap(([name, words]) =>
    counts[name] ? [`${words} ${counts[name]}`] : [],
  )
  return `Entries tried: ${counts.entries ?? 0}. Lines: ${parts.join(', ') || 'none'}.\n`
}

const HELP = `
Examples:
  unsilent quarantine                        which lines, and why
  unsilent quarantine show 12
  unsilent quarantine retry --reason too_long`
