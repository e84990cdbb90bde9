import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type CallToolResult, Client } from '@modelcontextprotocol/client'
import { InMemoryTransport, Server } from '@modelcontextprotocol/server'
import { unsilence } from '../../server/index.ts'
import { readCalls } from './demo-log.ts'
import { logDirectory } from './wrapper-harness.ts'

type Handle = (name: string, args: unknown) => unknown

/** A low-level server of SDK v2 with one tool, `pay`, that takes an amount. */
async function connected(t: TestContext, handle: Handle) {
  const logs = logDirectory(t)
  const info = { name: 'low-v2', version: '1' }
  const server = unsilence(new Server(info, { capabilities: { tools: {} } }), { logs })
  const inputSchema = {
    type: 'object' as const,
    properties: { amount: { type: 'number' } },
    required: ['amount'],
  }
  server.setRequestHandler('tools/list', () => ({ tools: [{ name: 'pay', inputSchema }] }))
  server.setRequestHandler(
    'tools/call',
    async ({ params }) => (await handle(params.name, params.arguments)) as CallToolResult,
  )
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair()
  await server.connect(serverSide)
  const client = new Client({ name: 'v2-client', version: '3' })
  await client.connect(clientSide)
  t.after(() => client.close())
  const pay = async (args: Record<string, unknown>) =>
    (await client.callTool({ name: 'pay', arguments: args })) as CallToolResult
  return { pay, classes: () => readCalls(logs).map(({ error }) => error?.class) }
}

test('a low-level v2 server: what it throws is an isError answer and one record', async (t) => {
  for (const thrown of [new Error('boom'), null, undefined, 'a text']) {
    const { pay, classes } = await connected(t, () => {
      throw thrown
    })
    const result = await pay({ amount: 1 })
    assert.equal(result.isError, true)
    assert.match(JSON.stringify(result.content), /\\"pay\\" failed/)
    assert.deepEqual(classes(), ['unexpected'])
  }
})

test('a low-level v2 server: arguments that break the listed schema never reach it', async (t) => {
  let runs = 0
  const { pay, classes } = await connected(t, () => {
    runs += 1
    return { content: [{ type: 'text', text: 'paid' }] }
  })
  const refused = await pay({ amount: '5' })
  assert.equal(refused.isError, true)
  assert.match(JSON.stringify(refused.content), /`amount`.*expected number, received string/)
  assert.equal(runs, 0)
  assert.deepEqual((await pay({ amount: 5 })).content, [{ type: 'text', text: 'paid' }])
  assert.deepEqual(classes(), ['invalid_arguments', undefined])
})

test('a low-level v2 server: a result that cannot be sent is an isError answer', async (t) => {
  for (const value of [undefined, { content: [], structuredContent: { id: 1n } }, 'text']) {
    const { pay, classes } = await connected(t, () => value)
    assert.equal((await pay({ amount: 1 })).isError, true)
    assert.deepEqual(classes(), ['bad_result'])
  }
})
