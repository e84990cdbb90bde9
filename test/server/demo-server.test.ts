import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { startUpstream, type Upstream } from '../../server/demo/upstream.ts'
import { NO_FAULTS } from '../../server/demo/upstream-faults.ts'
import { CLI, startCli } from '../cli/run-cli.ts'
import { type LoggedCall, readCalls } from './demo-log.ts'

const home = mkdtempSync(join(tmpdir(), 'unsilent-demo-server-'))
const logs = join(home, 'logs')
after(() => rmSync(home, { recursive: true, force: true }))

describe('the demo server over stdio', () => {
  let upstream: Upstream
  let client: Client

  before(async () => {
    upstream = await startUpstream({ script: NO_FAULTS })
    client = new Client({ name: 'test', version: '1.0.0' })
    const [command, ...args] = CLI
    await client.connect(
      new StdioClientTransport({
        command,
        args: [...args, 'demo-server', '--upstream', upstream.url, '--logs', logs],
        env: { UNSILENT_HOME: home, BILLING_EXPORT_KEY: 'test' },
      }),
    )
  })
  after(async () => {
    await client.close()
    await upstream.close()
  })
  beforeEach(() => upstream.faults.clear())

  /** Calls a tool, and finds what the log says about it. */
  async function call(name: string, args: Record<string, unknown>) {
    const result = await client.callTool({ name, arguments: args })
    const content = result.content as { type: string; text: string }[]
    const logged = readCalls(logs).at(-1)
    assert.ok(logged, 'the log has a record')
    assert.equal(logged.tool, name)
    return { result, text: content.map((block) => block.text).join('\n'), logged }
  }

  const assertFailed = (logged: LoggedCall, expected: Record<string, unknown>) => {
    assert.equal(logged.outcome, 'failed')
    for (const [key, value] of Object.entries(expected)) {
      assert.equal(logged.error?.[key as 'code'], value, key)
    }
  }

  test('offers ten tools and says which of them only read', async () => {
    const { tools } = await client.listTools()
    const readOnly = tools.filter((tool) => tool.annotations?.readOnlyHint)
    assert.deepEqual(tools.map((tool) => tool.name).sort(), [
      'create_invoice',
      'export_statement',
      'get_document',
      'get_exchange_rate',
      'get_invoice',
      'list_collections',
      'list_invoices',
      'reindex_collection',
      'search_documents',
      'summarize_document',
    ])
    assert.equal(readOnly.length, 7)
    for (const tool of tools) assert.ok(tool.title && tool.description, tool.name)
  })

  test('each tool succeeds where nothing is wrong, and leaves one line', async () => {
    const before = readCalls(logs).length
    const calls: [string, Record<string, unknown>, RegExp][] = [
      ['list_invoices', { status: 'open', limit: 2 }, /"invoices":\[/],
      ['get_invoice', { invoice_id: 'INV-2003' }, /"id":"INV-2003"/],
      ['create_invoice', { customer: 'Fennel & Rye', currency: 'EUR', amount: 12.5 }, /"INV-2061"/],
      ['get_exchange_rate', { base: 'EUR', quote: 'USD' }, /1\.0842/],
      ['export_statement', { customer: 'Fennel & Rye', month: '2026-04' }, /"STM-301"/],
      ['search_documents', { query: 'backup' }, /^DOC-102 {2}Restoring a backup$/],
      ['get_document', { document_id: 'DOC-103' }, /API rate limit exceeded/],
      ['summarize_document', { document_id: 'DOC-102' }, /^Restoring a backup\./],
      ['list_collections', {}, /"handbook"/],
      ['reindex_collection', { collection: 'handbook' }, /"queued"/],
    ]
    for (const [name, args, expected] of calls) {
      const { result, text, logged } = await call(name, args)
      assert.equal(result.isError, undefined, text)
      assert.match(text, expected)
      assert.equal(logged.outcome, 'succeeded')
      assert.deepEqual(logged.args, args)
      assert.deepEqual(logged.client, { name: 'test', version: '1.0.0' })
    }
    assert.equal(readCalls(logs).length - before, calls.length)
  })

  test('an exchange rate comes as structured content too', async () => {
    const { result } = await call('get_exchange_rate', { base: 'EUR', quote: 'GBP' })
    assert.deepEqual(result.structuredContent, { base: 'EUR', quote: 'GBP', rate: 0.8517 })
  })

  test('a reset is retried where the tool only reads', async () => {
    upstream.faults.set('list_invoices', { kind: 'reset' }, 1)
    const { result, logged } = await call('list_invoices', {})
    assert.equal(result.isError, undefined)
    assert.equal(logged.outcome, 'retried')
    assert.deepEqual(
      logged.attempts.map((attempt) => attempt.class),
      ['connection', undefined],
    )
    assert.equal(logged.attempts[1]?.reconnected, true)
  })

  test('a reset is not retried where an invoice could be written twice', async () => {
    upstream.faults.set('create_invoice', { kind: 'reset' }, 1)
    const { result, text, logged } = await call('create_invoice', {
      customer: 'Fennel & Rye',
      currency: 'EUR',
      amount: 1,
    })
    assert.equal(result.isError, true)
    assert.match(text, /create_invoice/)
    assertFailed(logged, { class: 'connection' })
    assert.equal(logged.attempts.length, 1)
    assert.equal(logged.retry_suppressed, 'unsafe')
  })

  test('a refused connection names the code after three attempts', async () => {
    upstream.faults.set('list_collections', { kind: 'refused' })
    const { result, logged } = await call('list_collections', {})
    assert.equal(result.isError, true)
    assertFailed(logged, { class: 'connection', code: 'ECONNREFUSED' })
    assert.equal(logged.attempts.length, 3)
  })

  test('an upstream that hangs is a timeout', async () => {
    upstream.faults.set('create_invoice', { kind: 'hang' }, 1)
    const { result, logged } = await call('create_invoice', {
      customer: 'Fennel & Rye',
      currency: 'EUR',
      amount: 1,
    })
    assert.equal(result.isError, true)
    assertFailed(logged, { class: 'timeout' })
  })

  test('429 and 503 are told apart', async () => {
    upstream.faults.set('export_statement', { kind: 'rate_limited', retryAfterS: 30 })
    const statement = { customer: 'Fennel & Rye', month: '2026-04' }
    const limited = await call('export_statement', statement)
    assert.match(limited.text, /30/)
    assertFailed(limited.logged, { class: 'rate_limited', status: 429, retry_after_s: 30 })
    upstream.faults.set('export_statement', { kind: 'unavailable' })
    const unavailable = await call('export_statement', statement)
    assertFailed(unavailable.logged, { class: 'connection', status: 503 })
  })

  test('HTML in place of JSON is a failure', async () => {
    upstream.faults.set('get_document', { kind: 'html' })
    const { result, text, logged } = await call('get_document', { document_id: 'DOC-101' })
    assert.equal(result.isError, true)
    assert.doesNotMatch(text, /<!doctype/i)
    assert.equal(logged.outcome, 'failed')
  })

  test('an error told in words within a success becomes an error', async () => {
    upstream.faults.set('summarize_document', { kind: 'error_text' })
    const { result, logged } = await call('summarize_document', { document_id: 'DOC-101' })
    assert.equal(result.isError, true)
    assert.equal(logged.outcome, 'failed')
    assert.ok(logged.result?.suspect)
  })

  test('a search that finds nothing is flagged as empty, and the model is told so', async () => {
    const { result, text, logged } = await call('search_documents', { query: 'zebra report' })
    assert.equal(result.isError, undefined)
    assert.match(text, /"search_documents" gave an empty answer/)
    assert.equal(logged.result?.empty, true)
  })

  test('what is not there is told to the model in the tool’s own words', async () => {
    const { result, text, logged } = await call('get_document', { document_id: 'DOC-999' })
    assert.equal(result.isError, true)
    assert.equal(text, 'There is no document DOC-999.')
    assertFailed(logged, { class: 'tool_error' })
  })

  test('a made-up parameter is answered with the real one', async () => {
    const { result, text, logged } = await call('search_documents', { pattern: 'backup' })
    assert.equal(result.isError, true)
    assert.match(text, /pattern/)
    assert.match(text, /query/)
    assertFailed(logged, { class: 'invalid_arguments' })
  })

  test('a number sent as text is told so', async () => {
    const { result, text, logged } = await call('list_invoices', { limit: '10' })
    assert.equal(result.isError, true)
    assert.match(text, /limit/)
    const { path, code, subtype } = logged.issues?.[0] ?? {}
    assert.deepEqual(
      { path, code, subtype },
      {
        path: 'limit',
        code: 'wrong_type',
        subtype: 'stringified_number',
      },
    )
  })

  test('a parameter that the schema does not have is recorded as dropped', async () => {
    const { result, logged } = await call('get_document', {
      document_id: 'DOC-101',
      format: 'markdown',
    })
    assert.equal(result.isError, undefined)
    assert.deepEqual(logged.dropped, ['format'])
  })
})

type Raw = { child: ReturnType<typeof startCli>; lines: string[]; stderr(): string }

/** Speaks the protocol by hand, so that the process itself can be watched. */
function startRaw(env: NodeJS.ProcessEnv, args: string[] = []): Raw {
  const child = startCli(['demo-server', '--logs', join(home, 'raw-logs'), ...args], {
    env: { UNSILENT_HOME: home, ...env },
    stdin: 'pipe',
  })
  let out = ''
  let err = ''
  const lines: string[] = []
  child.stdout?.setEncoding('utf8').on('data', (chunk) => {
    out += chunk
    const parts = out.split('\n')
    out = parts.pop() ?? ''
    lines.push(...parts)
  })
  child.stderr?.setEncoding('utf8').on('data', (chunk) => {
    err += chunk
  })
  send(child, 1, 'initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'raw', version: '0' },
  })
  return { child, lines, stderr: () => err }
}

