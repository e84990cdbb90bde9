import type { Command } from 'commander'
import { defaultDatabasePath } from '../../server/call-log/state-directory.ts'
import { CommandError } from './command-error.ts'
import { EXIT } from './exit-codes.ts'
import { logDirectory, problemTeller } from './ingest.ts'
import { existingDirectory, parsePort, parseZone } from './options.ts'
import { note, writeData } from './output.ts'
import { addRetentionOptions, type RetentionFlags, retentionArgs } from './retention-options.ts'
import { stopSignal, unlessAborted, untilAborted } from './stop-signal.ts'
import { type Supervised, supervise } from './supervise.ts'
import { DEFAULT_PORT, HOST, localZone } from './web.ts'

type ServeFlags = RetentionFlags & { logs?: string; db?: string; port?: number; tz?: string }

export function registerServe(program: Command): void {
  const command = program
    .command('serve')
    .description('ingest and dashboard together')
    .option('--logs <directory>', 'the log directory (default: logs/ in the state directory)')
    .option('--db <file>', 'the database (default: unsilent.db in the state directory)')
    .option('--port <number>', `0 is any free one (default: ${DEFAULT_PORT})`, parsePort)
    .option(
      '--tz <zone>',
      "time zone of the pages, as Europe/Berlin (default: this machine's)",
      parseZone,
    )
  addRetentionOptions(command).addHelpText('after', HELP).action(serve)
}

async function serve(flags: ServeFlags): Promise<void> {
  const logs = logDirectory(flags.logs === undefined ? undefined : existingDirectory(flags.logs))
  const databasePath = flags.db ?? defaultDatabasePath()
  const { startWeb } = await import('../start-web.ts')
  const stop = stopSignal()
  const ingest = superviseIngest({
    roots: [logs],
    databasePath,
    args: retentionArgs(flags),
    onTrouble: note,
    stop,
  })
  try {
    if (!(await unlessAborted(stop, ingest.ready.catch(acceptOtherIngester)))) return
    const running = await startWeb({
      databasePath,
      host: HOST,
      port: flags.port ?? DEFAULT_PORT,
      allowNextPort: false,
      zone: flags.tz ?? localZone(),
    })
    note(`Logs: ${logs}`)
    note(`Database: ${databasePath}`)
    await writeData(`Dashboard: ${running.url}\n`)
    await untilAborted(stop)
    await running.close()
  } finally {
    await ingest.stop()
  }
}

export function superviseIngest(options: {
  roots: readonly string[]
  databasePath: string
  /** More flags of `ingest`. */
  args?: readonly string[]
  env?: NodeJS.ProcessEnv | undefined
  stderr?: number | undefined
  onTrouble(sentence: string): void
  stop: AbortSignal
  onProgress?: Parameters<typeof supervise>[0]['onMessage']
}): Supervised {
  const tellProblems = problemTeller(options.onTrouble)
  return supervise({
    title: 'The ingest worker',
    args: [
      ...['ingest', '--supervised', '--db', options.databasePath],
      ...(options.args ?? []),
      ...['--', ...options.roots],
    ],
    env: options.env,
    stderr: options.stderr,
    onTrouble: options.onTrouble,
    stop: options.stop,
    onMessage(message) {
      if (message.kind === 'progress') tellProblems(message.progress.problems)
      options.onProgress?.(message)
    },
  })
}

/** Where somebody else ingests into this database, its pages are as good. */
function acceptOtherIngester(error: unknown): void {
  if (!(error instanceof CommandError) || error.exitCode !== EXIT.leaseHeld) throw error
  note(`unsilent: ${error.message}`)
}

const HELP = `
Examples:
  unsilent serve                             http://127.0.0.1:${DEFAULT_PORT}
  unsilent serve --logs ./logs --db calls.db --port 8080`
