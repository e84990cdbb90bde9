import assert from 'node:assert/strict'
import { test } from 'node:test'
import { disconnectedEnding } from '../../server/wrapper/client-gone.ts'
import type { CallInit } from '../../server/wrapper/open-call.ts'

const exchange: CallInit = {
  tool: 'report',
  request: 1,
  arguments: {},
  modern: true,
  asksForTask: false,
  transport: 'http',
}

function classAfter(ageMs: number, more: Partial<CallInit> = {}, givenUp?: string) {
  const { error, delivered } = disconnectedEnding({
    init: { ...exchange, ...more },
    ageMs,
    givenUp,
  })
  assert.equal(error?.by, 'client')
  assert.equal(delivered, false)
  return error?.class
}

test('C1: an exchange that is closed on a whole ten seconds was given up for its time', () => {
  const rows: [ageMs: number, expected: string][] = [
    [60_003, 'timeout'],
    [59_880, 'timeout'],
    [10_150, 'timeout'],
    [120_000, 'timeout'],
    [300_199, 'timeout'],
    [60_300, 'cancelled'],
    [44_000, 'cancelled'],
    [65_000, 'cancelled'],
    [150, 'cancelled'],
    [0, 'cancelled'],
  ]
  for (const [ageMs, expected] of rows) assert.equal(classAfter(ageMs), expected, String(ageMs))
})

test('where a client can say why it gives up, the time alone says nothing', () => {
  assert.equal(classAfter(60_000, { modern: false }), 'cancelled')
  assert.equal(classAfter(60_000, { transport: 'stdio' }), 'cancelled')
})

test('what the client said by another transport decides', () => {
  const timedOut = 'McpError: MCP error -32001: Request timed out'
  assert.equal(classAfter(222, { modern: false }, timedOut), 'timeout')
  assert.equal(classAfter(222, { modern: false }, 'user pressed esc'), 'cancelled')
})
