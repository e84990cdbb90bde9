import { type Command, Option } from 'commander'
import { defaultDatabasePath } from '../../server/call-log/state-directory.ts'
import type { CallStore } from '../queries/call-store.ts'
import type { Filter } from '../queries/filter.ts'
import { FILTER_FLAGS, type FlagValues, filterFromFlags } from '../queries/filter-flags.ts'
import { type FailureRow, failureRows } from './failure-rows.ts'
import { parsePositive } from './options.ts'
import { mayStyle, note, writeData } from './output.ts'
import { type Column, formatTable, formatTsv } from './table.ts'
import { UsageError } from './usage-error.ts'
import { localZone } from './web.ts'

const DEFAULT_LIMIT = 50

type OwnFlags = { format: string; db?: string; limit: number }

export function registerFailures(program: Command): void {
  const command = program
    .command('failures')
    .description('which tools fail, and how: one row for each tool and error class')
  for (const { flag, placeholder, repeatable, help } of FILTER_FLAGS) {
    const option = new Option(`--${flag} <${placeholder}>`, help)
    command.addOption(repeatable ? option.argParser(collect) : option)
  }
  command
    .addOption(new Option('--format <name>', 'output').choices(['table', 'json']).default('table'))
    .addOption(
      new Option('--limit <number>', 'most rows').argParser(parsePositive).default(DEFAULT_LIMIT),
    )
    .option('--db <file>', 'the database (default: unsilent.db in the state directory)')
    .addHelpText('after', HELP)
    .action(failures)
}

function collect(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value]
}

/** The rest are the filter's flags. */
async function failures({ format, limit, db, ...values }: OwnFlags): Promise<void> {
  const filter = filterOf(values)
  const { openCallStore } = await import('../queries/sqlite-call-store.ts')
  const store = openCallStore(db ?? defaultDatabasePath())
  try {
    const rows = failureRows(store, filter, limit)
    await writeData(format === 'json' ? asJson(rows, filter) : asText(rows, filter))
    if (rows.length === 0) note(nothingFound(store, filter))
  } finally {
    store.close()
  }
}

function filterOf(values: FlagValues): Filter {
  const parsed = filterFromFlags(values, { nowMs: Date.now(), defaultZone: localZone() })
  if (parsed.ok) return parsed.filter
  throw new UsageError(parsed.problems.map(({ name, message }) => `${name}: ${message}`).join('; '))
}

function asText(rows: readonly FailureRow[], { zone }: Filter): string {
  const columns = columnsFor(zone)
  if (!process.stdout.isTTY) return formatTsv(rows, columns)
  return formatTable(rows, columns, {
    width: process.stdout.columns || 80,
    styled: mayStyle(process.stdout),
  })
}

/** One document with keys in order; `version` changes only when a key changes its meaning. */
function asJson(rows: readonly FailureRow[], filter: Filter): string {
  const document = {
    failures: rows.map((row) => ({
      calls: row.calls,
      class: row.class,
      failures: row.failures,
      last: new Date(row.lastMs).toISOString(),
      last_call: row.lastCall ?? null,
      last_message: row.lastMessage ?? null,
      server: row.server,
      tool: row.tool,
    })),
    from: new Date(filter.fromMs).toISOString(),
    to: new Date(filter.toMs).toISOString(),
    version: 1,
    zone: filter.zone,
  }
  return `${JSON.stringify(document, undefined, 2)}\n`
}

function columnsFor(zone: string): Column<FailureRow>[] {
  const time = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'short',
  })
  return [
    { title: 'SERVER', text: (row) => row.server },
    { title: 'TOOL', text: (row) => row.tool },
    { title: 'CLASS', text: (row) => row.class },
    { title: 'FAILURES', align: 'right', text: (row) => String(row.failures) },
    { title: 'OF CALLS', align: 'right', text: (row) => String(row.calls) },
    { title: 'LAST', text: (row) => time.format(row.lastMs) },
    { title: 'CALL', align: 'right', text: (row) => String(row.lastCall ?? '') },
    { title: 'MESSAGE', flexible: true, text: (row) => row.lastMessage ?? '' },
  ]
}

function nothingFound(store: CallStore, filter: Filter): string {
  const { calls } = store.keyFigures(filter)
  const range = `between ${new Date(filter.fromMs).toISOString()} and ${new Date(filter.toMs).toISOString()}`
  if (calls > 0) return `No failures among ${calls} calls ${range}.`
  return `No calls match ${range}: widen --since, or check --tool and --class.`
}

const HELP = `
Examples:
  unsilent failures --since 24h
  unsilent failures --tool get_exchange_rate --class timeout --tod 02:00-03:00 --tz Europe/Berlin
  unsilent failures --tool '!search_documents' --format json | jq '.failures[].tool'`
