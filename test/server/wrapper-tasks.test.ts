import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { ToolTaskHandler } from '@modelcontextprotocol/sdk/experimental/tasks/interfaces.js'
import { InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { type CallToolResult, CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import { type UnsilenceOptions, unsilence } from '../../server/index.ts'
import { readCalls, readRecords } from './demo-log.ts'
import { logDirectory, text, until } from './wrapper-harness.ts'

type Result = CallToolResult & { thrown?: string }

const inputSchema = { n: z.number() }
type Create = ToolTaskHandler<typeof inputSchema>['createTask']

/** A task that ends by itself, with that status and result. */
function endsWith(status: 'completed' | 'failed', result: CallToolResult): Create {
  return async (_args, { taskStore }) => {
    const task = await taskStore.createTask({ ttl: 60_000, pollInterval: 10 })
    setTimeout(() => void taskStore.storeTaskResult(task.taskId, status, result), 20)
    return { task }
  }
}

const tools: Record<string, Create> = {
  fine: endsWith('completed', text('done')),
  fails: endsWith('failed', { ...text('no luck'), isError: true }),
  bigint: endsWith('completed', { content: [], structuredContent: { id: 1n } }),
  refuses: async () => {
    throw new Error('no room for a task')
  },
  hangs: () => new Promise(() => undefined),
  never: async (_args, { taskStore }) => ({ task: await taskStore.createTask({ ttl: 60_000 }) }),
}

async function startTasks(
  t: TestContext,
  { support = 'required', late = false, ...options }: StartOptions = {},
) {
  const logs = logDirectory(t)
  const taskStore = new InMemoryTaskStore()
  t.after(() => taskStore.cleanup())
  const capabilities = { tasks: { cancel: {}, requests: { tools: { call: {} } } } }
  const server = new McpServer({ name: 'tasks', version: '1' }, { capabilities, taskStore })
  if (!late) unsilence(server, { logs, ...options })
  for (const [name, createTask] of Object.entries(tools)) {
    const handler: ToolTaskHandler<typeof inputSchema> = {
      createTask,
      getTask: (_args, { taskId, taskStore: store }) => store.getTask(taskId),
      getTaskResult: async (_args, { taskId, taskStore: store }) =>
        (await store.getTaskResult(taskId)) as CallToolResult,
    }
    const config = { inputSchema, execution: { taskSupport: support } }
    server.experimental.tasks.registerToolTask(name, config as never, handler)
  }
  server.registerTool('plain', {}, () => text('plain'))
  if (late) unsilence(server, { logs, ...options })
  const [near, far] = InMemoryTransport.createLinkedPair()
  const client = new Client({ name: 'c', version: '1' })
  await server.connect(far as Transport)
  await client.connect(near as Transport)
  t.after(() => client.close())
  await client.listTools()
  const run = async (name: string, args: object = { n: 1 }): Promise<Result> => {
    const params = { name, arguments: args as Record<string, unknown> }
    const settings = { task: { ttl: 60_000 }, timeout: 10_000 }
    for await (const message of client.experimental.tasks.callToolStream(
      params,
      CallToolResultSchema,
      settings,
    )) {
      if (message.type === 'result') return message.result as CallToolResult
      if (message.type === 'error') return { content: [], thrown: `${message.error}` }
    }
    throw new Error('the stream ended without a word')
  }
  return { client, run, calls: () => readCalls(logs), lates: () => latesIn(logs) }
}

type StartOptions = UnsilenceOptions & { support?: 'required' | 'optional'; late?: boolean }

function latesIn(logs: string) {
  return readRecords(logs).flatMap((record) => (record.kind === 'late' ? [record] : []))
}

function textIn(result: Result): string {
  return result.thrown ?? JSON.stringify(result.content)
}

test('a call answered with a task is deferred, and the end of the task follows as a late', async (t) => {
  const { run, calls, lates } = await startTasks(t)
  assert.match(textIn(await run('fine')), /done/)
  await run('fails')
  assert.deepEqual(
    calls().map(({ tool, outcome, error }) => [tool, outcome, error]),
    [
      ['fine', 'deferred', undefined],
      ['fails', 'deferred', undefined],
    ],
  )
  assert.deepEqual(
    lates().map(({ call, tool, outcome }) => [call, tool, outcome]),
    [
      [calls()[0]?.call, 'fine', 'succeeded'],
      [calls()[1]?.call, 'fails', 'failed'],
    ],
  )
  assert.ok((lates()[0]?.ms ?? 0) >= 15)
})

test('a task that the client calls off has failed', async (t) => {
  const { client, calls, lates } = await startTasks(t)
  const created = (await client.request(
    {
      method: 'tools/call',
      params: { name: 'never', arguments: { n: 1 }, task: { ttl: 60_000 } },
    },
    z.looseObject({}),
  )) as unknown as { task: { taskId: string } }
  await client.experimental.tasks.cancelTask(created.task.taskId)
  assert.deepEqual(
    lates().map(({ call, outcome }) => [call, outcome]),
    [[calls()[0]?.call, 'failed']],
  )
})

test('a task whose result cannot be serialised is answered, and told to have failed', async (t) => {
  const { run, lates } = await startTasks(t)
  const result = await run('bigint')
  assert.match(textIn(result), /"bigint\\" ran, but its result is broken: .*BigInt/)
  assert.equal(result.isError, true)
  assert.equal(lates().at(-1)?.outcome, 'failed')
})

test('a client that wants a task reads why it gets none, as the error it can take', async (t) => {
  const { run, calls } = await startTasks(t)
  assert.match(textIn(await run('fine', { n: 'x' })), /-32602: Invalid arguments for "fine": `n`/)
  assert.match(textIn(await run('refuses')), /"refuses" failed: unexpected error.*under call/)
  assert.match(textIn(await run('plain', {})), /"plain" ran, but not as a task.*without `task`/)
  assert.match(textIn(await run('nope')), /There is no tool "nope"/)
  assert.deepEqual(
    calls().map(({ tool, error }) => [tool, error?.class]),
    [
      ['fine', 'invalid_arguments'],
      ['refuses', 'unexpected'],
      ['plain', 'bad_result'],
      ['nope', 'unknown_tool'],
    ],
  )
  assert.equal(calls()[1]?.error?.message, 'no room for a task')
})

test('a tool that runs as a task only says so to a client that asks for none', async (t) => {
  const { client, calls } = await startTasks(t)
  const params = { name: 'fine', arguments: { n: 1 } }
  const result = await client.request({ method: 'tools/call', params }, CallToolResultSchema)
  assert.equal(result.isError, true)
  assert.match(textIn(result), /"fine\\" runs as a task only: send `task` with the call\./)
  assert.equal(calls()[0]?.error?.class, 'invalid_arguments')
})

test('a task that is never made is given up at the deadline', async (t) => {
  const { run, calls } = await startTasks(t, { timeout: 100 })
  assert.match(textIn(await run('hangs')), /"hangs" did not finish within 0.1 s/)
  assert.equal(calls()[0]?.error?.by, 'deadline')
})

for (const late of [false, true]) {
  test(`a task that the SDK waits for is one call with one end (${late ? 'wrapped after' : 'wrapped before'} its tools)`, async (t) => {
    const { client, calls, lates } = await startTasks(t, { support: 'optional', late })
    const call = (name: string, args: object = { n: 1 }) =>
      client.callTool({ name, arguments: args as Record<string, unknown> })
    assert.deepEqual((await call('fine')).content, text('done').content)
    const failed = await call('fails')
    assert.deepEqual(failed.content, text('no luck').content)
    assert.equal(failed.isError, true)
    assert.match(JSON.stringify(await call('refuses')), /"refuses\\" failed: unexpected error/)
    assert.deepEqual(
      calls().map(({ tool, outcome, error }) => [tool, outcome, error?.class]),
      [
        ['fine', 'succeeded', undefined],
        ['fails', 'failed', 'tool_error'],
        ['refuses', 'failed', 'unexpected'],
      ],
    )
    assert.deepEqual(lates(), [])
  })
}

test('a task that nobody asks about again is followed to its end by its status', async (t) => {
  const { client, lates } = await startTasks(t)
  const params = { name: 'fine', arguments: { n: 1 }, task: { ttl: 60_000 } }
  await client.request({ method: 'tools/call', params }, z.looseObject({}))
  const late = await until(() => lates()[0], 'the end of the task')
  assert.equal(late.outcome, 'succeeded')
})
