import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import {
  CallToolResultSchema,
  ErrorCode,
  McpError,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import { ConnectionError, ToolError, unsilence } from '../../server/index.ts'
import { readCalls, readRecords } from './demo-log.ts'
import {
  connectClient,
  logDirectory,
  startWrapped,
  text,
  textOf,
  until,
} from './wrapper-harness.ts'

const readOnly = { readOnlyHint: true }

test('a call that succeeds passes unchanged and leaves one record', async (t) => {
  const { call, calls } = await startWrapped(t, (server) => {
    server.registerTool('greet', { inputSchema: { who: z.string() } }, ({ who }) =>
      text(`hi ${who}`),
    )
  })
  const result = await call('greet', { who: 'Ada' })
  assert.deepEqual(result, { content: [{ type: 'text', text: 'hi Ada' }] })
  const [record, ...others] = calls()
  assert.equal(others.length, 0)
  assert.equal(record?.outcome, 'succeeded')
  assert.equal(record?.tool, 'greet')
  assert.deepEqual(record?.server, { name: 'shop', version: '1.2.3' })
  assert.deepEqual(record?.client, { name: 'test-client', version: '9' })
  assert.equal(record?.transport, 'memory')
  assert.deepEqual(record?.args, { who: 'Ada' })
  assert.deepEqual(record?.result, { bytes: 6, blocks: 1 })
  assert.equal(record?.attempts.length, 1)
  assert.match(record?.args_hash ?? '', /^[0-9a-f]{16}$/)
  assert.equal(Object.keys(record ?? {}).at(-1), 'args')
})

test('a transient failure of a read-only tool is retried and recorded as retried', async (t) => {
  let runs = 0
  const { call, calls } = await startWrapped(
    t,
    (server) => {
      server.registerTool('rates', { annotations: readOnly }, () => {
        runs += 1
        if (runs < 3) throw new ConnectionError('gone', { code: 'ECONNRESET' })
        return text('1.08')
      })
    },
    { retry: { baseMs: 1 } },
  )
  assert.equal(textOf(await call('rates')), '1.08')
  const [record] = calls()
  assert.equal(record?.outcome, 'retried')
  assert.deepEqual(
    record?.attempts.map(({ class: kind, code }) => [kind, code]),
    [
      ['connection', 'ECONNRESET'],
      ['connection', 'ECONNRESET'],
      [undefined, undefined],
    ],
  )
  assert.ok((record?.attempts[1]?.wait_ms ?? -1) >= 0)
  assert.equal(record?.error, undefined)
})

test('a tool that may change data is not repeated, and the record says why', async (t) => {
  let runs = 0
  const { call, calls } = await startWrapped(t, (server) => {
    server.registerTool('pay', {}, () => {
      runs += 1
      throw new ConnectionError('gone', { code: 'ECONNRESET' })
    })
  })
  const result = await call('pay')
  assert.equal(runs, 1)
  assert.equal(result.isError, true)
  assert.match(textOf(result), /could not be reached \(ECONNRESET\).*not repeated/)
  assert.equal(calls()[0]?.retry_suppressed, 'unsafe')
  assert.equal(calls()[0]?.error?.class, 'connection')
})

test('options by tool allow a retry that annotations do not', async (t) => {
  let runs = 0
  const { call } = await startWrapped(
    t,
    (server) => {
      server.registerTool('pay', {}, () => {
        runs += 1
        if (runs === 1) throw new ConnectionError('gone')
        return text('paid')
      })
    },
    { retry: { baseMs: 1 }, tools: { pay: { retry: true } } },
  )
  assert.equal(textOf(await call('pay')), 'paid')
})

test('A17: each of six fates leaves exactly one record, written after the outcome', async (t) => {
  const { client, call, calls } = await startWrapped(t, (server) => {
    server.registerTool('ok', {}, () => text('ok'))
    server.registerTool('rejects', {}, async () => {
      throw new Error('later')
    })
    server.registerTool('throws', {}, () => {
      throw new Error('now')
    })
    server.registerTool('hangs', {}, () => new Promise<never>(() => undefined))
    server.registerTool('checked', { inputSchema: { n: z.number() } }, () => text('ok'))
  })
  await call('ok')
  await call('rejects')
  await call('throws')
  const controller = new AbortController()
  const hanging = client.callTool({ name: 'hangs' }, undefined, { signal: controller.signal })
  controller.abort('user pressed esc')
  await assert.rejects(hanging)
  await call('checked', { n: 'x' })
  await call('nope')
  const records = await until(() => (calls().length >= 6 ? calls() : undefined), 'six records')
  assert.deepEqual(
    records.map(({ tool, outcome, error }) => [tool, outcome, error?.class]).sort(),
    [
      ['checked', 'failed', 'invalid_arguments'],
      ['hangs', 'failed', 'cancelled'],
      ['nope', 'failed', 'unknown_tool'],
      ['ok', 'succeeded', undefined],
      ['rejects', 'failed', 'unexpected'],
      ['throws', 'failed', 'unexpected'],
    ],
  )
})

test('C1: a client that gives up is a timeout by the client, and the late end is recorded', async (t) => {
  const { client, calls, logs } = await startWrapped(t, (server) => {
    server.registerTool('slow', {}, async () => {
      await new Promise((resolve) => setTimeout(resolve, 300))
      return text('too late')
    })
  })
  await assert.rejects(client.callTool({ name: 'slow' }, undefined, { timeout: 50 }))
  const late = await until(
    () => readRecords(logs).find((record) => record.kind === 'late'),
    'a late record',
  )
  const [record, ...others] = calls()
  assert.equal(others.length, 0)
  assert.equal(record?.error?.class, 'timeout')
  assert.equal(record?.error?.by, 'client')
  assert.ok((record?.duration_ms ?? 0) >= 45)
  assert.equal(late.kind === 'late' && late.call, record?.call)
  assert.equal(late.kind === 'late' && late.outcome, 'succeeded')
})

test('a cancellation for another reason than time is cancelled', async (t) => {
  const { client, calls } = await startWrapped(t, (server) => {
    server.registerTool('slow', {}, (extra) => {
      return new Promise((_, reject) => {
        extra.signal.addEventListener('abort', () => reject(extra.signal.reason))
      })
    })
  })
  const controller = new AbortController()
  const calling = client.callTool({ name: 'slow' }, undefined, { signal: controller.signal })
  controller.abort('user pressed esc')
  await assert.rejects(calling)
  const record = await until(() => calls()[0], 'a record')
  assert.equal(record.error?.class, 'cancelled')
  assert.equal(record.error?.by, 'client')
})

test('a client that goes away leaves its open calls recorded as not delivered', async (t) => {
  const { client, calls } = await startWrapped(t, (server) => {
    server.registerTool('hangs', {}, () => new Promise<never>(() => undefined))
  })
  const calling = client.callTool({ name: 'hangs' })
  await client.close()
  await assert.rejects(calling)
  const record = await until(() => calls()[0], 'a record')
  assert.equal(record.error?.class, 'cancelled')
  assert.equal(record.delivered, false)
})

test('concurrent calls with one id do not mix', async (t) => {
  const logs = logDirectory(t)
  const server = unsilence(new McpServer({ name: 'shop', version: '1' }), { logs })
  server.registerTool(
    'wait',
    { inputSchema: { ms: z.number(), word: z.string() } },
    async (args) => {
      await new Promise((resolve) => setTimeout(resolve, args.ms))
      if (args.word === 'bad') throw new Error('bad')
      return text(args.word)
    },
  )
  const [near, far] = InMemoryTransport.createLinkedPair()
  const answers: { id: number; result: { isError?: boolean } }[] = []
  near.onmessage = (message) => answers.push(message as never)
  await server.connect(far)
  await near.start()
  const callWith = (ms: number, word: string) =>
    near.send({
      jsonrpc: '2.0',
      id: 7,
      method: 'tools/call',
      params: { name: 'wait', arguments: { ms, word } },
    })
  await Promise.all([callWith(120, 'slow'), callWith(5, 'bad'), callWith(50, 'fast')])
  await until(() => (answers.length === 3 ? true : undefined), 'three answers')
  assert.deepEqual(
    readCalls(logs).map(({ outcome, args }) => [(args as { word: string }).word, outcome]),
    [
      ['bad', 'failed'],
      ['fast', 'succeeded'],
      ['slow', 'succeeded'],
    ],
  )
})

test('A18: an isError result of the tool passes with both its blocks', async (t) => {
  const own = {
    isError: true,
    content: [
      { type: 'text' as const, text: 'locked by U1' },
      { type: 'text' as const, text: 'try later' },
    ],
  }
  const { call, calls } = await startWrapped(t, (server) => {
    server.registerTool('lock', {}, () => own)
  })
  assert.deepEqual(await call('lock'), own)
  assert.equal(calls()[0]?.outcome, 'failed')
  assert.equal(calls()[0]?.error?.class, 'tool_error')
})

test('A18: a URL elicitation reaches the client untouched and counts as deferred', async (t) => {
  const { client, calls } = await startWrapped(t, (server) => {
    server.registerTool('login', {}, () => {
      throw new UrlElicitationRequiredError([
        { mode: 'url', message: 'log in', url: 'https://example.test/', elicitationId: 'e1' },
      ])
    })
  })
  await assert.rejects(client.callTool({ name: 'login' }), { code: -32042 })
  assert.equal(calls()[0]?.outcome, 'deferred')
})

test('A18: another McpError is an error of the tool, not of its arguments', async (t) => {
  const { call, calls } = await startWrapped(t, (server) => {
    server.registerTool('odd', { inputSchema: { n: z.number() } }, () => {
      throw new McpError(ErrorCode.InvalidParams, 'x')
    })
  })
  const result = await call('odd', { n: 1 })
  assert.equal(result.isError, true)
  assert.match(textOf(result), /"odd" failed: unexpected error/)
  assert.equal(calls()[0]?.error?.class, 'unexpected')
  assert.equal(calls()[0]?.issues, undefined)
})

test('a result that asks for input is deferred, not broken', async (t) => {
  const { client, calls } = await startWrapped(t, (server) => {
    server.registerTool('ask', { outputSchema: { n: z.number() } }, () => {
      return { resultType: 'input_required', inputRequests: {} } as never
    })
  })
  const result = await client.callTool({ name: 'ask' })
  assert.equal(result.isError, undefined)
  assert.equal(result.resultType, 'input_required')
  assert.equal(calls()[0]?.outcome, 'deferred')
})

test('ToolError speaks to the model word for word', async (t) => {
  const { call, calls } = await startWrapped(t, (server) => {
    server.registerTool('find', {}, () => {
      throw new ToolError('No invoice 42.\nTry list_invoices.')
    })
  })
  assert.deepEqual(await call('find'), {
    content: [{ type: 'text', text: 'No invoice 42.\nTry list_invoices.' }],
    isError: true,
  })
  assert.equal(calls()[0]?.error?.class, 'tool_error')
})

test('an isError result without a word gets one', async (t) => {
  const data = { code: 'E_QUOTA', message: 'quota used up' }
  const { call, calls } = await startWrapped(t, (server) => {
    server.registerTool('mute', {}, () => ({ content: [], isError: true }))
    server.registerTool('blank', {}, () => ({ ...text(' '), isError: true }))
    server.registerTool('data', {}, () => ({ content: [], structuredContent: data, isError: true }))
  })
  assert.match(textOf(await call('mute')), /"mute" failed and gave no reason/)
  assert.match(textOf(await call('blank')), /"blank" failed and gave no reason/)
  const told = await call('data')
  assert.match(textOf(told), /"data" failed: code: E_QUOTA, message: quota used up/)
  assert.deepEqual(told.structuredContent, data)
  assert.deepEqual(
    calls().map(({ error }) => error?.class),
    ['tool_error', 'tool_error', 'tool_error'],
  )
})

test('an unknown tool is answered with the nearest name', async (t) => {
  const { call, calls } = await startWrapped(t, (server) => {
    server.registerTool('search_documents', {}, () => text('ok'))
  })
  const result = await call('search_document')
  assert.equal(result.isError, true)
  assert.match(textOf(result), /no tool "search_document".*Did you mean "search_documents"\?/)
  assert.equal(calls()[0]?.error?.class, 'unknown_tool')
})

for (const name of ['__proto__', 'constructor', 'toString']) {
  test(`a tool named ${name} is unknown, not switched off`, async (t) => {
    const { call, calls } = await startWrapped(t, (server) => {
      server.registerTool('real', {}, () => text('ok'))
    })
    assert.match(textOf(await call(name)), /There is no tool/)
    assert.equal(calls()[0]?.error?.class, 'unknown_tool')
  })
}

test('a disabled tool is said to be switched off', async (t) => {
  const { call, calls } = await startWrapped(t, (server) => {
    server.registerTool('old', {}, () => text('ok')).disable()
  })
  assert.match(textOf(await call('old')), /switched off/)
  assert.equal(calls()[0]?.error?.class, 'unknown_tool')
})

test('tools registered before unsilence() are guarded, and a new callback is too', async (t) => {
  const logs = logDirectory(t)
  const server = new McpServer({ name: 'shop', version: '1' })
  const tool = server.registerTool('early', {}, () => {
    throw new ToolError('first')
  })
  unsilence(server, { logs })
  const client = await connectClient(t, server)
  assert.match(JSON.stringify(await client.callTool({ name: 'early' })), /first/)
  tool.update({
    callback: () => {
      throw new ToolError('second')
    },
  })
  assert.match(JSON.stringify(await client.callTool({ name: 'early' })), /second/)
  tool.update({ name: 'renamed' })
  assert.match(JSON.stringify(await client.callTool({ name: 'renamed' })), /second/)
  assert.deepEqual(
    readCalls(logs).map(({ tool: name, error }) => [name, error?.name]),
    [
      ['early', 'ToolError'],
      ['early', 'ToolError'],
      ['renamed', 'ToolError'],
    ],
  )
})

test('unsilence() twice on one server still gives one record a call', async (t) => {
  const { server, call, calls, logs } = await startWrapped(t, (wrapped) => {
    unsilence(wrapped, { logs: '/nonexistent' })
    wrapped.tool('old_style', { n: z.number() }, ({ n }) => text(String(n)))
  })
  assert.equal(unsilence(server, { logs }), server)
  assert.equal(textOf(await call('old_style', { n: 4 })), '4')
  assert.equal(calls().length, 1)
})

test('B6: a tool without a schema gets the context as its only argument', async (t) => {
  const seen: unknown[][] = []
  const { call } = await startWrapped(t, (server) => {
    server.registerTool('plain', {}, (...args: unknown[]) => {
      seen.push(args)
      return text('ok')
    })
  })
  await call('plain', { junk: 1 })
  assert.equal(seen[0]?.length, 1)
  const [extra] = seen[0] as [{ signal: AbortSignal }]
  assert.ok(extra.signal instanceof AbortSignal)
})

test('UNSILENT=off leaves the server as it was', async (t) => {
  process.env.UNSILENT = 'off'
  t.after(() => {
    delete process.env.UNSILENT
  })
  const { call, logs } = await startWrapped(t, (server) => {
    server.registerTool('find', {}, () => {
      throw new Error('raw words')
    })
  })
  assert.equal(textOf(await call('find')), 'raw words')
  assert.deepEqual(readRecords(logs), [])
})

test('a call past its deadline is answered, aborted and recorded', async (t) => {
  let reason: unknown
  const { call, calls, logs } = await startWrapped(
    t,
    (server) => {
      server.registerTool('slow', {}, async (extra) => {
        await new Promise((resolve) => extra.signal.addEventListener('abort', resolve))
        reason = extra.signal.reason
        return text('too late')
      })
    },
    { tools: { slow: { timeout: '80ms' } } },
  )
  const result = await call('slow')
  assert.equal(result.isError, true)
  assert.match(textOf(result), /did not finish within 0.08 s/)
  assert.equal(calls()[0]?.error?.class, 'timeout')
  assert.equal(calls()[0]?.error?.by, 'deadline')
  await until(() => readRecords(logs).find(({ kind }) => kind === 'late'), 'a late record')
  assert.match(String(reason), /deadline/)
  assert.equal(calls().length, 1)
})

test('a deadline starts again at each progress', async (t) => {
  const { client } = await startWrapped(
    t,
    (server) => {
      server.registerTool('busy', {}, async (extra) => {
        for (let step = 0; step < 6; step += 1) {
          await new Promise((resolve) => setTimeout(resolve, 100))
          await extra.sendNotification({
            method: 'notifications/progress',
            params: { progressToken: extra._meta?.progressToken ?? 0, progress: step },
          })
        }
        return text('done')
      })
    },
    { timeout: 400 },
  )
  const result = await client.callTool({ name: 'busy' }, undefined, { onprogress: () => undefined })
  assert.equal(result.isError, undefined)
})

test('a call that names no tool is told so, and which tools there are', async (t) => {
  const { client, calls } = await startWrapped(t, (server) => {
    for (const name of ['add', 'find', 'list', 'pay', 'send']) {
      server.registerTool(name, {}, () => text('ok'))
    }
  })
  const say = async (params: Record<string, unknown>) => {
    const result = await client.request({ method: 'tools/call', params }, CallToolResultSchema)
    assert.equal(result.isError, true)
    return textOf(result)
  }
  const tools = 'There are "add", "find", "list" and 2 more.'
  assert.equal(
    await say({ arguments: {} }),
    `The call names no tool: \`name\` is missing. ${tools}`,
  )
  assert.equal(await say({ name: '' }), `The call names no tool: \`name\` is missing. ${tools}`)
  assert.equal(
    await say({ name: 7 }),
    `The call names no tool: \`name\` must be a string, received a number. ${tools}`,
  )
  assert.deepEqual(
    calls().map(({ tool, error }) => [tool, error?.class]),
    Array(3).fill(['(no name)', 'unknown_tool']),
  )
})
