import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js'
import {
  CallToolResultSchema,
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import { type ExampleCall, type ExampleServer, entryOf } from './servers.ts'

/** What a client gets for one call. */
export type Answer = {
  result?: Record<string, unknown>
  /** A JSON-RPC error. */
  error?: { code: unknown; message: string; data: unknown }
  progress: number[]
}

export type Session = {
  tools: ListedTool[]
  /** Calls as `call` says, or with other arguments. */
  call(call: ExampleCall, args?: unknown): Promise<Answer>
  close(): Promise<void>
}

export type ListedTool = {
  name: string
  inputSchema: { properties?: Record<string, { type?: unknown }>; required?: string[] }
}

export type SessionOptions = {
  directory: string
  logs: string
  /** Absent: the server alone. */
  wrap?: 'before' | 'after'
  /** Stands in front of the server's own command, as a proxy does. */
  prefix?: readonly string[]
}

const TIMEOUT_MS = 60_000
const TSX = import.meta.resolve('tsx')

/** Starts an example server as a process of its own, and a client that can do all it asks for. */
export async function openSession(
  server: ExampleServer,
  { directory, logs, wrap, prefix = [] }: SessionOptions,
): Promise<Session> {
  const preload = pathToFileURL(join(import.meta.dirname, 'wrap-preload.ts')).href
  const [command = '', ...args] = [
    ...prefix,
    process.execPath,
    ...['--import', TSX],
    ...(wrap ? ['--import', preload] : []),
    entryOf(server),
    ...server.args(directory),
  ]
  const taskStore = new InMemoryTaskStore()
  const client = createClient(directory, taskStore)
  await client.connect(
    new StdioClientTransport({
      command,
      args,
      stderr: 'ignore',
      env: {
        PATH: process.env.PATH ?? '',
        UNSILENT_HOME: logs,
        EXAMPLE_ENTRY: entryOf(server),
        EXAMPLE_LOGS: logs,
        EXAMPLE_WRAP: wrap ?? 'not',
        ...server.env(directory),
      },
    }),
    { timeout: TIMEOUT_MS },
  )
  // A server may register more tools once it knows its client.
  await client.ping()
  const { tools } = await client.listTools(undefined, { timeout: TIMEOUT_MS })
  return {
    tools: tools as ListedTool[],
    call: (call, given) => callOf(client, call, given ?? call.args),
    async close() {
      await client.close()
      taskStore.cleanup()
    },
  }
}

async function callOf(
  client: Client,
  { tool, progress, task }: ExampleCall,
  args: unknown,
): Promise<Answer> {
  const params = { name: tool, arguments: args } as { name: string }
  const steps: number[] = []
  const onprogress = progress
    ? (step: { progress: number }) => steps.push(step.progress)
    : undefined
  const options = { timeout: TIMEOUT_MS, ...(onprogress ? { onprogress } : {}) }
  try {
    const result = task
      ? await taskResult(client, params)
      : await client.request({ method: 'tools/call', params }, z.looseObject({}), options)
    return { result: result as Record<string, unknown>, progress: steps }
  } catch (error) {
    const { code, message, data } = error as { code?: unknown; message: string; data?: unknown }
    return { error: { code, message, data }, progress: steps }
  }
}

async function taskResult(client: Client, params: { name: string }): Promise<unknown> {
  const stream = client.experimental.tasks.callToolStream(params, CallToolResultSchema, {
    timeout: TIMEOUT_MS,
    task: { ttl: TIMEOUT_MS },
  })
  for await (const message of stream) {
    if (message.type === 'result') return message.result
    if (message.type === 'error') throw message.error
  }
  throw new Error('the task ended without a word')
}

/** Answers whatever a server may ask, at once and always the same; as a task where it asks so. */
function createClient(directory: string, taskStore: InMemoryTaskStore): Client {
  const client = new Client(
    { name: 'examples', version: '1' },
    {
      taskStore,
      capabilities: {
        sampling: {},
        elicitation: { form: {}, url: {} },
        roots: {},
        tasks: {
          requests: { sampling: { createMessage: {} }, elicitation: { create: {} } },
        },
      },
    },
  )
  const sampled = {
    model: 'none',
    role: 'assistant' as const,
    content: { type: 'text' as const, text: 'sampled' },
  }
  const accepted = { action: 'accept' as const, content: { name: 'Ada' } }
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }, extra) =>
    params.task ? (asTask(extra.taskStore, sampled) as never) : sampled,
  )
  client.setRequestHandler(ElicitRequestSchema, ({ params }, extra) => {
    if (params.mode === 'url') return { action: 'accept' }
    return params.task ? (asTask(extra.taskStore, accepted) as never) : accepted
  })
  client.setRequestHandler(ListRootsRequestSchema, () => ({
    roots: [{ uri: pathToFileURL(directory).href, name: 'here' }],
  }))
  return client
}

type TaskStore = {
  createTask(params: { ttl: number; pollInterval: number }): Promise<{ taskId: string }>
  storeTaskResult(id: string, status: 'completed', result: object): Promise<void>
}

async function asTask(store: unknown, result: object): Promise<{ task: { taskId: string } }> {
  const tasks = store as TaskStore
  const task = await tasks.createTask({ ttl: TIMEOUT_MS, pollInterval: 50 })
  await tasks.storeTaskResult(task.taskId, 'completed', result)
  return { task }
}
