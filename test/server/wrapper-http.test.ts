import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { z } from 'zod'
import { readOpenJournal } from '../../server/call-log/open-journal.ts'
import { openCallLog } from '../../server/call-log/writer.ts'
import { unsilence } from '../../server/index.ts'
import { readCalls, readRecords } from './demo-log.ts'
import { logDirectory, text, until } from './wrapper-harness.ts'

function build(logs: string, onSlow: () => void = () => undefined): McpServer {
  const server = unsilence(new McpServer({ name: 'web', version: '1' }), { logs })
  server.registerTool('ok', { inputSchema: { n: z.number() } }, ({ n }) => text(String(n)))
  server.registerTool('bigint', {}, () => ({ content: [], structuredContent: { id: 1n } }))
  server.registerTool('slow', {}, async () => {
    onSlow()
    await new Promise((resolve) => setTimeout(resolve, 150))
    return text('slow')
  })
  server.registerTool('hangs', {}, () => new Promise<never>(() => undefined))
  return server
}

type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>

async function listen(t: TestContext, handle: Handle): Promise<URL> {
  const http = createServer((request, response) => void handle(request, response))
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  t.after(() => {
    http.closeAllConnections()
    http.close()
  })
  return new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`)
}

/** A new server and transport for each request, as the SDK's stateless example has it. */
function stateless(logs: string, onSlow?: () => void): Handle {
  return async (request, response) => {
    const transport = new StreamableHTTPServerTransport({})
    await build(logs, onSlow).connect(transport as Transport)
    await transport.handleRequest(request, response)
  }
}

/** As above, closing the transport with the exchange: the SDK's example does that too. */
function statelessClosing(logs: string): Handle {
  return async (request, response) => {
    const transport = new StreamableHTTPServerTransport({})
    response.on('close', () => void transport.close())
    await build(logs).connect(transport as Transport)
    await transport.handleRequest(request, response)
  }
}

function stateful(logs: string): Handle {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  return async (request, response) => {
    const known = sessions.get(String(request.headers['mcp-session-id'] ?? ''))
    if (known) return known.handleRequest(request, response)
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        sessions.set(id, transport)
      },
    })
    await build(logs).connect(transport as Transport)
    await transport.handleRequest(request, response)
  }
}

async function connect(t: TestContext, url: URL, settings = {}): Promise<Client> {
  const client = new Client({ name: 'web-client', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(url, settings) as Transport)
  t.after(() => client.close())
  return client
}

for (const [name, kind] of [
  ['stateless', stateless],
  ['stateful', stateful],
] as const) {
  test(`over ${name} HTTP each call is answered and leaves one record in one writer's file`, async (t) => {
    const logs = logDirectory(t)
    const client = await connect(t, await listen(t, kind(logs)))
    const good = await client.callTool({ name: 'ok', arguments: { n: 1 } })
    assert.deepEqual(good.content, text('1').content)
    const bad = await client.callTool({ name: 'ok', arguments: { n: '1' } })
    assert.match(JSON.stringify(bad), /send 1 without quotes/)
    const broken = await client.callTool({ name: 'bigint' })
    assert.match(JSON.stringify(broken), /BigInt at structuredContent.id/)
    const calls = await until(
      () => (readCalls(logs).length === 3 ? readCalls(logs) : undefined),
      'three',
    )
    assert.deepEqual(
      calls.map(({ tool, error, transport }) => [tool, error?.class, transport]),
      [
        ['ok', undefined, 'http'],
        ['ok', 'invalid_arguments', 'http'],
        ['bigint', 'bad_result', 'http'],
      ],
    )
    assert.equal(new Set(readRecords(logs).map(({ w }) => w)).size, 1)
    assert.match(calls[0]?.protocol ?? '', /^\d{4}-\d\d-\d\d$/)
    if (name === 'stateful') assert.match(calls[0]?.session ?? '', /^[0-9a-f]{12,}$/)
  })
}

