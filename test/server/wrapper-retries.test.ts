import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import {
  CreateMessageRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { ConnectionError, connection, tapTransport, unsilence } from '../../server/index.ts'
import { startChild } from './stdio-child.ts'
import { logDirectory, startWrapped, text, textOf } from './wrapper-harness.ts'

const annotations = { readOnlyHint: true }

function limited(retryAfter: string): Error {
  const headers = { 'retry-after': retryAfter }
  return Object.assign(new Error('slow down'), { response: { status: 429, headers } })
}

test('time spent waiting is kept apart from time in the handler', async (t) => {
  let runs = 0
  const { call, calls } = await startWrapped(
    t,
    (server) => {
      server.registerTool('rates', { annotations }, () => {
        runs += 1
        if (runs === 1) throw limited('0.4')
        return text('1.08')
      })
    },
    { retry: { baseMs: 0 } },
  )
  assert.equal(textOf(await call('rates')), '1.08')
  const [record] = calls()
  const wait = record?.attempts[1]?.wait_ms ?? 0
  assert.ok(wait >= 390, `${wait} ms of waiting`)
  assert.ok((record?.duration_ms ?? 0) >= wait)
  assert.ok((record?.handler_ms ?? 0) <= (record?.duration_ms ?? 0) - wait + 1)
  const inHandler = record?.attempts.reduce((sum, { ms }) => sum + ms, 0) ?? 0
  assert.ok(Math.abs(inHandler - (record?.handler_ms ?? 0)) < 0.01)
})

test('a Retry-After that is a date is waited for, one that takes too long is told', async (t) => {
  const { call, calls } = await startWrapped(t, (server) => {
    server.registerTool('later', { annotations }, () => {
      throw limited(new Date(Date.now() + 3_600_000).toUTCString())
    })
  })
  assert.match(textOf(await call('later')), /HTTP 429\)\. Wait 3(600|599) s before/)
  const [record] = calls()
  assert.equal(record?.retry_suppressed, 'deadline')
  assert.equal(record?.attempts.length, 1)
  assert.ok((record?.error?.retry_after_s ?? 0) >= 3_590)
})

test('a retry that does not fit into the call’s time is left out, and the cause is told', async (t) => {
  const { call, calls } = await startWrapped(
    t,
    (server) => {
      server.registerTool('later', { annotations }, () => {
        throw limited('4')
      })
    },
    { timeout: '2s' },
  )
  assert.match(textOf(await call('later')), /HTTP 429/)
  const [record] = calls()
  assert.equal(record?.error?.class, 'rate_limited')
  assert.equal(record?.retry_suppressed, 'deadline')
  assert.ok((record?.duration_ms ?? 9_999) < 1_900)
})

test('a spent budget is told to the client, and in the record', async (t) => {
  const { call, calls } = await startWrapped(
    t,
    (server) => {
      server.registerTool('down', { annotations }, () => {
        throw new ConnectionError('gone', { code: 'ECONNREFUSED' })
      })
    },
    { retry: { baseMs: 1, attempts: 2, budgetMinimum: 3, budgetRatio: 0 } },
  )
  const said: string[] = []
  for (let run = 0; run < 5; run += 1) said.push(textOf(await call('down')))
  assert.deepEqual(
    calls().map(({ attempts, retry_suppressed: why }) => [attempts.length, why]),
    [
      [2, undefined],
      [2, undefined],
      [2, undefined],
      [1, 'budget'],
      [1, 'budget'],
    ],
  )
  assert.match(said[0] ?? '', /Tried 2 times/)
  assert.match(said[4] ?? '', /not repeated, as too many calls are being repeated already/)
})

test('a tool that may change data is not repeated, but the next call gets a new client', async (t) => {
  let opened = 0
  const api = connection(() => {
    opened += 1
    return { id: opened }
  })
  const { call, calls } = await startWrapped(t, (server) => {
    server.registerTool('pay', {}, () =>
      api.use(({ id }) => {
        if (id === 1) throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
        return text(`paid by client ${id}`)
      }),
    )
  })
  assert.match(textOf(await call('pay')), /not repeated/)
  assert.equal(textOf(await call('pay')), 'paid by client 2')
  assert.deepEqual(
    calls().map(({ outcome, attempts, retry_suppressed: why }) => [outcome, attempts.length, why]),
    [
      ['failed', 1, 'unsafe'],
      ['succeeded', 1, undefined],
    ],
  )
})

test('a deadline stands still while a model or the client’s roots are asked', async (t) => {
  const server = unsilence(new McpServer({ name: 'asks', version: '1' }), {
    logs: logDirectory(t),
    timeout: 500,
  })
  const slowly = async <T>(answer: T): Promise<T> => {
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    return answer
  }
  server.registerTool('samples', {}, async () => {
    const content = { type: 'text' as const, text: 'Say it' }
    await server.server.createMessage({ messages: [{ role: 'user', content }], maxTokens: 5 })
    return text('sampled')
  })
  server.registerTool('roots', {}, async () => {
    await server.server.listRoots()
    return text('listed')
  })
  server.registerTool('dawdles', {}, () => slowly(text('too late')))
  const client = new Client(
    { name: 'c', version: '1' },
    { capabilities: { sampling: {}, roots: {} } },
  )
  const content = { type: 'text' as const, text: 'it' }
  client.setRequestHandler(CreateMessageRequestSchema, () =>
    slowly({ model: 'none', role: 'assistant' as const, content }),
  )
  client.setRequestHandler(ListRootsRequestSchema, () => slowly({ roots: [] }))
  const [near, far] = InMemoryTransport.createLinkedPair()
  await server.connect(far)
  await client.connect(near)
  t.after(() => client.close())
  assert.deepEqual((await client.callTool({ name: 'samples' })).content, text('sampled').content)
  assert.deepEqual((await client.callTool({ name: 'roots' })).content, text('listed').content)
  assert.equal((await client.callTool({ name: 'dawdles' })).isError, true)
})

test('UNSILENT=off leaves a transport as it was', (t) => {
  process.env.UNSILENT = 'off'
  t.after(() => {
    delete process.env.UNSILENT
  })
  const [, far] = InMemoryTransport.createLinkedPair()
  assert.equal(tapTransport(far, { logs: logDirectory(t) }), far)
})

test('guardStdout false leaves what tools print where they print it', async (t) => {
  const options = JSON.stringify({ guardStdout: false })
  const child = await startChild(t, 'faulty-server.ts', [logDirectory(t), options])
  child.call(1, 'noisy')
  child.call(2, 'ok', { n: 1 })
  await child.answer(2)
  assert.ok(child.lines.includes('a line from console.log'))
})
