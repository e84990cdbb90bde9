import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createFaults,
  type Fault,
  type FaultScript,
  type Faults,
  LIVE_FAULTS,
  parseFault,
} from './upstream-faults.ts'
import { createUpstreamRoutes, type UpstreamAnswer } from './upstream-routes.ts'

const HOST = '127.0.0.1'
const MAX_BODY_BYTES = 65_536
const ERROR_IN_A_SUCCESS = 'Error: API rate limit exceeded. Please try again later.'

export type UpstreamOptions = {
  /** 0 or absent: any free one. */
  port?: number | undefined
  seed?: number | undefined
  /** Epoch ms. */
  now?: (() => number) | undefined
  /** Default: the live demo's. */
  script?: FaultScript | undefined
}

export type Upstream = {
  url: string
  faults: Faults
  /** Cuts what is still hanging. */
  close(): Promise<void>
}

/**
 * The API that the demo server depends on: a real HTTP server on loopback with invented invoices,
 * exchange rates and documents, and scripted faults. `PUT /control/faults/<operation>` with
 * `{"fault": {...} | null, "times": n}` sets a fault from outside, `DELETE /control/faults` ends it.
 */
export async function startUpstream(options: UpstreamOptions = {}): Promise<Upstream> {
  const seed = options.seed ?? 1
  const faults = createFaults({
    script: options.script ?? LIVE_FAULTS,
    seed,
    now: options.now ?? Date.now,
  })
  const routes = createUpstreamRoutes({ seed })
  const deadPort = await findDeadPort()

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      respond(response, { status: 400, body: { error: messageOf(error) } })
    })
  })

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', `http://${HOST}`)
    const body = await readJson(request)
    if (url.pathname.startsWith('/control/')) {
      respond(response, control(faults, request.method ?? 'GET', url.pathname, body))
      return
    }
    const route = routes.find(request.method ?? 'GET', url)
    if (!route) {
      respond(response, { status: 404, body: { error: `No such address: ${url.pathname}` } })
      return
    }
    const answer = (): void => respond(response, route.answer(body))
    misbehave({ fault: faults.next(route.operation), request, response, answer, deadPort })
  }

  await listen(server, options.port ?? 0)
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${HOST}:${port}`,
    faults,
    close: () => closeServer(server),
  }
}

function misbehave(options: {
  fault: Fault | undefined
  request: IncomingMessage
  response: ServerResponse
  answer(): void
  deadPort: number
}): void {
  const { fault, request, response, answer } = options
  switch (fault?.kind) {
    case undefined:
      answer()
      break
    case 'slow':
      setTimeout(answer, fault.ms).unref()
      break
    case 'hang':
      break
    case 'reset':
      request.socket.resetAndDestroy()
      break
    case 'refused':
      response.setHeader('location', `http://${HOST}:${options.deadPort}${request.url}`)
      respond(response, { status: 307, body: { moved: true } })
      break
    case 'rate_limited':
      response.setHeader('retry-after', String(fault.retryAfterS))
      respond(response, { status: 429, body: { error: 'Too many requests' } })
      break
    case 'unavailable':
      respond(response, { status: 503, body: { error: 'Service unavailable' } })
      break
    case 'html':
      response.writeHead(200, { 'content-type': 'text/html' })
      response.end('<!doctype html><title>Gateway</title><h1>Please sign in to continue</h1>')
      break
    case 'error_text':
      respond(response, { status: 200, body: { summary: ERROR_IN_A_SUCCESS } })
      break
  }
}

function control(faults: Faults, method: string, pathname: string, body: unknown): UpstreamAnswer {
  if (method === 'DELETE' && pathname === '/control/faults') {
    faults.clear()
    return { status: 200, body: { cleared: true } }
  }
  const operation = /^\/control\/faults\/([a-z_]+)$/.exec(pathname)?.[1]
  if (method !== 'PUT' || !operation || typeof body !== 'object' || body === null) {
    return { status: 404, body: { error: 'Write PUT /control/faults/<operation>.' } }
  }
  const wanted = 'fault' in body ? body.fault : null
  const fault = wanted === null ? undefined : parseFault(wanted)
  if (wanted !== null && !fault) {
    return { status: 400, body: { error: 'Unknown fault: write {"fault": {"kind": "reset"}}.' } }
  }
  const times = 'times' in body && typeof body.times === 'number' ? body.times : undefined
  faults.set(operation, fault, times)
  return { status: 200, body: { operation, fault: fault ?? null } }
}

function respond(response: ServerResponse, answer: UpstreamAnswer): void {
  if (response.destroyed || response.headersSent) return
  const text = JSON.stringify(answer.body)
  response.writeHead(answer.status, { 'content-type': 'application/json' })
  response.end(text)
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  let text = ''
  request.setEncoding('utf8')
  for await (const chunk of request) {
    text += chunk
    if (text.length > MAX_BODY_BYTES) throw new Error('The body is larger than 64 KiB.')
  }
  if (text === '') return undefined
  return JSON.parse(text)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, HOST, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

/** A port that was free a moment ago, so that a connection to it is refused. */
async function findDeadPort(): Promise<number> {
  const server = createServer()
  await listen(server, 0)
  const { port } = server.address() as AddressInfo
  await closeServer(server)
  return port
}
