import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { createDemoServer } from '../../server/demo/demo-server.ts'
import { type RunningHttpServer, serveHttp } from '../../server/demo/http-server.ts'
import { startUpstream, type Upstream } from '../../server/demo/upstream.ts'
import { NO_FAULTS } from '../../server/demo/upstream-faults.ts'

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'raw', version: '0' },
  },
})

describe('the demo server over Streamable HTTP', () => {
  const logs = mkdtempSync(join(tmpdir(), 'unsilent-demo-http-'))
  let upstream: Upstream
  let running: RunningHttpServer
  let port: number

  before(async () => {
    upstream = await startUpstream({ script: NO_FAULTS })
    running = await serveHttp({
      createServer: () => createDemoServer({ upstreamUrl: upstream.url, logs }),
    })
    port = Number(new URL(running.url).port)
  })
  after(async () => {
    await running.close()
    await upstream.close()
    rmSync(logs, { recursive: true, force: true })
  })

  type Sent = { headers?: Record<string, string>; path?: string; method?: string; body?: string }

  function statusOf({ headers, path = '/mcp', method = 'POST', body = INITIALIZE }: Sent) {
    return new Promise<number | undefined>((resolve, reject) => {
      const sent = request(
        {
          ...{ host: '127.0.0.1', port, path, method },
          headers: {
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            ...headers,
          },
        },
        (response) => {
          response.destroy()
          resolve(response.statusCode)
        },
      )
      sent.once('error', reject)
      sent.end(method === 'POST' ? body : undefined)
    })
  }

  async function connect(name: string): Promise<Client> {
    const client = new Client({ name, version: '1.0.0' })
    const transport = new StreamableHTTPClientTransport(new URL(running.url))
    // The SDK's own transport class and interface disagree under exactOptionalPropertyTypes.
    await client.connect(transport as Parameters<Client['connect']>[0])
    return client
  }

  test('listens on loopback alone', () => {
    assert.match(running.url, /^http:\/\/127\.0\.0\.1:\d+\/mcp$/)
  })

  test('M5: takes exact hosts and own origins, and a missing origin', async () => {
    const status = (headers: Record<string, string>) => statusOf({ headers })
    assert.equal(await status({}), 200)
    assert.equal(await status({ host: `localhost:${port}` }), 200)
    assert.equal(await status({ host: `[::1]:${port}` }), 200)
    assert.equal(await status({ origin: `http://127.0.0.1:${port}` }), 200)
    assert.equal(await status({ origin: `http://localhost:${port}` }), 200)
  })

  test('M5: refuses other hosts and origins with 403', async () => {
    const status = (headers: Record<string, string>) => statusOf({ headers })
    assert.equal(await status({ host: 'evil.example' }), 403)
    assert.equal(await status({ host: `evil.example:${port}` }), 403)
    assert.equal(await status({ host: '127.0.0.1' }), 403)
    assert.equal(await status({ host: `127.0.0.1:${port}.evil.example` }), 403)
    assert.equal(await status({ origin: 'https://evil.example' }), 403)
    assert.equal(await status({ origin: `https://127.0.0.1:${port}` }), 403)
    assert.equal(await status({ origin: 'null' }), 403)
    assert.equal(await status({ origin: `http://127.0.0.1:${port}.evil.example` }), 403)
    assert.equal(await statusOf({ method: 'GET', headers: { origin: 'http://evil.example' } }), 403)
  })

  test('knows one path, and no session but its own', async () => {
    assert.equal(await statusOf({ path: '/' }), 404)
    assert.equal(await statusOf({ headers: { 'mcp-session-id': 'made-up' } }), 404)
    assert.equal(await statusOf({ method: 'GET' }), 400)
    assert.equal(await statusOf({ body: '{"jsonrpc"' }), 400)
  })

  test('M6: two clients with the same request ids get their own answers', async () => {
    const [first, second] = await Promise.all([connect('first'), connect('second')])
    const ask = async (client: Client, invoice_id: string) => {
      const result = await client.callTool({ name: 'get_invoice', arguments: { invoice_id } })
      const [block] = result.content as { text: string }[]
      return JSON.parse(block?.text ?? '').id
    }
    const asked = Array.from({ length: 10 }, (_, index) => [
      ask(first, `INV-${2001 + index}`),
      ask(second, `INV-${2031 + index}`),
    ])
    const answers = await Promise.all(asked.flat())
    const expected = Array.from({ length: 10 }, (_, index) => [
      `INV-${2001 + index}`,
      `INV-${2031 + index}`,
    ])
    assert.deepEqual(answers, expected.flat())
    await Promise.all([first.close(), second.close()])
  })
})
