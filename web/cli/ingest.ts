import { mkdirSync } from 'node:fs'
import { type Command, Option } from 'commander'
import type { IngestSummary } from '../../ingest/run-ingest.ts'
import type { RetentionLimits } from '../../ingest/worker/retention.ts'
import { defaultDatabasePath, defaultLogDirectory } from '../../server/call-log/state-directory.ts'
import { runAsChild, tellParent } from './child-messages.ts'
import { CommandError } from './command-error.ts'
import { EXIT } from './exit-codes.ts'
import { progressText } from './import-progress.ts'
import { note, progressLine } from './output.ts'
import { addRetentionOptions, type RetentionFlags, retentionOf } from './retention-options.ts'
import { stopSignal } from './stop-signal.ts'
import { UsageError } from './usage-error.ts'

type IngestFlags = RetentionFlags & {
  logs?: string
  db?: string
  once?: true
  fromBeginning?: true
  fromNow?: true
  supervised?: true
}

export function registerIngest(program: Command): void {
  const command = program
    .command('ingest')
    .description('read call logs into the database, and follow them')
    .argument('[roots...]', 'directories, files or globs (default: the log directory)')
    .option('--logs <directory>', 'the log directory (default: logs/ in the state directory)')
    .option('--db <file>', 'the database (default: unsilent.db in the state directory)')
    .option('--once', 'read what is there, then end')
    .option('--from-beginning', 'read new files from their beginning (the default)')
    .option('--from-now', 'pass over what stands in files that were never read before')
  addRetentionOptions(command)
    .addOption(new Option('--supervised').hideHelp())
    .addHelpText('after', HELP)
    .action(ingest)
}

async function ingest(roots: string[], flags: IngestFlags): Promise<void> {
  if (roots.length > 0 && flags.logs !== undefined) {
    throw new UsageError('Name the logs either as arguments or with --logs, not both.')
  }
  if (flags.fromNow && flags.fromBeginning) {
    throw new UsageError('Choose --from-beginning or --from-now, not both.')
  }
  const from = roots.length > 0 ? roots : [logDirectory(flags.logs)]
  const options = {
    roots: from,
    databasePath: flags.db ?? defaultDatabasePath(),
    once: flags.once === true,
    fromNow: flags.fromNow === true,
    retention: retentionOf(flags),
  }
  if (flags.supervised) await ingestAsChild(options)
  else await ingestOrHandOver(options)
}

/** How often an import that nobody watches says how far it is. */
const PLAIN_EVERY_MS = 10_000

type Options = {
  roots: string[]
  databasePath: string
  once: boolean
  fromNow: boolean
  retention: RetentionLimits
}

/** Where another process ingests into the database, an import is left to that one. */
async function ingestOrHandOver(options: Options): Promise<void> {
  const { LeaseError } = await import('../../ingest/worker/lease.ts')
  const signal = stopSignal()
  for (;;) {
    try {
      return await ingestOnTerminal(options, signal)
    } catch (error) {
      const mayHandOver = options.once && !options.fromNow
      if (!(error instanceof LeaseError) || !mayHandOver) throw error
      if (await isImportedBy(error.pid, options, signal)) return
    }
  }
}

/** False if the other process has ended meanwhile. */
async function isImportedBy(
  pid: number | undefined,
  options: Options,
  signal: AbortSignal,
): Promise<boolean> {
  const { handOver } = await import('../../ingest/worker/hand-over.ts')
  const holder = pid === undefined ? 'Another process' : `Process ${pid}`
  note(`${holder} ingests into this database and imports these files too; waiting for it.`)
  const answer = await handOver({ ...options, signal })
  if (answer === 'free') return false
  if (answer?.outcome === 'refused') throw new CommandError(answer.reason, EXIT.leaseHeld)
  if (answer) note(`${count.format(answer.counts.rows ?? 0)} calls were read meanwhile.`)
  return true
}

async function ingestOnTerminal(options: Options, signal: AbortSignal): Promise<void> {
  const { runIngest } = await import('../../ingest/run-ingest.ts')
  const line = progressLine({ plainEveryMs: PLAIN_EVERY_MS })
  const tellProblems = problemTeller((problem) => {
    line.end()
    note(`unsilent: ${problem}`)
  })
  const summary = await runIngest({
    ...options,
    signal,
    onProgress(progress) {
      tellProblems(progress.problems)
      if (!progress.caughtUp || !options.once)
        line.show(progressText(progress, { bar: process.stderr.isTTY === true }))
    },
  }).finally(() => line.end())
  note(summaryText(summary))
  // They were told; a script has to notice too.
  if (options.once && summary.problems.length > 0) process.exitCode = EXIT.failure
}

async function ingestAsChild(options: Options): Promise<void> {
  await runAsChild(async () => {
    const { runIngest } = await import('../../ingest/run-ingest.ts')
    let toldReady = false
    await runIngest({
      ...options,
      signal: stopSignal(),
      onProgress(progress) {
        if (!toldReady) tellParent({ kind: 'ready' })
        toldReady = true
        tellParent({ kind: 'progress', progress })
      },
    })
  })
}

/** The directory that was named, or the default one, made so that it can be watched from now on. */
export function logDirectory(named: string | undefined): string {
  if (named !== undefined) return named
  const directory = defaultLogDirectory()
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  return directory
}

/** Tells each problem when it comes up, not on every look. */
export function problemTeller(tell: (problem: string) => void): (problems: string[]) => void {
  let known: readonly string[] = []
  return (problems) => {
    for (const problem of problems) if (!known.includes(problem)) tell(problem)
    known = problems
  }
}

const count = new Intl.NumberFormat('en-US')

export function summaryText(summary: IngestSummary): string {
  const refused = Object.entries(summary.quarantined)
  const refusedText = refused
    .map(([reason, lines]) => `${count.format(lines)} ${reason}`)
    .join(', ')
  return [
    `${count.format(summary.rows)} calls from ${count.format(summary.files)} files`,
    `${count.format(summary.duplicates)} known already`,
    `${refusedText || 'no'} lines refused`,
    ...(summary.removed.calls > 0
      ? [`${count.format(summary.removed.calls)} calls removed for their age or for space`]
      : []),
    `${summary.seconds.toFixed(1)} s.`,
  ].join(', ')
}

const HELP = `
Examples:
  unsilent ingest                            follow the log directory until Ctrl-C
  unsilent ingest --once ./logs --db calls.db
  unsilent ingest ./logs '/srv/**/*.jsonl' --from-now`
