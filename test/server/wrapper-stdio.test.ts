import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type LoggedCall, readCalls, readRecords } from './demo-log.ts'
import { startChild } from './stdio-child.ts'
import { logDirectory, until } from './wrapper-harness.ts'

const server = 'faulty-server.ts'

test('over stdio', async (t) => {
  // One server for all faults that it survives: starting one takes a second.
  const logs = logDirectory(t)
  const child = await startChild(t, server, [logs])
  const newCalls = callsSince(logs)

  await t.test('A10, D1: every fault is answered, and stdout carries JSON-RPC only', async () => {
    const names = ['ok', 'throws', 'nothing', 'bigint', 'no_such_tool']
    for (const [index, name] of names.entries()) child.call(index + 1, name, { n: 'x' })
    for (let id = 1; id <= names.length; id += 1) {
      const { result } = await child.answer(id)
      assert.equal(result?.isError, true, names[id - 1])
    }
    child.call(20, 'ok', { n: 4 })
    assert.deepEqual((await child.answer(20)).result, { content: [{ type: 'text', text: '4' }] })
    for (const line of child.lines) {
      assert.equal(typeof line, 'object', `no JSON on stdout: ${JSON.stringify(line)}`)
      assert.equal((line as { jsonrpc?: string }).jsonrpc, '2.0')
    }
    assert.deepEqual(
      newCalls()
        .map(({ tool, error, transport }) => [tool, error?.class, transport])
        .sort(),
      [
        ['bigint', 'bad_result', 'stdio'],
        ['no_such_tool', 'unknown_tool', 'stdio'],
        ['nothing', 'bad_result', 'stdio'],
        ['ok', undefined, 'stdio'],
        ['ok', 'invalid_arguments', 'stdio'],
        ['throws', 'unexpected', 'stdio'],
      ],
    )
  })

  await t.test(
    'D1: what a tool prints goes to stderr, is counted, and spoils no answer',
    async () => {
      child.call(30, 'noisy')
      assert.deepEqual((await child.answer(30)).result, { content: [{ type: 'text', text: 'ok' }] })
      assert.ok(child.lines.every((line) => typeof line === 'object'))
      await until(() => (child.stderr().includes('half a line') ? true : undefined), 'the noise')
      assert.match(child.stderr(), /a line from console\.log/)
      assert.match(child.stderr(), /unsilent: the tool noisy writes to stdout/)
      assert.equal(newCalls()[0]?.stray_stdout, 2)
    },
  )

  await t.test('an answer that a tool prints is not taken for its own', async () => {
    child.call(35, 'echoes')
    const { result } = await child.answer(35)
    assert.deepEqual(result, { content: [{ type: 'text', text: 'its own answer' }] })
    assert.equal(newCalls()[0]?.stray_stdout, 1)
  })

  await t.test(
    'C1: a success whose client had given up unheard is followed by a late',
    async () => {
      child.call(36, 'blocks')
      await until(() => (child.stderr().includes('blocking') ? true : undefined), 'the block')
      child.send({
        method: 'notifications/cancelled',
        params: { requestId: 36, reason: 'too slow' },
      })
      await child.answer(36)
      assert.equal(newCalls()[0]?.outcome, 'succeeded')
      const late = await until(
        () => readRecords(logs).find(({ kind }) => kind === 'late'),
        'a late',
      )
      assert.equal(late.kind === 'late' && late.tool, 'blocks')
      assert.ok(late.kind === 'late' && late.ms >= 290)
      assert.equal(late.kind === 'late' && late.outcome, 'succeeded')
    },
  )

  await t.test('requests that the SDK would not take for any are answered too', async () => {
    const params = { name: 'ok', arguments: { n: 5 }, _meta: null }
    child.send({ id: 40, method: 'tools/call', params })
    child.send({ id: 41, method: 'tools/call', params: null })
    assert.deepEqual((await child.answer(40)).result, { content: [{ type: 'text', text: '5' }] })
    assert.equal((await child.answer(41)).result?.isError, true)
    assert.equal(newCalls().length, 2)
  })

  await t.test('the record of an answered call is on disk before the answer', async () => {
    for (let id = 50; id < 70; id += 1) {
      child.call(id, 'ok', { n: id })
      await child.answer(id)
      assert.equal(newCalls().length, 1)
    }
    child.process.kill('SIGKILL')
    assert.equal(await child.exitCode(), null)
    assert.equal(newCalls().length, 0)
  })
})

