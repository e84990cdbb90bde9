import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import {
  type CallToolResult,
  Client,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { type NodeIncomingMessageLike, toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, InMemoryTransport } from '@modelcontextprotocol/server'
import { type LoggedCall, readCalls } from './demo-log.ts'
import { faultyV2Server } from './fixtures/v2-server.ts'
import { logDirectory, until } from './wrapper-harness.ts'

/** The protocol's two eras: a handshake a connection, or everything with each request. */
export type Era = '2025-11-25' | '2026-07-28'

export type V2Link = {
  client: Client
  logs: string
  /** Calls a tool and waits for the records it leaves. */
  call(tool: string, args?: unknown): Promise<{ result: CallToolResult; records: LoggedCall[] }>
  /** Waits for that many records since the last time this or `call` was asked. */
  newRecords(count: number): Promise<LoggedCall[]>
}

function createClient(era: Era): Client {
  const client = new Client(
    { name: 'v2-client', version: '3' },
    {
      capabilities: { elicitation: { form: {}, url: {} } },
      ...(era === '2026-07-28' ? { versionNegotiation: { mode: 'auto' } } : {}),
    },
  )
  client.setRequestHandler('elicitation/create', () => ({
    action: 'accept',
    content: { sure: true },
  }))
  return client
}

export async function linkInMemory(t: TestContext): Promise<V2Link> {
  const logs = logDirectory(t)
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair()
  const client = createClient('2025-11-25')
  await faultyV2Server(logs).connect(serverSide)
  await client.connect(clientSide)
  t.after(() => client.close())
  return link(client, logs)
}

/** A real child process served by `serveStdio`. */
export async function linkStdio(t: TestContext, era: Era): Promise<V2Link> {
  const logs = logDirectory(t)
  const client = createClient(era)
  const script = join(import.meta.dirname, 'fixtures', 'v2-stdio-server.ts')
  t.after(() => client.close())
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: ['--import', 'tsx', script, logs],
      env: environment(),
    }),
  )
  return link(client, logs)
}

function environment(): Record<string, string> {
  const entries = Object.entries(process.env)
  return Object.fromEntries(entries.flatMap(([key, value]) => (value ? [[key, value]] : [])))
}

/** `createMcpHandler` behind a real HTTP server: a new McpServer for every request. */
export async function linkHttp(t: TestContext, era: Era): Promise<V2Link & { url: URL }> {
  const logs = logDirectory(t)
  const handle = toNodeHandler(createMcpHandler(() => faultyV2Server(logs)))
  const http = createServer((request, response) => {
    void handle(request as NodeIncomingMessageLike, response)
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  t.after(() => {
    http.closeAllConnections()
    http.close()
  })
  const url = new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`)
  const client = createClient(era)
  await client.connect(new StreamableHTTPClientTransport(url))
  t.after(() => client.close())
  return { ...link(client, logs), url }
}

function link(client: Client, logs: string): V2Link {
  let seen = 0
  const newRecords = async (count: number) => {
    const records = await until(() => {
      const all = readCalls(logs).slice(seen)
      return all.length >= count ? all : undefined
    }, `${count} new records`)
    seen += records.length
    return records
  }
  return {
    client,
    logs,
    newRecords,
    async call(tool, args) {
      const params = args === undefined ? { name: tool } : { name: tool, arguments: args }
      const result = (await client.callTool(params as { name: string })) as CallToolResult
      return { result, records: await newRecords(1) }
    },
  }
}
