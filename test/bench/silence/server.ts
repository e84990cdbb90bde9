/** A server with every fault as a tool, on the SDK and behind the wrapper of one column. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { McpServer as McpServerV2 } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { type Column, columns, type ServerConfig } from './columns.ts'
import { toolsOf } from './corpus.ts'
import type { Tool, ToolContext } from './fault.ts'
import { createUpstream } from './upstream.ts'

type Sdk = {
  mcp: typeof import('@modelcontextprotocol/sdk/server/mcp.js')
  low: typeof import('@modelcontextprotocol/sdk/server/index.js')
  stdio: typeof import('@modelcontextprotocol/sdk/server/stdio.js')
  types: typeof import('@modelcontextprotocol/sdk/types.js')
}

const config = JSON.parse(process.argv[2] ?? '{}') as ServerConfig
const column = columns.find(({ id }) => id === config.column) as Column
const info = { name: `bench-${config.level}`, version: '1' }
const upstream = createUpstream()

const wrap = await wrapperOf(column)
if (column.sdk === 'v2') await serveV2()
else await serveV1()

/** What the authors of each tool tell their users to do, with its defaults. */
async function wrapperOf({
  id,
  options,
  needsPeers,
}: Column): Promise<<S extends object>(server: S) => S> {
  if (options) {
    const { unsilence } = await import('../../../server/index.ts')
    const { clock, logs } = config
    const now = clock === undefined ? {} : { now: () => Number(readFileSync(clock, 'utf8')) }
    return (server) => unsilence(server as never, { ...options, logs, ...now })
  }
  if (!needsPeers) return (server) => server
  const load = createRequire(join(config.peers, 'package.json'))
  switch (id) {
    case 'sentry':
      return sentry(load('@sentry/node'))
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

function sentry({ init, wrapMcpServerWithSentry, flush }: Sentry) {
  const { host, pathname } = new URL(config.collector)
  init({ dsn: `http://key@${host}/${pathname.slice(1)}`, tracesSampleRate: 1 })
  // A server that ends in good order sends what it has.
  process.stdin.on('end', () => void flush(2_000).then(() => process.exit(0)))
  return <S extends object>(server: S) => wrapMcpServerWithSentry(server)
}

async function serveV1(): Promise<void> {
  const { mcp, low, stdio, types } = await sdkV1()
  const transport = new stdio.StdioServerTransport()
  if (config.level === 'low') {
    const server = wrap(new low.Server(info, { capabilities: { tools: {} } }))
    server.setRequestHandler(types.ListToolsRequestSchema, () => ({ tools: listed() }) as never)
    server.setRequestHandler(types.CallToolRequestSchema, ({ params }, extra) =>
      runLow(params.name, params.arguments, { signal: extra.signal, request: extra.requestId }),
    )
    await server.connect(transport)
    return
  }
  const server = wrap(new mcp.McpServer(info))
  for (const [name, tool] of toolsOf('high')) {
    const run = (args: Record<string, unknown>, extra: ExtraV1) =>
      tool.run(args, { signal: extra.signal, request: extra.requestId, upstream }) as never
    const settings = settingsOf(tool)
    const registered = tool.input
      ? server.registerTool(name, { ...settings, inputSchema: tool.input }, run as never)
      : server.registerTool(name, settings, ((extra: ExtraV1) => run({}, extra)) as never)
    if (tool.disabled) registered.disable()
  }
  await server.connect(transport)
}

type ExtraV1 = { signal: AbortSignal; requestId: string | number }

function settingsOf({ output, readOnly }: Tool) {
  return {
    ...(output ? { outputSchema: output } : {}),
    ...(readOnly ? { annotations: { readOnlyHint: true } } : {}),
  }
}

/** A peer gets the SDK that is installed beside it, as it would in its users' projects. */
async function sdkV1(): Promise<Sdk> {
  const name = '@modelcontextprotocol/sdk'
  if (column.needsPeers) {
    const load = createRequire(join(config.peers, 'package.json'))
    return {
      mcp: load(`${name}/server/mcp.js`),
      low: load(`${name}/server/index.js`),
      stdio: load(`${name}/server/stdio.js`),
      types: load(`${name}/types.js`),
    }
  }
  return {
    mcp: await import('@modelcontextprotocol/sdk/server/mcp.js'),
    low: await import('@modelcontextprotocol/sdk/server/index.js'),
    stdio: await import('@modelcontextprotocol/sdk/server/stdio.js'),
    types: await import('@modelcontextprotocol/sdk/types.js'),
  }
}

async function serveV2(): Promise<void> {
  const { serveStdio } = await import('@modelcontextprotocol/server/stdio')
  const v2 = await import('@modelcontextprotocol/server')
  serveStdio(() => {
    if (config.level === 'low') {
      const server = wrap(new v2.Server(info, { capabilities: { tools: {} } }))
      server.setRequestHandler('tools/list', () => ({ tools: listed() }) as never)
      server.setRequestHandler('tools/call', ({ params }, { mcpReq }) =>
        runLow(params.name, params.arguments, { signal: mcpReq.signal, request: mcpReq.id }),
      )
      return server
    }
    const server = wrap(new v2.McpServer(info))
    for (const [name, tool] of toolsOf('high')) registerV2(server, name, tool)
    return server
  })
}

type ContextV2 = { mcpReq: { signal: AbortSignal; id: string | number } }

function registerV2(server: McpServerV2, name: string, tool: Tool): void {
  const run = (args: Record<string, unknown>, { mcpReq }: ContextV2) =>
    tool.run(args, { signal: mcpReq.signal, request: mcpReq.id, upstream }) as never
  const settings = {
    ...(tool.output ? { outputSchema: z.object(tool.output) } : {}),
    ...(tool.readOnly ? { annotations: { readOnlyHint: true } } : {}),
  }
  const registered = tool.input
    ? server.registerTool(name, { ...settings, inputSchema: z.object(tool.input) }, run as never)
    : server.registerTool(name, settings, ((context: ContextV2) => run({}, context)) as never)
  if (tool.disabled) registered.disable()
}

/** As such handlers are written: a switch over names that forgets its default. */
function runLow(name: string, args: unknown, context: Omit<ToolContext, 'upstream'>): never {
  const tool = toolsOf('low').get(name)
  return tool?.run(args as Record<string, unknown>, { ...context, upstream }) as never
}

function listed() {
  const required = { low_type_error: 'address', low_null_arguments: 'q' } as Record<string, string>
  return [...toolsOf('low').keys()].map((name) => {
    const key = required[name]
    const inputSchema = key
      ? { type: 'object', properties: { [key]: { type: 'string' } }, required: [key] }
      : { type: 'object' }
    return { name, inputSchema }
  })
}
