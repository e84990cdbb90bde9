/** A server with every fault as a tool, on the SDK and behind the wrapper of one column. */
import type { McpServer as McpServerV2 } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { type Column, columns, type ServerConfig } from './columns.ts'
import { toolsOf } from './corpus.ts'
import type { Tool, ToolContext } from './fault.ts'
import { createUpstream } from './upstream.ts'
import { sdkV1, wrapperOf } from './wrap.ts'

const config = JSON.parse(process.argv[2] ?? '{}') as ServerConfig
const column = columns.find(({ id }) => id === config.column) as Column
const info = { name: `bench-${config.level}`, version: '1' }
const upstream = createUpstream()

const wrap = await wrapperOf(column, config)
if (column.sdk === 'v2') await serveV2()
else await serveV1()

async function serveV1(): Promise<void> {
  const { mcp, low, stdio, types } = await sdkV1(column, config.peers)
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
