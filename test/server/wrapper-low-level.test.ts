import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import {
  type CallToolRequest,
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { type UnsilenceOptions, unsilence } from '../../server/index.ts'
import { readCalls } from './demo-log.ts'
import { connectClient, logDirectory, text, textOf } from './wrapper-harness.ts'

const parcels = {
  name: 'track_parcel',
  inputSchema: {
    type: 'object' as const,
    properties: {
      address: { type: 'string' },
      days: { type: 'integer', minimum: 1, maximum: 14 },
      speed: { enum: ['slow', 'fast'] },
      stops: { type: 'array', items: { $ref: '#/$defs/stop' } },
      weight: { anyOf: [{ type: 'number' }, { type: 'null' }] },
    },
    required: ['address'],
    $defs: { stop: { type: 'object', properties: { zip: { type: 'string' } }, required: ['zip'] } },
  },
}

type LowLevelOptions = Omit<UnsilenceOptions, 'tools'> & {
  /** False: no tools/list handler. */
  tools?: unknown[] | false
  listChanged?: boolean
}

type Handle = (request: CallToolRequest) => unknown

async function startLowLevel(
  t: TestContext,
  handle: Handle,
  { tools = [parcels], listChanged = false, ...options }: LowLevelOptions = {},
) {
  const logs = logDirectory(t)
  const server = unsilence(
    new Server({ name: 'post', version: '3' }, { capabilities: { tools: { listChanged } } }),
    { logs, ...options },
  )
  if (tools !== false) {
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools as never }))
  }
  server.setRequestHandler(CallToolRequestSchema, handle as never)
  const client = await connectClient(t, server)
  return {
    server,
    calls: () => readCalls(logs),
    async call(name: string, args?: unknown) {
      const params = args === undefined ? { name } : { name, arguments: args as never }
      return (await client.callTool(params)) as CallToolResult
    },
  }
}

const length: Handle = (request) =>
  text(String((request.params.arguments as { address: string }).address.length))

test('B14: a missing field is named and the handler is not called, from the first call on', async (t) => {
  let runs = 0
  const { call, calls } = await startLowLevel(t, (request) => {
    runs += 1
    return length(request)
  })
  for (const args of [{}, undefined]) {
    const result = await call('track_parcel', args)
    assert.equal(result.isError, true)
    assert.match(textOf(result), /`address` is missing \(required, string\)/)
  }
  assert.equal(runs, 0)
  assert.deepEqual(
    calls().map(({ error, attempts }) => [error?.class, attempts.length]),
    [
      ['invalid_arguments', 0],
      ['invalid_arguments', 0],
    ],
  )
  assert.equal(textOf(await call('track_parcel', { address: 'abc' })), '3')
})

test('B14: without a schema the TypeError is unexpected', async (t) => {
  const options = { tools: false, errorText: 'message' } as const
  const { call, calls } = await startLowLevel(t, length, options)
  const result = await call('track_parcel', {})
  assert.equal(result.isError, true)
  assert.match(textOf(result), /Cannot read properties of undefined \(reading 'length'\)/)
  assert.equal(calls()[0]?.error?.class, 'unexpected')
  assert.match(calls()[0]?.error?.message ?? '', /Cannot read properties of undefined/)
})

const refused: [unknown, RegExp][] = [
  [{ address: 5 }, /`address`: expected string, received number 5/],
  [
    { address: 'a', days: '3' },
    /`days`: expected integer from 1 to 14, received string "3"; send 3/,
  ],
  [{ address: 'a', days: 0 }, /`days`: expected integer from 1 to 14, received number 0/],
  [{ address: 'a', days: 1.5 }, /`days`: expected integer/],
  [{ address: 'a', speed: 'Fast' }, /`speed`: expected one of "slow", "fast", .*send "fast"/],
  [{ address: 'a', stops: [{ zip: '1' }, {}] }, /`stops\[1\]\.zip` is missing/],
  [{ address: 'a', weight: 'heavy' }, /`weight`: expected number or null, received string "heavy"/],
]
for (const [args, words] of refused) {
  test(`B17: JSON Schema refuses ${JSON.stringify(args)} with words`, async (t) => {
    const { call, calls } = await startLowLevel(t, length)
    const result = await call('track_parcel', args)
    assert.equal(result.isError, true)
    assert.match(textOf(result), words)
    assert.equal(calls()[0]?.error?.class, 'invalid_arguments')
  })
}

test('what the schema allows, or the check does not know, reaches the handler', async (t) => {
  const odd = {
    name: 'odd',
    inputSchema: {
      type: 'object' as const,
      properties: {
        address: { type: 'string', format: 'no-such-format', pattern: '(?<broken' },
        any: { not: { type: 'string' }, dependentRequired: {} },
      },
    },
  }
  const { call } = await startLowLevel(t, length, { tools: [odd] })
  assert.equal(textOf(await call('odd', { address: 'ab', any: 'x' })), '2')
})

const loose = {
  name: 'loose',
  inputSchema: {
    type: 'object' as const,
    properties: { note: { type: 'string', nullable: true } },
    anyOf: [
      { properties: { near: { type: 'string' } }, required: ['near'] },
      { properties: { at: { type: 'string' } }, required: ['at'] },
    ],
  },
}

