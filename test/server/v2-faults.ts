import assert from 'node:assert/strict'
import type { CallToolResult } from '@modelcontextprotocol/client'
import type { ErrorClass, Outcome } from '../../server/call-log/record.ts'
import { readCalls } from './demo-log.ts'
import type { Era, V2Link } from './v2-harness.ts'

type Expected = {
  tool: string
  args?: unknown
  /** Absent: a success. */
  error?: ErrorClass
  outcome?: Outcome
  /** What the client reads. */
  says: RegExp
}

/** One call each; both eras and all transports answer the same. */
const expected: Expected[] = [
  { tool: 'ok', args: { n: 4 }, says: /^4$/ },
  { tool: 'ok', args: { n: 4, m: 5 }, says: /^4\n.*ignored.*`m`/ },
  { tool: 'no_schema', says: /^fine$/ },
  { tool: 'says_error', error: 'tool_error', says: /^locked by U1$/ },
  { tool: 'empty', says: /^$/ },
  { tool: 'in_disguise', says: /^Error: connect ECONNREFUSED/ },
  { tool: 'flaky', outcome: 'retried', says: /^back$/ },
  { tool: 'off', error: 'unknown_tool', says: /"off" is switched off/ },
  { tool: 'throws', error: 'unexpected', says: /"throws" failed: .*log under call \w+-\w+/ },
  { tool: 'throws_null', error: 'unexpected', says: /"throws_null" failed/ },
  { tool: 'throws_bare', error: 'unexpected', says: /"throws_bare" failed/ },
  { tool: 'speaks', error: 'tool_error', says: /^The account is closed; ask for another one\.$/ },
  { tool: 'refused', error: 'connection', says: /could not be reached \(ECONNREFUSED\)/ },
  { tool: 'returns_undefined', error: 'bad_result', says: /returned undefined/ },
  { tool: 'returns_null', error: 'bad_result', says: /returned null/ },
  { tool: 'returns_text', error: 'bad_result', says: /returned a string/ },
  { tool: 'plain_data', error: 'bad_result', says: /no `content`/ },
  { tool: 'bad_block', error: 'bad_result', says: /content\[0\]\.type is "json"/ },
  { tool: 'no_text', error: 'bad_result', says: /content\[0\]\.text is undefined/ },
  { tool: 'bigint', error: 'bad_result', says: /BigInt at structuredContent\.id/ },
  { tool: 'circular', error: 'bad_result', says: /circular at structuredContent\.self/ },
  { tool: 'breaks_schema', error: 'bad_result', says: /n: .*expected number, received string/ },
  { tool: 'forgets_data', error: 'bad_result', says: /no structured content/ },
  { tool: 'ok', args: { n: 'x' }, error: 'invalid_arguments', says: /`n`: expected number/ },
  { tool: 'ok', error: 'invalid_arguments', says: /`n` is missing/ },
  { tool: 'ok', args: null, error: 'invalid_arguments', says: /must be an object, received null/ },
  { tool: 'ok', args: ['n'], error: 'invalid_arguments', says: /an object, received array/ },
  { tool: 'throw', error: 'unknown_tool', says: /no tool "throw".*Did you mean "throws"/ },
]

/** Each call is answered in a way the client accepts, and leaves exactly one record. */
export async function checkEveryAnswer(link: V2Link, era: Era, transport: string): Promise<void> {
  for (const { tool, args, error, outcome, says } of expected) {
    const { result, records } = await link.call(tool, args)
    const [record, ...others] = records
    const where = `${tool} with ${JSON.stringify(args)}: ${JSON.stringify(result)}`
    assert.match(textOf(result), says, where)
    assert.equal(result.isError === true, error !== undefined, where)
    assert.equal(others.length, 0, where)
    assert.equal(record?.tool, tool)
    assert.equal(record?.outcome, outcome ?? (error ? 'failed' : 'succeeded'), where)
    assert.equal(record?.error?.class, error, where)
    assert.equal(record?.transport, transport)
    if (era === '2026-07-28') {
      assert.equal(record?.protocol, era)
      assert.deepEqual(record?.client, { name: 'v2-client', version: '3' })
    }
  }
  const calls = readCalls(link.logs)
  assert.equal(calls.length, expected.length)
  assert.equal(calls.find(({ tool }) => tool === 'in_disguise')?.result?.suspect, 'error_prefix')
  assert.equal(calls.find(({ tool }) => tool === 'empty')?.result?.empty, true)
  assert.deepEqual(calls.find(({ dropped }) => dropped)?.dropped, ['m'])
}

function textOf(result: CallToolResult): string {
  return result.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
}
