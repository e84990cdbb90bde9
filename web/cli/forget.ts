import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import type { ForgetWhat } from '../../ingest/store/forget-what.ts'
import type { Answer } from '../../ingest/store/requests.ts'
import { defaultDatabasePath } from '../../server/call-log/state-directory.ts'
import { parseTimeText } from '../queries/time-text.ts'
import { CommandError } from './command-error.ts'
import { EXIT } from './exit-codes.ts'
import { parseZone } from './options.ts'
import { note, writeData } from './output.ts'
import { stopSignal } from './stop-signal.ts'
import { UsageError } from './usage-error.ts'
import { localZone } from './web.ts'

type ForgetFlags = {
  session?: string
  tool?: string
  before?: string
  tz?: string
  db?: string
  yes?: true
}

export function registerForget(program: Command): void {
  program
    .command('forget')
    .description('remove calls from the database for good')
    .option('--session <key>', 'the calls of this session')
    .option('--tool <name>', 'the calls of this tool, on every server')
    .option('--before <time>', 'the calls before this time: 90d, 2026-03-08, an ISO time')
    .option('--tz <zone>', "time zone of --before (default: this machine's)", parseZone)
    .option('--yes', 'do not ask')
    .option('--db <file>', 'the database (default: unsilent.db in the state directory)')
    .addHelpText('after', HELP)
    .action(forget)
}

async function forget(flags: ForgetFlags): Promise<void> {
  const what = whatOf(flags)
  const databasePath = flags.db ?? defaultDatabasePath()
  const calls = await countCalls(databasePath, what)
  if (!flags.yes && !(await isConfirmed(`Forget ${plural(calls, 'call')} ${wordsFor(what)}?`))) {
    note('Nothing was removed.')
    return
  }
  const { carryOut } = await import('../../ingest/worker/carry-out.ts')
  const answer = await carryOut({
    databasePath,
    kind: 'forget',
    parameters: what,
    signal: stopSignal(),
    onWaiting: (sentence) => note(`unsilent: ${sentence}`),
  })
  await tell(answer)
}

function whatOf({ session, tool, before, tz }: ForgetFlags): ForgetWhat {
  const given = [session, tool, before].filter((value) => value !== undefined)
  if (given.length !== 1 || given[0] === '') {
    throw new UsageError('Say what to forget with one of --session, --tool and --before.')
  }
  if (session !== undefined) return { what: 'session', session }
  if (tool !== undefined) return { what: 'tool', tool }
  const zone = tz ?? localZone()
  const time = parseTimeText(before as string, { nowMs: Date.now(), zone, edge: 'start' })
  if (typeof time === 'string') throw new UsageError(`--before: ${time}.`)
  return { what: 'before', beforeMs: time.ms }
}

function wordsFor(what: ForgetWhat): string {
  if (what.what === 'session') return `of the session ${JSON.stringify(what.session)}`
  if (what.what === 'tool') return `of the tool ${JSON.stringify(what.tool)}`
  return `before ${new Date(what.beforeMs).toISOString()}`
}

async function countCalls(databasePath: string, what: ForgetWhat): Promise<number> {
  const { openReader } = await import('../../ingest/store/open-database.ts')
  const { countToForget } = await import('../../ingest/store/forget-what.ts')
  const database = openReader(databasePath)
  try {
    return countToForget(database, what)
  } finally {
    database.close()
  }
}

/** A script has nobody to ask. */
export async function isConfirmed(
  question: string,
  input: NodeJS.ReadableStream & { isTTY?: boolean } = process.stdin,
  output: NodeJS.WritableStream = process.stderr,
): Promise<boolean> {
  if (!input.isTTY) {
    throw new UsageError('There is no terminal to ask at: add --yes if you mean it.')
  }
  const terminal = createInterface({ input, output })
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim())
  } finally {
    terminal.close()
  }
}

async function tell(answer: Answer | undefined): Promise<void> {
  if (!answer) {
    throw new CommandError(
      'Stopped before the end: what was removed stays removed; run it again for the rest.',
      EXIT.failure,
    )
  }
  if (answer.outcome === 'refused') throw new CommandError(answer.reason, EXIT.failure)
  const { calls = 0, onlyCounted = 0, events = 0, refusedSamples = 0, clean = 0 } = answer.counts
  await writeData(
    [
      `Forgotten: ${plural(calls, 'call')}, ${plural(onlyCounted, 'call')} that had been counted only,`,
      ` ${plural(events, 'process record')}, the samples of ${plural(refusedSamples, 'refused line')}.\n`,
    ].join(''),
  )
  note(
    clean === 1
      ? 'The database file was rewritten without them.'
      : 'The database file could not be rewritten (no space, or a reader in the way): remains may be in its unused parts; run the same command again.',
  )
  note(
    'Log files were not touched: delete them yourself, or let them go by age. They are not read again.',
  )
}

const format = new Intl.NumberFormat('en-US')

function plural(count: number, word: string): string {
  return `${format.format(count)} ${word}${count === 1 ? '' : 's'}`
}

const HELP = `
Where an ingester is running it does the work between two looks at the logs.

Examples:
  unsilent forget --session 3f6c0d21
  unsilent forget --tool get_invoice --yes
  unsilent forget --before 2026-01-01`