function send(child: Raw['child'], id: number, method: string, params: unknown): void {
  child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
}

function ended(child: Raw['child']): Promise<number | null> {
  return new Promise((resolve) => child.once('close', resolve))
}

describe('the process of the demo server', () => {
  let raw: Raw | undefined
  afterEach(() => raw?.child.kill('SIGKILL'))

  test('ends with one readable line and exit code 78 where a variable is missing', async () => {
    raw = startRaw({ BILLING_EXPORT_KEY: undefined })
    send(raw.child, 2, 'tools/call', {
      name: 'export_statement',
      arguments: { customer: 'Fennel & Rye', month: '2026-04' },
    })
    assert.equal(await ended(raw.child), 78)
    assert.match(raw.stderr(), /^unsilent: .*BILLING_EXPORT_KEY is not set.*\n$/)
    const answer = JSON.parse(raw.lines.at(-1) ?? '')
    assert.equal(answer.id, 2)
    assert.equal(answer.result.isError, true)
  })

  test('D6: ends by itself when its client is gone', async () => {
    raw = startRaw({})
    send(raw.child, 2, 'tools/list', {})
    await new Promise((resolve) => raw?.child.stdout?.once('data', resolve))
    raw.child.stdin?.end()
    assert.equal(await ended(raw.child), 0)
  })

  test('D1: writes nothing but the protocol to stdout', async () => {
    raw = startRaw({ NODE_OPTIONS: '--trace-warnings' })
    for (let id = 2; id < 12; id += 1) {
      send(raw.child, id, 'tools/call', { name: 'list_collections', arguments: {} })
    }
    const { lines, child } = raw
    const answers = 11
    await new Promise<void>((resolve) => {
      child.stdout?.on('data', () => lines.length >= answers && resolve())
    })
    assert.equal(lines.length, answers)
    for (const line of lines) assert.equal(JSON.parse(line).jsonrpc, '2.0')
  })

  test('offers the tools of one service only where asked to', async () => {
    raw = startRaw({}, ['--service', 'docs-search'])
    send(raw.child, 2, 'tools/list', {})
    const { lines, child } = raw
    await new Promise<void>((resolve) => {
      child.stdout?.on('data', () => lines.length >= 2 && resolve())
    })
    const { tools } = JSON.parse(lines[1] ?? '').result
    assert.deepEqual(tools.map(({ name }: { name: string }) => name).sort(), [
      'get_document',
      'list_collections',
      'reindex_collection',
      'search_documents',
      'summarize_document',
    ])
    assert.equal(JSON.parse(lines[0] ?? '').result.serverInfo.name, 'docs-search')
  })
})
