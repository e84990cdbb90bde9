import { type Command, Option } from 'commander'
import type { DemoService } from '../../server/demo/demo-server.ts'
import type { Upstream } from '../../server/demo/upstream.ts'
import { parsePort } from './options.ts'
import { note } from './output.ts'
import { stopSignal, untilAborted } from './stop-signal.ts'
import { UsageError } from './usage-error.ts'

const SERVICES = ['all', 'billing', 'docs-search'] as const satisfies readonly DemoService[]

type DemoServerFlags = {
  http?: true
  port?: number
  service: DemoService
  logs?: string
  upstream?: string
}

export function registerDemoServer(program: Command): void {
  program
    .command('demo-server')
    .description('a demo MCP server over a faulty upstream, for any MCP client')
    .option('--http', 'serve Streamable HTTP on 127.0.0.1 instead of stdio')
    .option('--port <number>', 'port for --http; 0 is any free one (default: 4750)', parsePort)
    .addOption(
      new Option('--service <name>', 'which tools it offers').choices(SERVICES).default('all'),
    )
    .option('--logs <directory>', 'where the call log goes (default: logs/ in the state directory)')
    .option('--upstream <url>', 'an upstream that runs already (default: one of its own)')
    .addHelpText('after', HELP)
    .action(serveDemo)
}

async function serveDemo(flags: DemoServerFlags): Promise<void> {
  if (flags.port !== undefined && !flags.http) {
    throw new UsageError('--port goes with --http: add --http, or leave --port out.')
  }
  const upstream = flags.upstream === undefined ? await startOwnUpstream() : undefined
  const options = {
    service: flags.service,
    upstreamUrl: upstream?.url ?? checkUrl(flags.upstream ?? ''),
    logs: flags.logs,
  }
  try {
    if (flags.http) await overHttp(options, flags.port ?? 4750)
    else await overStdio(options)
  } finally {
    await upstream?.close()
  }
}

type ServerOptions = {
  service: DemoService
  upstreamUrl: string
  logs?: string | undefined
}

async function overStdio(options: ServerOptions): Promise<void> {
  const { serveStdio } = await import('../../server/demo/stdio-server.ts')
  if (process.stdin.isTTY) {
    note('This is an MCP server: it waits for a client on stdin. Ctrl-C ends it.')
  }
  await serveStdio(options)
  // The client is gone: a call that still hangs in the upstream must not keep the process.
  process.exit()
}

async function overHttp(options: ServerOptions, port: number): Promise<void> {
  const [{ serveHttp }, { createDemoServer }] = await Promise.all([
    import('../../server/demo/http-server.ts'),
    import('../../server/demo/demo-server.ts'),
  ])
  const stop = stopSignal()
  const http = await serveHttp({ port, createServer: () => createDemoServer(options) })
  note(`MCP over Streamable HTTP: ${http.url}`)
  await untilAborted(stop)
  await http.close()
}

async function startOwnUpstream(): Promise<Upstream> {
  const { startUpstream } = await import('../../server/demo/upstream.ts')
  return startUpstream()
}

function checkUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text
  throw new UsageError(`--upstream "${text}" is no address: write one like http://127.0.0.1:4800.`)
}

const HELP = `
Examples:
  unsilent demo-server                       over stdio, as an MCP client starts it
  unsilent demo-server --http --port 4750    http://127.0.0.1:4750/mcp
  BILLING_EXPORT_KEY=any-value unsilent demo-server --service billing

Without BILLING_EXPORT_KEY the tool export_statement ends the server with exit code 78.`
