import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import { connection, unsilence } from '../../server/index.ts'
import { readCalls, readRecords } from './demo-log.ts'
import {
  connectClient,
  logDirectory,
  startWrapped,
  text,
  textOf,
  until,
} from './wrapper-harness.ts'

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

test('C15: work that was done twice is told by one hash, and the first end by its late', async (t) => {
  const { client, calls, logs } = await startWrapped(t, (server) => {
    let runs = 0
    server.registerTool('pay', { inputSchema: { invoice: z.string() } }, async () => {
      runs += 1
      await sleep(runs === 1 ? 250 : 0)
      return text('paid')
    })
  })
  const pay = { name: 'pay', arguments: { invoice: 'R-7' } }
  await assert.rejects(client.callTool(pay, undefined, { timeout: 60 }), /-32001/)
  await client.callTool(pay)
  const late = await until(() => readRecords(logs).find(({ kind }) => kind === 'late'), 'a late')
  const [first, second, ...others] = calls()
  assert.equal(others.length, 0)
  assert.deepEqual(
    [first, second].map((call) => [call?.outcome, call?.error?.class, call?.error?.by]),
    [
      ['failed', 'timeout', 'client'],
      ['succeeded', undefined, undefined],
    ],
  )
  assert.equal(first?.args_hash, second?.args_hash)
  assert.equal(late.kind === 'late' && late.call, first?.call)
  assert.equal(late.kind === 'late' && late.outcome, 'succeeded')
  assert.ok(late.kind === 'late' && late.ms >= 240)
})

test('C16: the context passes by identity, and a long tool that shows progress is logged as it ended', async (t) => {
  const logs = logDirectory(t)
  const server = new McpServer({ name: 'shop', version: '1' })
  const given: unknown[] = []
  const seen: unknown[] = []
  // What the SDK hands to its own handler, seen before the wrapper is there.
  const setHandler = server.server.setRequestHandler.bind(server.server)
  server.server.setRequestHandler = ((schema: never, handler: (...args: unknown[]) => unknown) =>
    setHandler(schema, ((request: unknown, extra: unknown) => {
      given.push(extra)
      return handler(request, extra)
    }) as never)) as typeof setHandler
  unsilence(server, { logs, timeout: 1_000 })
  server.registerTool('long', {}, async (extra) => {
    seen.push(extra)
    for (let step = 1; step <= 8; step += 1) {
      await sleep(150)
      const progressToken = extra._meta?.progressToken
      if (progressToken === undefined) continue
      const params = { progressToken, progress: step }
      await extra.sendNotification({ method: 'notifications/progress', params })
    }
    return text('done')
  })
  const client = await connectClient(t, server)
  let steps = 0
  const shown = await client.callTool({ name: 'long' }, undefined, { onprogress: () => steps++ })
  assert.equal(shown.isError, undefined)
  assert.equal(steps, 8)
  assert.equal(given.at(-1), seen[0])
  // No progressToken unless the client asks: nothing crashes, and the deadline counts.
  const silent = await client.callTool({ name: 'long' })
  assert.equal(silent.isError, true)
  const [long, cut] = readCalls(logs)
  assert.equal(long?.outcome, 'succeeded')
  assert.ok((long?.duration_ms ?? 0) >= 1_100)
  assert.equal(cut?.error?.by, 'deadline')
})

test('C19: a client that blames the server is disproved by times and the request’s id', async (t) => {
  const logs = logDirectory(t)
  const server = unsilence(new McpServer({ name: 'shop', version: '1' }), { logs })
  server.registerTool('report', {}, async () => {
    await sleep(30)
    return text('ready')
  })
  const [near, far] = InMemoryTransport.createLinkedPair()
  let lost: number | undefined
  const send = far.send.bind(far)
  // The answer gets lost behind the server.
  far.send = async (message, ...rest) => {
    if ('result' in message && 'content' in message.result) lost = Date.now()
    else await send(message, ...rest)
  }
  const sent: unknown[] = []
  const request = near.send.bind(near)
  near.send = (message, ...rest) => {
    if ('method' in message && message.method === 'tools/call')
      sent.push('id' in message && message.id)
    return request(message, ...rest)
  }
  const client = new Client({ name: 'blames', version: '1' })
  await server.connect(far)
  await client.connect(near)
  t.after(() => client.close())
  const askedAt = Date.now()
  await assert.rejects(client.callTool({ name: 'report' }, undefined, { timeout: 300 }), /-32001/)
  const [call, ...others] = readCalls(logs)
  assert.equal(others.length, 0)
  assert.equal(call?.outcome, 'succeeded')
  assert.equal(call?.request, sent[0])
  const { started = 0, duration_ms: durationMs = 0 } = call ?? {}
  assert.ok(started >= askedAt - 1 && durationMs >= 25)
  assert.ok(
    Math.abs(started + durationMs - (lost ?? 0)) < 1_000,
    'the time at which the answer left',
  )
  // The client's word comes after the answer left, and is kept as well.
  const late = await until(() => readRecords(logs).find(({ kind }) => kind === 'late'), 'a late')
  assert.equal(late.kind === 'late' && late.call, call?.call)
})

