import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkQuestionInRounds, checkUrlElicitation } from './v2-endings.ts'
import { checkEveryAnswer } from './v2-faults.ts'
import { linkHttp } from './v2-harness.ts'

test('SDK v2 over HTTP in 2025-11-25', async (t) => {
  const link = await linkHttp(t, '2025-11-25')
  await t.test('each call is answered, and leaves one record', () =>
    checkEveryAnswer(link, '2025-11-25', 'http'),
  )
  await t.test('a URL elicitation passes untouched', () => checkUrlElicitation(link))
  await t.test('a call that its client gave up is recorded when the client goes', async () => {
    await assert.rejects(link.client.callTool({ name: 'hangs' }, { timeout: 200 }), /timed out/i)
    await link.client.close()
    const [record, ...others] = await link.newRecords(1)
    assert.equal(others.length, 0)
    assert.equal(record?.error?.by, 'client')
    assert.equal(record?.delivered, false)
  })
})

test('SDK v2 over HTTP in 2026-07-28', async (t) => {
  const link = await linkHttp(t, '2026-07-28')
  const { client, newRecords, url } = link
  await t.test('each call is answered, and leaves one record', () =>
    checkEveryAnswer(link, '2026-07-28', 'http'),
  )
  await t.test('a question passes untouched, its call is deferred', () =>
    checkQuestionInRounds(link),
  )
  await t.test('a client that gives up leaves one record', async () => {
    await assert.rejects(client.callTool({ name: 'hangs' }, { timeout: 200 }), /timed out/i)
    const [record, ...others] = await newRecords(1)
    assert.equal(others.length, 0)
    // The client closes the exchange and says no more: why it did is not known.
    assert.equal(record?.error?.class, 'cancelled')
    assert.equal(record?.error?.by, 'client')
    assert.equal(record?.delivered, false)
  })
  await t.test('a URL elicitation of earlier revisions is told to be a fault', async () => {
    const { result, records } = await link.call('asks_url')
    assert.equal(result.isError, true)
    assert.equal(records[0]?.outcome, 'failed')
  })
  await t.test('an answer of our own carries the result type', async () => {
    for (const tool of ['ok', 'nope', 'bigint', 'returns_undefined']) {
      const { result } = await post(url, tool)
      assert.equal(result?.resultType, 'complete', tool)
      assert.equal(result?.isError, true, tool)
    }
    await newRecords(4)
  })
})

/** A call in plain JSON-RPC, so that no client's SDK stands between. */
async function post(url: URL, tool: string): Promise<{ result?: Record<string, unknown> }> {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': tool,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: tool, arguments: {}, _meta: meta },
    }),
  })
  return (await response.json()) as { result?: Record<string, unknown> }
}
