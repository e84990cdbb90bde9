import type { Command } from 'commander'
import { defaultDatabasePath } from '../../server/call-log/state-directory.ts'
import { parsePort, parseZone } from './options.ts'
import { writeData } from './output.ts'
import { stopSignal, untilAborted } from './stop-signal.ts'

export const DEFAULT_PORT = 4747
export const HOST = '127.0.0.1'

type WebFlags = { db?: string; port?: number; tz?: string }

export function registerWeb(program: Command): void {
  program
    .command('web')
    .description('the dashboard over a database that is there')
    .option('--db <file>', 'the database (default: unsilent.db in the state directory)')
    .option('--port <number>', `0 is any free one (default: ${DEFAULT_PORT})`, parsePort)
    .option(
      '--tz <zone>',
      "time zone of the pages, as Europe/Berlin (default: this machine's)",
      parseZone,
    )
    .addHelpText('after', HELP)
    .action(web)
}

async function web(flags: WebFlags): Promise<void> {
  const { startWeb } = await import('../start-web.ts')
  const stop = stopSignal()
  const running = await startWeb({
    databasePath: flags.db ?? defaultDatabasePath(),
    host: HOST,
    port: flags.port ?? DEFAULT_PORT,
    allowNextPort: false,
    zone: flags.tz ?? localZone(),
  })
  await writeData(`Dashboard: ${running.url}\n`)
  await untilAborted(stop)
  await running.close()
}

export function localZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}

const HELP = `
Examples:
  unsilent web
  unsilent web --db calls.db --port 8080 --tz Europe/Berlin`
