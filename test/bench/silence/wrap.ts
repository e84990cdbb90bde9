import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Column, ServerConfig } from './columns.ts'

export type Wrap = <S extends object>(server: S) => S

export type SdkV1 = {
  mcp: typeof import('@modelcontextprotocol/sdk/server/mcp.js')
  low: typeof import('@modelcontextprotocol/sdk/server/index.js')
  stdio: typeof import('@modelcontextprotocol/sdk/server/stdio.js')
  memory: typeof import('@modelcontextprotocol/sdk/inMemory.js')
  types: typeof import('@modelcontextprotocol/sdk/types.js')
}

type WrapConfig = Pick<ServerConfig, 'logs' | 'collector' | 'peers' | 'clock'>

/** What the authors of each tool tell their users to do, with its defaults. */
export async function wrapperOf(
  { id, options, needsPeers }: Pick<Column, 'id' | 'options' | 'needsPeers'>,
  config: WrapConfig,
): Promise<Wrap> {
  if (options) {
    const { unsilence } = await import('../../../server/index.ts')
    const { clock, logs } = config
    const now = clock === undefined ? {} : { now: () => Number(readFileSync(clock, 'utf8')) }
    return (server) => unsilence(server as never, { logs, ...options, ...now })
  }
  if (!needsPeers) return (server) => server
  const load = createRequire(join(config.peers, 'package.json'))
  switch (id) {
    case 'sentry':
      return sentry(load('@sentry/node'), config.collector)
    case 'agentcat': {
      const { track } = load('agentcat')
      const settings = { apiBaseUrl: config.collector, disableDiagnostics: true }
      return (server) => track(server, 'proj_bench', settings)
    }
    case 'mcp-trace': {
      const { FileAdapter, TraceMiddleware } = load('mcp-trace')
      const adapter = new FileAdapter(join(config.logs, 'trace.jsonl'))
      return (server) => {
        new TraceMiddleware({ adapter }).init(server)
        return server
      }
    }
    default:
      return (server) => server
  }
}

type Sentry = {
  init(options: object): void
  wrapMcpServerWithSentry<S>(server: S): S
  flush(ms: number): Promise<boolean>
}

function sentry({ init, wrapMcpServerWithSentry, flush }: Sentry, collector: string): Wrap {
  const { host, pathname } = new URL(collector)
  init({ dsn: `http://key@${host}/${pathname.slice(1)}`, tracesSampleRate: 1 })
  // A server that ends in good order sends what it has.
  process.stdin.on('end', () => void flush(2_000).then(() => process.exit(0)))
  return (server) => wrapMcpServerWithSentry(server)
}

/** A peer gets the SDK that is installed beside it, as it would in its users' projects. */
export async function sdkV1(
  { needsPeers }: Pick<Column, 'needsPeers'>,
  peers: string,
): Promise<SdkV1> {
  const name = '@modelcontextprotocol/sdk'
  if (needsPeers) {
    const load = createRequire(join(peers, 'package.json'))
    return {
      mcp: load(`${name}/server/mcp.js`),
      low: load(`${name}/server/index.js`),
      stdio: load(`${name}/server/stdio.js`),
      memory: load(`${name}/inMemory.js`),
      types: load(`${name}/types.js`),
    }
  }
  return {
    mcp: await import('@modelcontextprotocol/sdk/server/mcp.js'),
    low: await import('@modelcontextprotocol/sdk/server/index.js'),
    stdio: await import('@modelcontextprotocol/sdk/server/stdio.js'),
    memory: await import('@modelcontextprotocol/sdk/inMemory.js'),
    types: await import('@modelcontextprotocol/sdk/types.js'),
  }
}