test('null is allowed where an OpenAPI schema says nullable', async (t) => {
  const { call, calls } = await startLowLevel(t, () => text('kept'), { tools: [loose] })
  assert.equal(textOf(await call('loose', { note: null, at: 'home' })), 'kept')
  assert.equal(calls()[0]?.outcome, 'succeeded')
  assert.equal((await call('loose', { note: 7, at: 'home' })).isError, true)
})

test('parameters that only an alternative of the schema names are not taken for unknown', async (t) => {
  const { call, calls } = await startLowLevel(t, () => text('kept'), { tools: [loose] })
  const result = await call('loose', { near: 'home' })
  assert.deepEqual(result.content, [{ type: 'text', text: 'kept' }])
  assert.equal(calls()[0]?.dropped, undefined)
})

test('B5: a low-level server is told that arguments must be an object', async (t) => {
  const { call } = await startLowLevel(t, length)
  // null and arrays are refused by the SDK before any handler.
  for (const args of ['{"address":"a"}', null, []]) {
    const result = await call('track_parcel', args)
    assert.equal(result.isError, true)
    assert.match(textOf(result), /arguments must be an object, received (string|null|array)/)
  }
})

test('checkArguments false leaves the arguments to the handler', async (t) => {
  const { call } = await startLowLevel(t, () => text('mine'), { checkArguments: false })
  assert.match(textOf(await call('track_parcel', {})), /^mine/)
})

test('a low-level handler that throws null or undefined is answered', async (t) => {
  for (const value of [null, undefined]) {
    const { call, calls } = await startLowLevel(t, () => Promise.reject(value))
    assert.equal((await call('track_parcel', { address: 'a' })).isError, true)
    assert.equal(calls().length, 1)
  }
})

test('a name that the list does not have is an unknown tool', async (t) => {
  const { call, calls } = await startLowLevel(t, (request) => {
    throw new Error(`Unknown tool: ${request.params.name}`)
  })
  const result = await call('track_parcels', { address: 'a' })
  assert.match(textOf(result), /no tool "track_parcels".*Did you mean "track_parcel"\?/)
  assert.equal(calls()[0]?.error?.class, 'unknown_tool')
})

test('an unlisted tool that fails for another reason is not called unknown', async (t) => {
  const { call, calls } = await startLowLevel(t, () => Promise.reject(new Error('disk on fire')))
  assert.doesNotMatch(textOf(await call('hidden_tool', {})), /no tool/)
  assert.equal(calls()[0]?.error?.class, 'unexpected')
})

test('a list that changes is asked for again', async (t) => {
  const tools: unknown[] = []
  const { server, call } = await startLowLevel(t, () => text('ok'), { tools, listChanged: true })
  assert.equal(textOf(await call('track_parcel', {})), 'ok')
  tools.push(parcels)
  await server.sendToolListChanged()
  assert.match(textOf(await call('track_parcel', {})), /`address` is missing/)
})

test('a list handler that fails leaves the calls alone', async (t) => {
  const { server, call } = await startLowLevel(t, () => text('ok'))
  server.setRequestHandler(ListToolsRequestSchema, () => Promise.reject(new Error('no list')))
  assert.equal(textOf(await call('track_parcel', {})), 'ok')
  assert.equal(textOf(await call('track_parcel', {})), 'ok')
})

test('annotations in the list allow a retry', async (t) => {
  let runs = 0
  const tool = { ...parcels, annotations: { readOnlyHint: true } }
  const { call, calls } = await startLowLevel(
    t,
    () => {
      runs += 1
      if (runs === 1) throw Object.assign(new Error('reset'), { code: 'ECONNRESET' })
      return text('ok')
    },
    { tools: [tool], retry: { baseMs: 1 } },
  )
  assert.equal(textOf(await call('track_parcel', { address: 'a' })), 'ok')
  assert.equal(calls()[0]?.outcome, 'retried')
})

test('A8: a low-level result that breaks the listed output schema is an error', async (t) => {
  const tool = {
    ...parcels,
    outputSchema: {
      type: 'object' as const,
      properties: { n: { type: 'number' } },
      required: ['n'],
    },
  }
  const { call } = await startLowLevel(t, () => ({ content: [], structuredContent: { n: 'x' } }), {
    tools: [tool],
  })
  const result = await call('track_parcel', { address: 'a' })
  assert.equal(result.isError, true)
  assert.match(textOf(result), /structuredContent\.n: expected number, received string/)
})

test('B1: an unknown key of a low-level tool is recorded and told', async (t) => {
  const { call, calls } = await startLowLevel(t, () => text('ok'))
  await call('track_parcel', { address: 'a' })
  const result = await call('track_parcel', { address: 'a', adress: 'b', dayz: 3 })
  assert.match(textOf(result), /`dayz` \(did you mean `days`\?\)/)
  assert.deepEqual(calls()[1]?.dropped, ['adress', 'dayz'])
})

test("a handler that takes the place of an McpServer's own is guarded too", async (t) => {
  const logs = logDirectory(t)
  const server = unsilence(new McpServer({ name: 'mixed', version: '1' }), { logs })
  server.registerTool('listed', {}, () => text('never'))
  server.server.setRequestHandler(CallToolRequestSchema, () => Promise.reject(null))
  const client = await connectClient(t, server)
  const result = await client.callTool({ name: 'listed' })
  assert.equal(result.isError, true)
  assert.deepEqual(
    readCalls(logs).map(({ error, attempts }) => [error?.class, attempts.length]),
    [['unexpected', 1]],
  )
})
