import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/sdk/types.js'
import { McpServer as McpServerV2 } from '@modelcontextprotocol/server'
import fc from 'fast-check'
import { z } from 'zod'
import { readOpenJournal } from '../../server/call-log/open-journal.ts'
import { ConnectionError, ToolError, unsilence } from '../../server/index.ts'
import { type LoggedRecord, readCalls, readRecords } from './demo-log.ts'
import { startChild } from './stdio-child.ts'
import { logDirectory, text, until } from './wrapper-harness.ts'

type Handler = (args: unknown, context: unknown) => unknown

const elicitation = {
  mode: 'url' as const,
  message: 'm',
  url: 'https://a.test/',
  elicitationId: 'e',
}
const loop: Record<string, unknown> = {}
loop.self = loop

const rejectWith = (error: unknown) => () => {
  throw error
}

/** One tool for each way in which a handler can end. */
const tools: Record<string, Handler> = {
  ok: () => text('ok'),
  slow: () => new Promise((resolve) => setTimeout(() => resolve(text('slow')), 15)),
  hangs: () => new Promise(() => undefined),
  rejects: async () => rejectWith(new Error('later'))(),
  throws: rejectWith(new Error('now')),
  throws_null: rejectWith(null),
  throws_bare: rejectWith(Object.create(null)),
  speaks: rejectWith(new ToolError('No invoice 42.')),
  refused: rejectWith(new ConnectionError('gone', { code: 'ECONNREFUSED' })),
  asks_url: rejectWith(new UrlElicitationRequiredError([elicitation])),
  nothing: () => undefined,
  returns_null: () => null,
  returns_text: () => 'words',
  bad_block: () => ({ content: [{ type: 'json', json: {} }] }),
  bigint: () => ({ content: [], structuredContent: { id: 1n } }),
  circular: () => ({ content: [], structuredContent: loop }),
  mute: () => ({ content: [], isError: true }),
  says_error: () => ({ ...text('locked'), isError: true }),
  disguised: () => text('Error: connect ECONNREFUSED 10.0.0.1:5432'),
  empty: () => ({ content: [] }),
  asks_input: () => ({ resultType: 'input_required', inputRequests: {} }),
  breaks_schema: () => ({ content: [], structuredContent: { n: 'x' } }),
  off: () => text('never'),
}

const options = { retry: { baseMs: 1, budgetMinimum: 1_000 }, tools: { refused: { retry: true } } }

const servers = {
  'an McpServer of SDK v1'(logs: string) {
    const server = unsilence(new McpServer({ name: 'all', version: '1' }), { logs, ...options })
    for (const [name, handler] of Object.entries(tools)) {
      const outputSchema = name === 'breaks_schema' ? { outputSchema: { n: z.number() } } : {}
      const config = { inputSchema: { n: z.number().optional() }, ...outputSchema }
      const tool = server.registerTool(name, config, handler as never)
      if (name === 'off') tool.disable()
    }
    return server
  },
  'a low-level server of SDK v1'(logs: string) {
    const capabilities = { tools: {} }
    const server = unsilence(new Server({ name: 'all', version: '1' }, { capabilities }), {
      logs,
      ...options,
    })
    const inputSchema = { type: 'object' as const, properties: { n: { type: 'number' } } }
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: Object.keys(tools).map((name) => ({ name, inputSchema })),
    }))
    server.setRequestHandler(
      CallToolRequestSchema,
      ({ params }, extra) =>
        (tools[params.name] ?? rejectWith(new Error(`unknown tool ${params.name}`)))(
          params.arguments,
          extra,
        ) as never,
    )
    return server
  },
  'an McpServer of SDK v2'(logs: string) {
    const server = unsilence(new McpServerV2({ name: 'all', version: '1' }), { logs, ...options })
    for (const [name, handler] of Object.entries(tools)) {
      const outputSchema = z.object({ n: z.number() })
      const config = {
        inputSchema: z.object({ n: z.number().optional() }),
        ...(name === 'breaks_schema' ? { outputSchema } : {}),
      }
      const tool = server.registerTool(name, config, handler as never)
      if (name === 'off') tool.disable()
    }
    return server
  },
}

type Sent = {
  /** What goes under `params`. */
  params: unknown
  /** Milliseconds after which the client takes the call back; undefined for never. */
  cancelAfterMs: number | undefined
  reason: string
  /** The call has the same id as the one before it. */
  repeatsId: boolean
}

const args = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ n: 1 }) },
  fc.constantFrom(undefined, {}, { n: 'x' }, { n: 1, junk: 2 }, null, [], 'words', 7),
)
const name = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...Object.keys(tools)) },
  fc.constantFrom('nope', '__proto__', 'toString', '', undefined, 7, null),
)
const params = fc.oneof(
  { weight: 12, arbitrary: fc.record({ name, arguments: args }) },
  fc.record({ name, arguments: args, _meta: fc.constantFrom(null, {}, { progressToken: 1 }) }),
  fc.constantFrom(null, undefined, [], {}),
)
const sent: fc.Arbitrary<Sent> = fc.record({
  params,
  cancelAfterMs: fc.option(fc.constantFrom(0, 1, 10), { nil: undefined, freq: 4 }),
  reason: fc.constantFrom('user pressed esc', 'MCP error -32001: Request timed out', ''),
  repeatsId: fc.boolean(),
})

