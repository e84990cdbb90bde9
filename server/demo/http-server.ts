import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'

const HOST = '127.0.0.1'
const PATH = '/mcp'
const LOOPBACK_NAMES = [HOST, 'localhost', '[::1]']
const MAX_SESSIONS = 100

export type HttpServerOptions = {
  /** Called for each session: no two of them share a server or a transport. */
  createServer(): McpServer
  /** 0 or absent: any free one. */
  port?: number | undefined
}

export type RunningHttpServer = { url: string; close(): Promise<void> }

type Session = { transport: StreamableHTTPServerTransport; server: McpServer }

/**
 * Serves MCP over Streamable HTTP on loopback. A browser page can reach loopback too, so a foreign
 * Host or Origin is refused; MCP clients send no Origin at all, and that is fine here.
 */
export async function serveHttp(options: HttpServerOptions): Promise<RunningHttpServer> {
  const sessions = new Map<string, Session>()
  let port = 0

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const refusal = refusalOf(request, port)
    if (refusal) return refuse(response, refusal)
    const id = request.headers['mcp-session-id']
    if (id === undefined) {
      const { server, transport } = await openSession(sessions, options)
      await transport.handleRequest(request, response)
      // It was no initialize request: nobody can come back to this pair.
      if (transport.sessionId === undefined) await server.close()
      return
    }
    const session = typeof id === 'string' ? sessions.get(id) : undefined
    if (!session) {
      return refuse(response, { status: 404, message: 'No such session: initialize a new one.' })
    }
    return session.transport.handleRequest(request, response)
  }

  const http = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      refuse(response, { status: 500, message: 'The request could not be handled.' })
      process.stderr.write(`unsilent: ${error instanceof Error ? error.message : error}\n`)
    })
  })
  port = await listen(http, options.port ?? 0)

  return {
    url: `http://${HOST}:${port}${PATH}`,
    async close() {
      for (const { server } of sessions.values()) await server.close()
      sessions.clear()
      await new Promise<void>((resolve) => {
        http.close(() => resolve())
        http.closeAllConnections()
      })
    },
  }
}

async function openSession(
  sessions: Map<string, Session>,
  options: HttpServerOptions,
): Promise<Session> {
  const server = options.createServer()
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized(id) {
      sessions.set(id, session)
    },
    onsessionclosed(id) {
      sessions.delete(id)
    },
  })
  const session = { server, transport }
  await closeOldest(sessions)
  // The SDK's own transport class and interface disagree under exactOptionalPropertyTypes.
  await server.connect(transport as Parameters<McpServer['connect']>[0])
  return session
}

/** Clients often leave without closing their session; the oldest give way. */
async function closeOldest(sessions: Map<string, Session>): Promise<void> {
  while (sessions.size >= MAX_SESSIONS) {
    const [oldest] = sessions
    if (!oldest) return
    const [id, { server }] = oldest
    sessions.delete(id)
    await server.close()
  }
}

type Refusal = { status: number; message: string }

function refusalOf(request: IncomingMessage, port: number): Refusal | undefined {
  const hosts = LOOPBACK_NAMES.map((name) => `${name}:${port}`)
  const { host, origin } = request.headers
  if (host === undefined || !hosts.includes(host.toLowerCase())) {
    return { status: 403, message: `Ask for http://${HOST}:${port}${PATH}, not another host.` }
  }
  if (origin !== undefined && !hosts.some((name) => origin.toLowerCase() === `http://${name}`)) {
    return { status: 403, message: 'Requests from other sites are refused.' }
  }
  if (request.url?.split('?')[0] !== PATH) {
    return { status: 404, message: `MCP is served at ${PATH}.` }
  }
  return undefined
}

function refuse(response: ServerResponse, { status, message }: Refusal): void {
  if (response.headersSent || response.destroyed) return
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32000, message }, id: null }))
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, HOST, () => {
      server.off('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })
}
