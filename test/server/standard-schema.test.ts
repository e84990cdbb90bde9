import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type CallToolResult, Client } from '@modelcontextprotocol/client'
import { InMemoryTransport, McpServer } from '@modelcontextprotocol/server'
import { unsilence } from '../../server/index.ts'
import { readCalls } from './demo-log.ts'
import { logDirectory, textOf } from './wrapper-harness.ts'

type Issue = { message: string; path?: (string | { key: string })[] }

/** A schema of no library: only what Standard Schema asks for, and a JSON form for the list. */
function ownSchema(options: { json: () => object }) {
  const validate = (value: unknown) => {
    const given = (value ?? {}) as Record<string, unknown>
    const issues: Issue[] = []
    if (typeof given.city !== 'string') issues.push({ message: 'a city, please', path: ['city'] })
    const { days } = given
    if (days !== undefined && typeof days !== 'number') {
      issues.push({ message: 'days are counted in numbers', path: [{ key: 'days' }] })
    }
    return issues.length > 0 ? { issues } : { value: { city: given.city, days } }
  }
  const json = { input: options.json, output: options.json }
  return { '~standard': { version: 1, vendor: 'own', validate, jsonSchema: json } }
}

async function start(t: TestContext, inputSchema: object) {
  const logs = logDirectory(t)
  const server = unsilence(new McpServer({ name: 'weather', version: '1' }), { logs })
  server.registerTool('forecast', { inputSchema: inputSchema as never }, (() => ({
    content: [{ type: 'text', text: 'rain' }],
  })) as never)
  const client = new Client({ name: 'test', version: '1' })
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair()
  await server.connect(serverSide)
  await client.connect(clientSide)
  t.after(() => client.close())
  return {
    calls: () => readCalls(logs),
    async call(args: Record<string, unknown>) {
      return (await client.callTool({ name: 'forecast', arguments: args })) as CallToolResult
    },
  }
}

const json = () => ({
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1 } },
  required: ['city'],
})

test('a schema of no known library names each failing parameter, by its JSON form', async (t) => {
  const { call, calls } = await start(t, ownSchema({ json }))
  const refused = await call({ town: 'Berlin', days: '3' })
  assert.equal(refused.isError, true)
  const said = textOf(refused as never)
  assert.match(said, /`town`.*`city`/)
  assert.match(said, /`days`: expected integer of at least 1, received string "3"; send 3/)
  assert.equal(calls()[0]?.error?.class, 'invalid_arguments')
  assert.deepEqual(
    calls()[0]
      ?.issues?.map(({ path }) => path)
      .sort(),
    ['city', 'days', 'town'],
  )
})

test('a schema of no known library lets good arguments pass', async (t) => {
  const { call, calls } = await start(t, ownSchema({ json }))
  assert.equal(textOf((await call({ city: 'Berlin', days: 3 })) as never), 'rain')
  assert.equal(calls()[0]?.outcome, 'succeeded')
})

test('where its JSON form says nothing, the schema’s own words are told', async (t) => {
  const { call, calls } = await start(t, ownSchema({ json: () => ({ type: 'object' }) }))
  const refused = await call({ days: '3' })
  assert.equal(refused.isError, true)
  assert.match(textOf(refused as never), /`city` is missing/)
  assert.match(
    textOf(refused as never),
    /`days`: days are counted in numbers \(received string "3"\)/,
  )
  assert.equal(calls()[0]?.error?.class, 'invalid_arguments')
})