async function slowUpstream(t: TestContext): Promise<string> {
  const http = createServer(() => undefined)
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  t.after(() => {
    http.closeAllConnections()
    http.close()
  })
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/`
}

test('C2: a fetch that ends with the client’s patience is the client’s time-out, not an unknown error', async (t) => {
  const url = await slowUpstream(t)
  const { client, call, calls, logs } = await startWrapped(t, (server) => {
    server.registerTool('passes_on', {}, async ({ signal }) => {
      await fetch(url, { signal })
      return text('never')
    })
    server.registerTool('own_limit', {}, async () => {
      const controller = new AbortController()
      setTimeout(() => controller.abort('FETCH_TIMEOUT'), 20)
      await fetch(url, { signal: controller.signal })
      return text('never')
    })
  })
  const passed = client.callTool({ name: 'passes_on' }, undefined, { timeout: 80 })
  await assert.rejects(passed, /-32001/)
  await until(() => readRecords(logs).find(({ kind }) => kind === 'late'), 'a late')
  assert.match(textOf(await call('own_limit')), /did not answer in time/)
  assert.deepEqual(
    calls().map(({ tool, error }) => [tool, error?.class, error?.by]),
    [
      ['passes_on', 'timeout', 'client'],
      ['own_limit', 'timeout', undefined],
    ],
  )
  assert.match(calls()[1]?.error?.message ?? '', /FETCH_TIMEOUT/)
})

test('C3: the client reads the code that hides in the cause, and of a wrong host that it is wrong', async (t) => {
  const { call } = await startWrapped(t, (server) => {
    server.registerTool('fetches', { inputSchema: { code: z.string() } }, ({ code }) => {
      const cause = Object.assign(new Error('x'), { code })
      throw new TypeError('fetch failed', { cause })
    })
  })
  for (const code of [
    'UND_ERR_CONNECT_TIMEOUT',
    'UND_ERR_HEADERS_TIMEOUT',
    'UND_ERR_BODY_TIMEOUT',
    'UND_ERR_SOCKET',
    'EAI_AGAIN',
    'ECONNRESET',
    'EPIPE',
  ]) {
    assert.match(textOf(await call('fetches', { code })), new RegExp(`\\(${code}\\)`))
  }
  const wrongHost = textOf(await call('fetches', { code: 'ENOTFOUND' }))
  assert.match(wrongHost, /the host of its upstream service was not found \(ENOTFOUND\)/)
})

test('C12: an error told by the tool keeps the client, a closed connection opens another for the retry', async (t) => {
  let opened = 0
  const api = connection(() => {
    opened += 1
    return { id: opened }
  })
  const { call, calls } = await startWrapped(
    t,
    (server) => {
      const annotations = { readOnlyHint: true }
      server.registerTool('told', { annotations }, () =>
        api.use(() => ({ ...text('Internal Server Error'), isError: true })),
      )
      server.registerTool('closed', { annotations }, () =>
        api.use(({ id }) => {
          if (id === 1) throw new McpError(ErrorCode.ConnectionClosed, 'Connection closed')
          return text(`client ${id}`)
        }),
      )
    },
    { retry: { baseMs: 1 } },
  )
  assert.equal(textOf(await call('told')), 'Internal Server Error')
  assert.equal(opened, 1)
  assert.equal(textOf(await call('closed')), 'client 2')
  assert.equal(opened, 2)
  assert.deepEqual(
    calls().map(({ tool, outcome, error, attempts }) => [
      tool,
      outcome,
      error?.class,
      attempts.map(({ class: kind, reconnected }) => kind ?? reconnected),
    ]),
    [
      ['told', 'failed', 'tool_error', [undefined]],
      ['closed', 'retried', undefined, ['connection', true]],
    ],
  )
})
