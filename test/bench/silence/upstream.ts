import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/** How each path fails. */
const routes: Record<string, RequestListener> = {
  '/hang': () => undefined,
  '/reset': (_request, response) => {
    response.writeHead(200, { 'content-length': '1000' })
    response.write('the first part')
    setTimeout(() => response.destroy(), 20)
  },
  '/html': (_request, response) => {
    response.end('<!DOCTYPE html><html><body>maintenance</body></html>')
  },
  '/cut': (_request, response) => {
    response.end('{"rows":[1,2')
  },
  '/429': (_request, response) => {
    response.writeHead(429, { 'retry-after': '60', 'content-type': 'application/json' })
    response.end('{"message":"API rate limit exceeded"}')
  },
  '/500': (_request, response) => {
    response.writeHead(500)
    response.end('Internal Server Error')
  },
  '/503': (_request, response) => {
    response.writeHead(503)
    response.end('Service Unavailable')
  },
  '/404': (_request, response) => {
    response.writeHead(404, { 'content-type': 'text/html' })
    response.end('<html><head><title>404 Not Found</title></head><body>nginx</body></html>')
  },
  '/204': (_request, response) => {
    response.writeHead(204)
    response.end()
  },
}

/** Starts with its first use; keeps no process alive. */
export function createUpstream(): () => Promise<string> {
  let address: Promise<string> | undefined
  let flakyRuns = 0
  return () => {
    address ??= listen((request, response) => {
      if (request.url !== '/flaky') return routes[request.url ?? '']?.(request, response)
      flakyRuns += 1
      if (flakyRuns % 2 === 1) return response.destroy()
      return response.end('42 invoices')
    })
    return address
  }
}

async function listen(handle: RequestListener): Promise<string> {
  const server = createServer(handle).unref()
  server.on('connection', (socket) => socket.unref())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
