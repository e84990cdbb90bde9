import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import { ConnectionError, guard, tapTransport, unsilence } from '../../server/index.ts'
import { readCalls, readRecords } from './demo-log.ts'
import { logDirectory, startWrapped, text, textOf, until } from './wrapper-harness.ts'

test('a tap and guards set by hand record, explain and retry', async (t) => {
  const logs = logDirectory(t)
  const server = new McpServer({ name: 'by-hand', version: '7' })
  let runs = 0
  server.registerTool(
    'add',
    { inputSchema: { a: z.number() } },
    guard(
      ({ a }: { a: number }) => {
        runs += 1
        if (runs === 1) throw new ConnectionError('gone')
        return text(String(a))
      },
      { retry: true },
    ),
  )
  const [near, far] = InMemoryTransport.createLinkedPair()
  const client = new Client({ name: 'c', version: '1' })
  await server.connect(tapTransport(far, { logs, retry: { baseMs: 1 } }))
  await client.connect(near)
  t.after(() => client.close())
  assert.match(JSON.stringify(await client.callTool({ name: 'add', arguments: { a: 4 } })), /"4"/)
  const refused = await client.callTool({ name: 'add', arguments: { a: 'x' } })
  assert.equal(refused.isError, true)
  await client.listTools()
  const explained = await client.callTool({ name: 'add', arguments: { a: '5' } })
  assert.match(JSON.stringify(explained), /send 5 without quotes/)
  assert.deepEqual(
    readCalls(logs).map(({ server: of, outcome }) => [of.name, of.version, outcome]),
    [
      ['by-hand', '7', 'retried'],
      ['by-hand', '7', 'failed'],
      ['by-hand', '7', 'failed'],
    ],
  )
})

test('a tapped transport stays the class it was, and tapping twice changes nothing', (t) => {
  const [, far] = InMemoryTransport.createLinkedPair()
  const tapped = tapTransport(far, { logs: logDirectory(t) })
  assert.ok(tapped instanceof InMemoryTransport)
  assert.equal(tapTransport(tapped), tapped)
  assert.equal(Object.hasOwn(far, 'send'), false)
})

test('a guard keeps name and arity, and steps aside outside of a call', () => {
  const handler = (a: number, _extra: unknown) => a + 1
  const guarded = guard(handler)
  assert.equal(guarded.name, 'handler')
  assert.equal(guarded.length, 2)
  assert.equal(guarded(1, undefined), 2)
  assert.equal(guard(guarded), guarded)
})

test('capture shapes keeps types, off keeps nothing, and neither keeps a value anywhere', async (t) => {
  const { call, logs } = await startWrapped(
    t,
    (server) => {
      server.registerTool('shapes', { inputSchema: { q: z.string(), n: z.number() } }, () =>
        text('ok'),
      )
      server.registerTool('off', { inputSchema: { q: z.string(), n: z.number() } }, () =>
        text('ok'),
      )
    },
    { capture: 'shapes', tools: { off: { capture: 'off' } } },
  )
  for (const tool of ['shapes', 'off']) {
    await call(tool, { q: 'vermilion', n: 1 })
    await call(tool, { q: 'vermilion', n: 'cerulean' })
  }
  const records = readCalls(logs)
  assert.deepEqual(
    records.map(({ args, args_hash }) => [args, typeof args_hash]),
    [
      [{ q: '<string>', n: '<number>' }, 'string'],
      [{ q: '<string>', n: '<string>' }, 'string'],
      [null, 'undefined'],
      [null, 'undefined'],
    ],
  )
  assert.doesNotMatch(JSON.stringify(records), /vermilion|cerulean/)
  assert.match(records[1]?.error?.message ?? '', /n \(wrong_type\)/)
})

test('the start record names the tools with hashes of what they take', async (t) => {
  const { logs } = await startWrapped(t, (server) => {
    server.registerTool('a', { inputSchema: { q: z.string() } }, () => text('ok'))
    server.registerTool('b', { inputSchema: { q: z.number() } }, () => text('ok'))
  })
  const start = await until(
    () => readRecords(logs).find((record) => record.kind === 'start'),
    'a start record',
  )
  assert.ok(start.kind === 'start')
  assert.deepEqual(
    start.tools?.map(({ name }) => name),
    ['a', 'b'],
  )
  const [a, b] = start.tools ?? []
  assert.match(a?.schema_hash ?? '', /^[0-9a-f]{16}$/)
  assert.notEqual(a?.schema_hash, b?.schema_hash)
})

test('a deadline stands still while a person answers', async (t) => {
  const logs = logDirectory(t)
  const server = unsilence(new McpServer({ name: 'ask', version: '1' }), { logs, timeout: 150 })
  server.registerTool('ask', {}, async () => {
    const { action } = await server.server.elicitInput({
      message: 'really?',
      requestedSchema: { type: 'object', properties: {} },
    })
    return text(action)
  })
  const [near, far] = InMemoryTransport.createLinkedPair()
  const client = new Client({ name: 'c', version: '1' }, { capabilities: { elicitation: {} } })
  client.setRequestHandler(ElicitRequestSchema, async () => {
    await new Promise((resolve) => setTimeout(resolve, 500))
    return { action: 'accept' as const, content: {} }
  })
  await server.connect(far)
  await client.connect(near)
  t.after(() => client.close())
  const result = await client.callTool({ name: 'ask' })
  assert.equal(textOf(result as never), 'accept')
})

test('what a handler is given and gives passes by identity', async (t) => {
  const seen: unknown[] = []
  const { client } = await startWrapped(t, (server) => {
    server.registerTool('echo', { inputSchema: { q: z.string() } }, (args, extra) => {
      seen.push(args, extra._meta?.traceparent, extra.requestId)
      return { ...text(args.q), _meta: { own: true } }
    })
  })
  const result = await client.callTool({
    name: 'echo',
    arguments: { q: 'x' },
    _meta: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
  })
  assert.deepEqual(result._meta, { own: true })
  assert.deepEqual(seen[0], { q: 'x' })
  assert.equal(seen[1], '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01')
})

test('a valid traceparent is recorded, another is not', async (t) => {
  const { client, calls } = await startWrapped(t, (server) => {
    server.registerTool('ok', {}, () => text('ok'))
  })
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  await client.callTool({ name: 'ok', _meta: { traceparent } })
  await client.callTool({ name: 'ok', _meta: { traceparent: 'x'.repeat(10_000) } })
  assert.deepEqual(
    calls().map(({ trace }) => trace),
    [traceparent, undefined],
  )
})

test('M10: a tool name of a megabyte with line ends leaves one short line', async (t) => {
  const { client, calls } = await startWrapped(t, (server) => {
    server.registerTool('ok', {}, () => text('ok'))
  })
  const result = await client.callTool({ name: `x\n\u001b[31m{"kind":"call"}${'y'.repeat(1e6)}` })
  assert.equal(result.isError, true)
  assert.ok(textOf(result as never).length <= 500)
  assert.equal(calls().length, 1)
  assert.ok((calls()[0]?.tool.length ?? 0) < 300)
})
