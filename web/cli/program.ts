import { Command, type CommanderError } from 'commander'
import { registerDemo } from './demo.ts'
import { registerDemoServer } from './demo-server.ts'
import { registerDemoWorld } from './demo-world.ts'
import { registerDoctor } from './doctor.ts'
import { registerFailures } from './failures.ts'
import { registerForget } from './forget.ts'
import { registerIngest } from './ingest.ts'
import { registerQuarantine } from './quarantine.ts'
import { registerServe } from './serve.ts'
import { sentenceOf, UsageError } from './usage-error.ts'
import { packageVersion } from './version.ts'
import { registerWeb } from './web.ts'

const HELP_WIDTH = 100

/** Everything a command needs is loaded when it runs, so that help and version are instant. */
export function createProgram(): Command {
  const program = new Command('unsilent')
    .description('No MCP tool call fails in silence: call logs, their database and a dashboard.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .addHelpText('after', HELP)
    // Else --version of a command would be taken for the program's.
    .enablePositionalOptions()
    .configureHelp({ helpWidth: HELP_WIDTH })
    .configureOutput({ outputError: () => undefined })

  registerDemo(program)
  registerDemoServer(program)
  registerServe(program)
  registerIngest(program)
  registerWeb(program)
  registerFailures(program)
  registerDoctor(program)
  registerQuarantine(program)
  registerForget(program)
  registerDemoWorld(program)

  for (const command of [program, ...program.commands]) {
    command.exitOverride((error) => refuse(error, command))
  }
  return program
}

function refuse(error: CommanderError, command: Command): never {
  if (error.exitCode === 0 || error.code === 'commander.help') throw error
  throw new UsageError(sentenceOf(error, pathOf(command)))
}

function pathOf(command: Command): string {
  return command.parent ? `${command.parent.name()} ${command.name()}` : command.name()
}

const HELP = `
Examples:
  unsilent demo                              a demo with invented data, in the browser
  unsilent serve                             ingest your servers' logs and show them
  unsilent failures --tool get_invoice --since 24h

Logs and database: $UNSILENT_HOME, or the platform's directory for state.
Exit codes: 0 fine, 1 failure, 2 wrong usage, 75 another process ingests, 78 fatal configuration.`
