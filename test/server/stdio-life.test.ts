import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readCalls, readRecords } from './demo-log.ts'
import { type StdioChild, startChild } from './stdio-child.ts'
import { logDirectory, until } from './wrapper-harness.ts'

const fixtures = join(import.meta.dirname, 'fixtures')
const GONE_WITHIN_MS = 5_000

function assertProtocolOnly({ lines }: StdioChild): void {
  for (const line of lines) {
    assert.equal((line as { jsonrpc?: string }).jsonrpc, '2.0', JSON.stringify(line))
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

async function goneInTime(pid: number): Promise<void> {
  const since = Date.now()
  await until(() => !isAlive(pid) || undefined, `the end of process ${pid}`)
  assert.ok(Date.now() - since < GONE_WITHIN_MS, `gone after ${Date.now() - since} ms`)
}

function pidOf(logs: string): number | undefined {
  return readRecords(logs).find(({ kind }) => kind === 'start')?.pid
}

test('D2: without a destination the log is a file in the state directory, never stdout', async (t) => {
  const home = logDirectory(t)
  const child = await startChild(t, 'default-server.ts', [], { UNSILENT_HOME: home })
  for (let id = 1; id <= 20; id += 1)
    child.call(id, ['echo', 'throws', 'nothing', 'no'][id % 4] ?? '')
  for (let id = 1; id <= 20; id += 1) await child.answer(id)
  assertProtocolOnly(child)
  assert.equal(child.stderr(), '')
  assert.equal(readCalls(join(home, 'logs')).length, 20)
})

test('D1: a log that cannot be written is told on stderr, and stdout stays the protocol’s', async (t) => {
  const child = await startChild(t, 'faulty-server.ts', ['/dev/null/logs'])
  for (let id = 1; id <= 20; id += 1) child.call(id, 'ok', { n: id, junk: true })
  for (let id = 1; id <= 20; id += 1) {
    assert.match(JSON.stringify(await child.answer(id)), new RegExp(`"text":"${id}"`))
  }
  assertProtocolOnly(child)
  assert.equal(child.lines.length, 21)
  assert.match(child.stderr(), /unsilent: the call log cannot be written/)
})

test('D1: importing the wrapper, and warning of a server it cannot hook into, write nothing to stdout', () => {
  const entry = join(import.meta.dirname, '..', '..', 'server', 'index.ts')
  const script = `import { unsilence } from ${JSON.stringify(entry)}
    unsilence({ connect: async () => undefined }, { logs: false })`
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '--eval', script],
    { encoding: 'utf8' },
  )
  assert.equal(status, 0, stderr)
  assert.equal(stdout, '')
  assert.match(stderr, /^unsilent: this server has no setRequestHandler\(\).*\n$/)
})

test('D10: a request line that ends with CRLF is served, and no value carries the CR', async (t) => {
  const logs = logDirectory(t)
  const child = await startChild(t, 'faulty-server.ts', [logs])
  const raw = (id: number, params: object) => {
    const request = { jsonrpc: '2.0', id, method: 'tools/call', params }
    child.process.stdin?.write(`${JSON.stringify(request)}\r\n`)
  }
  raw(1, { name: 'ok', arguments: { n: 4 } })
  // The SDK refuses this one; the wrapper reads it again.
  raw(2, { name: 'ok', arguments: { n: 5 }, _meta: null })
  assert.deepEqual((await child.answer(1)).result?.content, [{ type: 'text', text: '4' }])
  assert.deepEqual((await child.answer(2)).result?.content, [{ type: 'text', text: '5' }])
  assert.deepEqual(
    readCalls(logs).map(({ args }) => args),
    [{ n: 4 }, { n: 5 }],
  )
  assert.doesNotMatch(JSON.stringify(readRecords(logs)), /\\r/)
})

for (const layer of ['directly', 'shell'] as const) {
  test(`D6: a server whose client is killed ends soon, with its hung call recorded (${layer})`, async (t) => {
    const logs = logDirectory(t)
    const parent = spawn(
      process.execPath,
      [
        ...['--import', 'tsx', join(fixtures, 'stdio-parent.ts')],
        ...[join(fixtures, 'faulty-server.ts'), logs, layer],
      ],
      { stdio: 'ignore' },
    )
    t.after(() => parent.kill('SIGKILL'))
    const pid = await until(
      () => (readdirSync(logs).some((name) => name.endsWith('.open')) ? pidOf(logs) : undefined),
      'the hung call in the journal',
    )
    t.after(() => isAlive(pid) && process.kill(pid, 'SIGKILL'))
    parent.kill('SIGKILL')
    await goneInTime(pid)
    const [call, ...others] = readCalls(logs)
    assert.equal(others.length, 0)
    assert.deepEqual([call?.tool, call?.error?.class], ['hangs', 'crashed'])
    assert.equal(readRecords(logs).at(-1)?.kind, 'exit')
  })
}

test('D6: with stdout and stderr gone, a throw out of a timer ends the process at once', async (t) => {
  const logs = logDirectory(t)
  const child = await startChild(t, 'faulty-server.ts', [logs])
  child.process.stdout?.destroy()
  child.process.stderr?.destroy()
  child.call(1, 'crashes')
  await goneInTime(child.process.pid as number)
  assert.equal(await child.exitCode(), 1)
  const [call, ...others] = readCalls(logs)
  assert.equal(others.length, 0)
  assert.deepEqual([call?.error?.class, call?.error?.by], ['crashed', 'self'])
})

test('D6: SIGTERM ends a server in the middle of a call', async (t) => {
  const logs = logDirectory(t)
  const child = await startChild(t, 'faulty-server.ts', [logs])
  child.call(1, 'hangs')
  child.call(2, 'ok', { n: 1 })
  await child.answer(2)
  child.process.kill('SIGTERM')
  await goneInTime(child.process.pid as number)
  assert.equal(child.process.signalCode, 'SIGTERM')
})

test('D12: SIGINT, then SIGTERM, in the middle of a call leaves its one record at once', async (t) => {
  const logs = logDirectory(t)
  const child = await startChild(t, 'faulty-server.ts', [logs])
  child.call(1, 'hangs')
  child.call(2, 'ok', { n: 1 })
  await child.answer(2)
  const stoppedAt = Date.now()
  child.process.kill('SIGINT')
  setTimeout(() => child.process.kill('SIGTERM'), 100)
  await child.exitCode()
  assert.equal(child.process.signalCode, 'SIGINT')
  const [call, ...others] = readCalls(logs).filter(({ tool }) => tool === 'hangs')
  assert.equal(others.length, 0)
  assert.deepEqual(
    [call?.outcome, call?.error?.class, call?.error?.by],
    ['failed', 'crashed', 'shutdown'],
  )
  // Within 100 ms where the machine is idle.
  assert.ok((call?.time ?? 0) - stoppedAt < 1_000, `${(call?.time ?? 0) - stoppedAt} ms`)
  const exit = readRecords(logs).find((record) => record.kind === 'exit')
  assert.equal(exit?.kind === 'exit' && exit.reason, 'SIGINT')
})