test('M6: two sessions with the same request ids do not mix', async (t) => {
  const logs = logDirectory(t)
  const url = await listen(t, stateful(logs))
  const clients = await Promise.all([connect(t, url), connect(t, url)])
  const results = await Promise.all(
    clients.flatMap((client, who) =>
      [1, 2, 3].map((n) => client.callTool({ name: 'ok', arguments: { n: who * 10 + n } })),
    ),
  )
  assert.deepEqual(
    results.map((result) => (result.content as { text: string }[])[0]?.text),
    ['1', '2', '3', '11', '12', '13'],
  )
  const calls = await until(
    () => (readCalls(logs).length === 6 ? readCalls(logs) : undefined),
    'six',
  )
  const sessionOf = (low: boolean) =>
    new Set(
      calls
        .filter(({ args }) => (args as { n: number }).n < 10 === low)
        .map(({ session }) => session),
    )
  assert.equal(sessionOf(true).size, 1)
  assert.equal(sessionOf(false).size, 1)
  assert.notDeepEqual(sessionOf(true), sessionOf(false))
})

test('C17: a dropped socket does not make a call cancelled; its line is written at its end', async (t) => {
  const logs = logDirectory(t)
  const controller = new AbortController()
  const url = await listen(
    t,
    stateless(logs, () => controller.abort()),
  )
  const posting = fetch(url, {
    method: 'POST',
    signal: controller.signal,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'slow' } }),
  }).then((response) => response.text())
  await assert.rejects(posting)
  const call = await until(() => readCalls(logs)[0], 'a record')
  assert.notEqual(call.error?.class, 'cancelled')
  assert.equal(call.delivered, false)
  assert.ok(call.duration_ms >= 140)
})

test('C1: without sessions a hung call stays open in journal and beats until its client goes', async (t) => {
  const logs = logDirectory(t)
  // The writer of this directory, with faster beats than a server's own.
  openCallLog({ directory: logs, server: { name: 'web', version: '1' }, beatMs: 40 })
  let isTold = false
  const telling: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    isTold ||= String(init?.body).includes('notifications/cancelled')
    return response
  }
  const client = await connect(t, await listen(t, statelessClosing(logs)), { fetch: telling })
  await assert.rejects(client.callTool({ name: 'hangs' }, undefined, { timeout: 100 }), /-32001/)
  // The client's word arrives at another transport than the call did.
  await until(() => isTold || undefined, 'the cancellation')
  assert.deepEqual(readCalls(logs), [])
  const inJournal = await until(() => openCallsInJournal(logs)[0], 'the call in the journal')
  const inBeat = await until(() => lastBeat(logs)?.open[0], 'the call in a beat')
  assert.equal(inJournal.tool, 'hangs')
  assert.equal(inBeat.call, inJournal.call)
  await client.close()
  const call = await until(() => readCalls(logs)[0], 'a record')
  assert.equal(call.call, inJournal.call)
  assert.equal(call.error?.class, 'timeout')
  assert.equal(call.error?.by, 'client')
  assert.equal(call.delivered, false)
  assert.equal(readCalls(logs).length, 1)
  assert.deepEqual(openCallsInJournal(logs), [])
})

test('without sessions a cancellation of one client ends no call of another', async (t) => {
  const logs = logDirectory(t)
  const url = await listen(t, statelessClosing(logs))
  const [one, other] = await Promise.all([connect(t, url), connect(t, url)])
  // Both count their requests from the same number on.
  const slow = one.callTool({ name: 'slow' })
  await assert.rejects(other.callTool({ name: 'hangs' }, undefined, { timeout: 50 }), /-32001/)
  assert.deepEqual((await slow).content, text('slow').content)
  await other.close()
  const calls = await until(
    () => (readCalls(logs).length === 2 ? readCalls(logs) : undefined),
    'two records',
  )
  assert.deepEqual(
    calls.map(({ tool, outcome }) => [tool, outcome]),
    [
      ['slow', 'succeeded'],
      ['hangs', 'failed'],
    ],
  )
})

function openCallsInJournal(logs: string) {
  const name = readdirSync(logs).find((each) => each.endsWith('.open'))
  return name === undefined ? [] : (readOpenJournal(readFileSync(join(logs, name)))?.calls ?? [])
}

function lastBeat(logs: string) {
  return readRecords(logs).findLast((record) => record.kind === 'beat')
}