function isNeverAnswered({ params: of, cancelAfterMs }: Sent): boolean {
  const hangs = typeof of === 'object' && of !== null && 'name' in of && of.name === 'hangs'
  return hangs || cancelAfterMs !== undefined
}

/** Sends them all at once, waits for the answers, and then goes away. */
async function sendAll(server: { connect(transport: never): Promise<unknown> }, calls: Sent[]) {
  const [near, far] = InMemoryTransport.createLinkedPair()
  const answers = new Map<number, number>()
  near.onmessage = (message) => {
    if ('method' in message || !('id' in message)) return
    answers.set(Number(message.id), (answers.get(Number(message.id)) ?? 0) + 1)
  }
  await server.connect(far as never)
  await near.start()
  const send = (message: object) => near.send({ jsonrpc: '2.0', ...message } as never)
  const clientInfo = { name: 'raw', version: '1' }
  const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  await send({ id: 0, method: 'initialize', params: hello })
  await until(() => answers.get(0), 'the handshake')
  await send({ method: 'notifications/initialized' })

  const ids: number[] = []
  for (const { params: of, repeatsId, cancelAfterMs, reason } of calls) {
    const id = repeatsId && ids.length > 0 ? (ids.at(-1) as number) : ids.length + 1
    ids.push(id)
    void send({ id, method: 'tools/call', params: of })
    if (cancelAfterMs === undefined) continue
    const cancelled = { method: 'notifications/cancelled', params: { requestId: id, reason } }
    if (cancelAfterMs === 0) void send(cancelled)
    else setTimeout(() => void send(cancelled).catch(() => undefined), cancelAfterMs)
  }
  const due = new Map<number, number>()
  const doubtful = new Set<number>()
  for (const [index, call] of calls.entries()) {
    const id = ids[index] as number
    // Which of two calls with one id is taken back is for the SDK to say.
    if (isNeverAnswered(call)) doubtful.add(id)
    due.set(id, (due.get(id) ?? 0) + 1)
  }
  const isDone = () =>
    [...due].every(([id, count]) => doubtful.has(id) || answers.get(id) === count) || undefined
  await until(isDone, `answers: ${JSON.stringify([...answers])} to ${JSON.stringify(calls)}`)
  await new Promise((resolve) => setTimeout(resolve, 12))
  await near.close()
  return { due, answers }
}

function assertOneRecordEach(records: LoggedRecord[], due: Map<number, number>): void {
  const found = new Map<number, number>()
  const ids = new Set<string>()
  for (const record of records) {
    if (record.kind === 'late') assert.ok(ids.has(record.call), 'a late of no call')
    if (record.kind !== 'call') continue
    assert.ok(!ids.has(record.call), 'a call recorded twice')
    ids.add(record.call)
    found.set(Number(record.request), (found.get(Number(record.request)) ?? 0) + 1)
    assert.equal(record.outcome === 'failed', record.error !== undefined)
  }
  assert.deepEqual([...found].sort(), [...due].sort())
}

for (const [kind, build] of Object.entries(servers)) {
  test(`each call leaves exactly one record, whatever becomes of it: ${kind}`, async (t) => {
    const property = fc.asyncProperty(
      fc.array(sent, { minLength: 1, maxLength: 40 }),
      async (calls) => {
        const logs = logDirectory(t)
        const { due, answers } = await sendAll(build(logs), calls)
        assertOneRecordEach(readRecords(logs), due)
        for (const [id, count] of answers) assert.ok(count <= (due.get(id) ?? 1), 'answered twice')
      },
    )
    await fc.assert(property, { numRuns: 30 })
  })
}

test('each call leaves exactly one record when one of them ends the process', async (t) => {
  for (const [ending, code] of [
    ['crashes', 1],
    ['exits', 3],
    ['fatal', 78],
  ] as const) {
    const { logs, child, due } = await startMix(t)
    child.call(99, ending)
    due.set(99, 1)
    assert.equal(await child.exitCode(), code)
    assertOneRecordEach(readRecords(logs), due)
  }
})

test('each call is in the log or in the journal when the process is killed', async (t) => {
  const { logs, child, due } = await startMix(t)
  const journal = () => {
    const file = readdirSync(logs).find((each) => each.endsWith('.open'))
    return file ? (readOpenJournal(readFileSync(join(logs, file)))?.calls ?? []) : []
  }
  await until(() => journal().length >= 10 || undefined, 'ten calls in the journal')
  child.process.kill('SIGKILL')
  await child.exitCode()
  const found = [...readCalls(logs), ...journal()].map(({ request }) => Number(request))
  assert.deepEqual(found.sort(byNumber), [...due.keys()].sort(byNumber))
})

const byNumber = (a: number, b: number) => a - b

/** A server as a child process, with calls that are answered and ten that hang. */
async function startMix(t: TestContext) {
  const logs = logDirectory(t)
  const child = await startChild(t, 'faulty-server.ts', [logs])
  const mix = ['ok', 'hangs', 'throws', 'nothing', 'bigint', 'noisy', 'nope']
  const due = new Map<number, number>()
  for (let id = 1; id <= 70; id += 1) {
    child.call(id, mix[id % mix.length] as string, { n: id })
    due.set(id, 1)
  }
  for (const id of due.keys()) if (mix[id % mix.length] !== 'hangs') await child.answer(id)
  return { logs, child, due }
}