test('a server that closes its transport ends as it would without the wrapper', async (t) => {
  const child = await startChild(t, server, [logDirectory(t)])
  child.call(1, 'closes')
  await child.answer(1)
  assert.equal(await child.exitCode(), 0)
})

test('a crash out of a timer is laid to the call that set it', async (t) => {
  const logs = logDirectory(t)
  const child = await startChild(t, server, [logs])
  child.call(1, 'hangs')
  child.call(2, 'crashes')
  assert.equal(await child.exitCode(), 1)
  assert.deepEqual(
    readCalls(logs)
      .map(({ tool, error }) => [tool, error?.class, error?.by, error?.message])
      .sort(),
    [
      ['crashes', 'crashed', 'self', 'out of a timer'],
      ['hangs', 'crashed', 'other', 'out of a timer'],
    ],
  )
})

test('D7: a rejection after the answer leaves the call as it was, and names it', async (t) => {
  const logs = logDirectory(t)
  const child = await startChild(t, server, [logs])
  child.call(1, 'rejects_later')
  assert.deepEqual((await child.answer(1)).result, { content: [{ type: 'text', text: 'ok' }] })
  assert.notEqual(await child.exitCode(), 0)
  const [call, ...others] = readCalls(logs)
  assert.equal(others.length, 0)
  assert.equal(call?.outcome, 'succeeded')
  const fatal = readRecords(logs).find((record) => record.kind === 'fatal')
  assert.equal(fatal?.kind === 'fatal' && fatal.call, call?.call)
})

test('a tool that ends the process is named by its record', async (t) => {
  const logs = logDirectory(t)
  const child = await startChild(t, server, [logs])
  child.call(1, 'hangs')
  child.call(2, 'exits')
  assert.equal(await child.exitCode(), 3)
  assert.deepEqual(
    readCalls(logs)
      .map(({ tool, error, delivered }) => [tool, error?.class, error?.by, delivered])
      .sort(),
    [
      ['exits', 'crashed', 'self', false],
      ['hangs', 'crashed', 'shutdown', false],
    ],
  )
})

test('stdin that ends closes hung calls as a shutdown', async (t) => {
  const logs = logDirectory(t)
  const child = await startChild(t, server, [logs])
  child.call(1, 'hangs')
  child.call(2, 'ok', { n: 1 })
  await child.answer(2)
  child.process.stdin?.end()
  assert.equal(await child.exitCode(), 0)
  const hung = readCalls(logs).find(({ tool }) => tool === 'hangs')
  assert.equal(hung?.error?.class, 'crashed')
  assert.equal(hung?.error?.by, 'shutdown')
})

for (const name of ['fatal', 'fatal_later']) {
  test(`a FatalError out of a handler is answered, then the process ends with 78 (${name})`, async (t) => {
    const logs = logDirectory(t)
    const child = await startChild(t, server, [logs])
    child.call(1, name)
    const { result } = await child.answer(1)
    assert.equal(result?.isError, true)
    assert.match(JSON.stringify(result), /configuration is broken/)
    assert.equal(await child.exitCode(), 78)
    assert.match(child.stderr(), /^unsilent: fatal: .*(UNSILENT_TEST_MISSING|ledger)/m)
    const [call, ...others] = readCalls(logs)
    assert.equal(others.length, 0)
    assert.equal(call?.error?.class, 'fatal')
    const fatal = readRecords(logs).find((record) => record.kind === 'fatal')
    assert.equal(fatal?.kind === 'fatal' && fatal.call, call?.call)
  })
}

test('D5: a client that closes its end leaves the call on disk, and the process ends', async (t) => {
  const logs = logDirectory(t)
  const child = await startChild(t, server, [logs])
  child.call(1, 'hangs')
  child.call(2, 'ok', { n: 1 })
  await child.answer(2)
  child.process.stdout?.destroy()
  child.call(3, 'ok', { n: 2 })
  assert.notEqual(await child.exitCode(), 0)
  const hung = await until(() => readCalls(logs).find(({ tool }) => tool === 'hangs'), 'a record')
  assert.equal(hung.error?.class, 'crashed')
  assert.equal(hung.error?.by, 'other')
  const fatals = readRecords(logs).filter((record) => record.kind === 'fatal')
  assert.deepEqual(
    fatals.map((record) => record.kind === 'fatal' && record.error.code),
    ['EPIPE'],
  )
})

/** Gives at each call the calls recorded since the last. */
function callsSince(logs: string): () => LoggedCall[] {
  let seen = 0
  return () => {
    const calls = readCalls(logs).slice(seen)
    seen += calls.length
    return calls
  }
}
