import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { createFindings } from './analysis/findings.ts'
import { createApp } from './app.tsx'
import { loadAssets } from './assets.ts'
import { type DataSource, openDataSource } from './data-source.ts'
import { openCallStore } from './queries/sqlite-call-store.ts'
import { isOwnHost, type OwnOrigin, ownOrigin } from './security/own-origin.ts'
import { SECURITY_HEADERS } from './security/response-headers.ts'

export const DEFAULT_PORT = 4747
const DEFAULT_HOST = '127.0.0.1'

/** How many ports are tried where the next free one may be taken. */
const PORTS_TO_TRY = 50

const MAX_HEADER_BYTES = 16 * 1024
const MAX_CONNECTIONS = 100
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 30_000

export type WebOptions = {
  databasePath: string
  /** A loopback address; anything else is refused. */
  host?: string
  /** 0: any free one. */
  port: number
  /** Take the next free port where this one is in use. */
  allowNextPort?: boolean
  /** IANA zone of times where a URL names none; by default this machine's. */
  zone?: string
  now?: () => number
  /** Where faults behind a 500 or 503 are told; by default stderr. */
  onFault?: (error: unknown) => void
}

export type RunningWeb = { url: string; close(): Promise<void> }

/**
 * Serves the dashboard. Rejects with a StoreError where the database cannot be used, with Node's
 * EADDRINUSE where the port is taken, with a RangeError for an address beyond this machine.
 */
export async function startWeb(options: WebOptions): Promise<RunningWeb> {
  const host = options.host ?? DEFAULT_HOST
  refuseForeignHost(host)
  const now = options.now ?? Date.now
  const zone = options.zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone
  const assets = loadAssets()
  const data = openDataSource({
    databasePath: options.databasePath,
    openStore: (path) => openCallStore(path, { now }),
    createFindings: (store) => createFindings(store, { zone, now, background: true }),
  })
  try {
    const server = await listen(host, options.port, options.allowNextPort ?? false)
    const { port } = server.address() as AddressInfo
    const onFault = options.onFault ?? tellOnStderr
    const app = createApp({ data, assets, port, zone, now, onFault })
    // The first findings take a moment: begin before somebody waits for them.
    setImmediate(() => warmUp(data, onFault))
    serveWith(server, (request) => app.fetch(request), ownOrigin(port))
    return {
      url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
      async close() {
        await closeServer(server)
        data.close()
      },
    }
  } catch (error) {
    data.close()
    throw error
  }
}

function refuseForeignHost(host: string): void {
  if (/^(localhost|127(\.\d{1,3}){3}|::1)$/.test(host)) return
  throw new RangeError(
    `The dashboard listens on this machine only: use 127.0.0.1 and not ${JSON.stringify(host)}.`,
  )
}

function warmUp(data: DataSource, onFault: (error: unknown) => void): void {
  try {
    data.current().findings.refresh()
  } catch (error) {
    onFault(error)
  }
}

function tellOnStderr(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
}

async function listen(host: string, firstPort: number, allowNext: boolean): Promise<Server> {
  const tries = allowNext && firstPort !== 0 ? PORTS_TO_TRY : 1
  for (let port = firstPort; ; port++) {
    try {
      return await listenOn(host, port)
    } catch (error) {
      const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
      if (!isTaken || port - firstPort + 1 >= tries || port >= 65_535) throw error
    }
  }
}

function listenOn(host: string, port: number): Promise<Server> {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
  })
  server.maxConnections = MAX_CONNECTIONS
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve(server)
    })
  })
}

/**
 * The Host header is looked at before a URL is made of it, so that every wrong one gets the same
 * answer; what node cannot even read as a request gets an answer without details.
 */
function serveWith(
  server: Server,
  answer: (request: Request) => Response | Promise<Response>,
  own: OwnOrigin,
): void {
  const listener = getRequestListener(answer, {
    overrideGlobalObjects: false,
    errorHandler: () => new Response('Bad request.\n', { status: 400, headers: SECURITY_HEADERS }),
  })
  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (isOwnHost(own, incoming.headers.host)) return void listener(incoming, outgoing)
    outgoing.writeHead(403, { ...SECURITY_HEADERS, 'content-type': 'text/plain; charset=utf-8' })
    outgoing.end(`Ask for this page as ${own.origins[0]}, not by another name.\n`)
  })
}

/** Answers under way are let finish; idle connections of browsers are not waited for. */
function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
    setTimeout(() => server.closeAllConnections(), 500).unref()
  })
}
