import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ERROR_CLASSES, type LogRecord } from '../../server/call-log/record.ts'
import { createRecordLogger } from '../../server/call-log/record-logger.ts'

function linesOf(...records: LogRecord[]): string[] {
  const lines: string[] = []
  const logger = createRecordLogger({
    write: (line) => lines.push(line),
    now: () => 1_767_225_600_123,
    pid: 4121,
    hostname: 'box',
    writer: '9f3a1c22'.repeat(4),
  })
  for (const record of records) logger.log(record)
  return lines
}

/** Readers in other languages rely on it: a change here is a change of the format. */
test('the format of a line is pinned', () => {
  const [call, close] = linesOf(
    {
      kind: 'call',
      server: { name: 'billing', version: '2.1.0' },
      call: 'a1b2c3-7',
      tool: 'get_invoice',
      request: 12,
      client: { name: 'agent', version: '1.4' },
      protocol: '2025-11-25',
      transport: 'stdio',
      started: 1_767_225_600_000,
      duration_ms: 123.456,
      handler_ms: 20.5,
      args_hash: '015abd7f5cc57a2d',
      dropped: ['customer'],
      outcome: 'retried',
      attempts: [
        { ms: 10.25, class: 'connection', code: 'ECONNRESET' },
        { ms: 10.25, wait_ms: 100, reconnected: true },
      ],
      result: { bytes: 17, blocks: 1 },
      args: { id: 9_007_199_254_740_991, note: 'two\nlines' },
    },
    { kind: 'close', next_file: 'billing.20260101T000000Z.4121.9f3a1c22.2.jsonl' },
  )
  const envelope =
    '"time":1767225600123,"pid":4121,"hostname":"box","v":1,"w":"9f3a1c229f3a1c229f3a1c229f3a1c22"'
  assert.equal(
    call,
    `{"level":30,${envelope},"n":1,"kind":"call","server":{"name":"billing","version":"2.1.0"},"call":"a1b2c3-7","tool":"get_invoice","request":12,"client":{"name":"agent","version":"1.4"},"protocol":"2025-11-25","transport":"stdio","started":1767225600000,"duration_ms":123.456,"handler_ms":20.5,"args_hash":"015abd7f5cc57a2d","dropped":["customer"],"outcome":"retried","attempts":[{"ms":10.25,"class":"connection","code":"ECONNRESET"},{"ms":10.25,"wait_ms":100,"reconnected":true}],"result":{"bytes":17,"blocks":1},"args":{"id":9007199254740991,"note":"two\\nlines"}}\n`,
  )
  assert.equal(
    close,
    `{"level":30,${envelope},"n":2,"kind":"close","next_file":"billing.20260101T000000Z.4121.9f3a1c22.2.jsonl"}\n`,
  )
})

test('the order of the classes is kept: databases number them by it', () => {
  assert.deepEqual(ERROR_CLASSES.slice(0, 12), [
    'invalid_arguments',
    'timeout',
    'connection',
    'rate_limited',
    'upstream',
    'tool_error',
    'bad_result',
    'unknown_tool',
    'cancelled',
    'crashed',
    'unexpected',
    'fatal',
  ])
})
