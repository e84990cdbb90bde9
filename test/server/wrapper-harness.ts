import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { type UnsilenceOptions, unsilence } from '../../server/index.ts'
import { type LoggedCall, readCalls } from './demo-log.ts'

// The key of redaction belongs to the test, not to whoever runs it.
if (process.env.UNSILENT_HOME === undefined) {
  const home = mkdtempSync(join(tmpdir(), 'unsilent-home-'))
  process.env.UNSILENT_HOME = home
  process.on('exit', () => rmSync(home, { recursive: true, force: true }))
}

export type Wrapped = {
  server: McpServer
  client: Client
  logs: string
  /** Calls as a client does: an answer the client's own SDK would refuse rejects. */
  call(name: string, args?: Record<string, unknown>): Promise<CallToolResult>
  calls(): LoggedCall[]
}

export function logDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'unsilent-wrapper-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** A wrapped McpServer in this process, and a real client connected to it. */
export async function startWrapped(
  t: TestContext,
  register: (server: McpServer) => void,
  options: UnsilenceOptions = {},
): Promise<Wrapped> {
  const logs = logDirectory(t)
  const server = unsilence(new McpServer({ name: 'shop', version: '1.2.3' }), { logs, ...options })
  register(server)
  const client = await connectClient(t, server)
  return {
    server,
    client,
    logs,
    async call(name, args) {
      const params = args === undefined ? { name } : { name, arguments: args }
      return (await client.callTool(params)) as CallToolResult
    },
    calls: () => readCalls(logs),
  }
}

export async function connectClient(t: TestContext, server: McpServer | Server): Promise<Client> {
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair()
  const client = new Client({ name: 'test-client', version: '9' })
  await server.connect(serverSide)
  await client.connect(clientSide)
  t.after(() => client.close())
  return client
}

/** The result's texts, one a line. */
export function textOf(result: CallToolResult): string {
  return result.content.map((block) => (block.type === 'text' ? block.text : block.type)).join('\n')
}

export function text(words: string): CallToolResult {
  return { content: [{ type: 'text', text: words }] }
}

/** Polls, since a loaded machine has no fixed times. */
export async function until<T>(look: () => T | undefined, what: string): Promise<T> {
  const end = Date.now() + 15_000
  for (;;) {
    const found = look()
    if (found !== undefined) return found
    if (Date.now() > end) throw new Error(`gave up waiting for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
