import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'

/** Takes what Sentry and AgentCat send, in place of their services; a list for each run. */
export type Collector = {
  /** The address that a run is told, and under which its posts are kept. */
  addressOf(run: number): string
  bodiesOf(run: number): string[]
  close(): void
}

export async function startCollector(): Promise<Collector> {
  const bodies = new Map<number, string[]>()
  const server = createServer(async (request, response) => {
    const run = Number(/\d+/.exec(request.url ?? '')?.[0])
    const list = bodies.get(run) ?? []
    bodies.set(run, list)
    list.push(await bodyOf(request).catch(() => ''))
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"1"}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    addressOf: (run) => `http://127.0.0.1:${port}/${run}`,
    bodiesOf: (run) => bodies.get(run) ?? [],
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const bytes = Buffer.concat(chunks)
  return (request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString()
}
