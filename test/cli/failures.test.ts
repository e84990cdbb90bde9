import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { failureRows } from '../../web/cli/failure-rows.ts'
import { type FlagValues, filterFromFlags } from '../../web/queries/filter-flags.ts'
import { openCallStore } from '../../web/queries/sqlite-call-store.ts'
import { runCli, startCli } from './run-cli.ts'
import { openTestLog } from './write-log.ts'

const HOUR_MS = 3_600_000

describe('failures', () => {
  const root = mkdtempSync(join(tmpdir(), 'unsilent-failures-'))
  const database = join(root, 'calls.db')
  const nowMs = Date.now()
  after(() => rmSync(root, { recursive: true, force: true }))

  before(() => {
    const log = openTestLog(join(root, 'logs'), '0123456789abcdef0123456789abcdef')
    const timeout = { class: 'timeout', message: 'no answer within 2 s' } as const
    const invalid = { class: 'invalid_arguments', message: 'Missing `invoice_id`' } as const
    log.call({ tool: 'get_invoice', startedMs: nowMs - 30 * HOUR_MS, error: timeout })
    log.call({ tool: 'get_invoice', startedMs: nowMs - 3 * HOUR_MS, error: timeout })
    log.call({ tool: 'get_invoice', startedMs: nowMs - 2 * HOUR_MS, error: timeout })
    log.call({ tool: 'get_invoice', startedMs: nowMs - 2 * HOUR_MS, error: invalid })
    log.call({ tool: 'get_invoice', startedMs: nowMs - 1 * HOUR_MS })
    log.call({ tool: 'list_invoices', startedMs: nowMs - 1 * HOUR_MS })
  })

  const failures = (...args: string[]) => {
    const { status, stdout, stderr } = runCli(['failures', '--db', database, ...args])
    assert.equal(status, 0, stderr)
    return { stdout, stderr }
  }
  const rowsOf = (flags: FlagValues, limit = 50) => {
    const parsed = filterFromFlags(flags, { nowMs, defaultZone: 'UTC' })
    assert.ok(parsed.ok)
    const store = openCallStore(database)
    try {
      return failureRows(store, parsed.filter, limit)
    } finally {
      store.close()
    }
  }

  test('needs a database that ingest has made', () => {
    const { status, stdout, stderr } = runCli([
      ...['ingest', join(root, 'logs'), '--once'],
      ...['--db', database],
    ])
    assert.equal(status, 0, stderr)
    assert.equal(stdout, '')
    assert.match(stderr, /^6 calls from 1 files, 0 known already, no lines refused, \d+\.\d s\.\n$/)
  })

  test('are tab-separated where they are piped, most first', () => {
    const [titles, first, second, ...rest] = failures().stdout.split('\n')
    assert.equal(titles, 'SERVER\tTOOL\tCLASS\tFAILURES\tOF CALLS\tLAST\tCALL\tMESSAGE')
    assert.match(
      first ?? '',
      /^billing\tget_invoice\ttimeout\t3\t5\t\d{4}-\d\d-\d\d \d\d:\d\d\t\d+\tno answer within 2 s$/,
    )
    assert.match(second ?? '', /^billing\tget_invoice\tinvalid_arguments\t1\t5\t/)
    assert.deepEqual(rest, [''])
  })

  test('are one JSON document with stable keys', () => {
    const document = JSON.parse(failures('--format', 'json', '--tz', 'UTC').stdout)
    assert.deepEqual(Object.keys(document), ['failures', 'from', 'to', 'version', 'zone'])
    const [{ last_call, last, ...first }] = document.failures
    assert.deepEqual(first, {
      calls: 5,
      class: 'timeout',
      failures: 3,
      last_message: 'no answer within 2 s',
      server: 'billing',
      tool: 'get_invoice',
    })
    assert.equal(last, new Date(nowMs - 2 * HOUR_MS).toISOString())
    assert.equal(typeof last_call, 'number')
  })

  test('are filtered by class, tool and time, and limited', () => {
    const counts = (flags: FlagValues) => rowsOf(flags).map((row) => [row.class, row.failures])
    assert.deepEqual(counts({ class: ['timeout'] }), [['timeout', 3]])
    assert.deepEqual(counts({ class: ['timeout'], since: '24h' }), [['timeout', 2]])
    assert.deepEqual(counts({ class: ['!timeout'] }), [['invalid_arguments', 1]])
    assert.deepEqual(counts({ tool: ['list_invoices'] }), [])
    assert.equal(rowsOf({}, 1).length, 1)
  })

  test('take the same flags on the command line', () => {
    const args = [
      '--format',
      'json',
      '--class',
      '!timeout',
      '--class',
      '!upstream',
      '--since',
      '9h',
    ]
    const { failures: rows } = JSON.parse(failures(...args).stdout)
    assert.deepEqual(
      rows.map((row: { class: string }) => row.class),
      ['invalid_arguments'],
    )
  })

  test('say so where there are none, apart from the data', () => {
    const none = failures('--tool', 'list_invoices')
    assert.match(none.stderr, /^No failures among 1 calls between /)
    assert.equal(none.stdout.split('\n').length, 2)
    assert.match(failures('--tool', 'typo').stderr, /^No calls match .*: widen --since/)
  })

  test('D9: end quietly where the reader has gone', async () => {
    const child = startCli(['failures', '--db', database])
    child.stdout?.destroy()
    let stderr = ''
    child.stderr?.setEncoding('utf8').on('data', (chunk) => {
      stderr += chunk
    })
    const status = await new Promise((resolve) => child.once('close', resolve))
    assert.equal(stderr, '')
    assert.equal(status, 0)
  })

  test('D9: more than a pipe holds arrives whole, though the program ends right after', async () => {
    const big = join(root, 'big')
    const log = openTestLog(join(big, 'logs'), 'fedcba9876543210fedcba9876543210')
    const message = 'x'.repeat(250)
    for (let index = 0; index < 900; index += 1) {
      const error = { class: 'upstream', message: `${index} ${message}` } as const
      log.call({ tool: `tool_${index}`, startedMs: nowMs - HOUR_MS, error })
    }
    const own = join(big, 'calls.db')
    const ingested = runCli(['ingest', join(big, 'logs'), '--once', '--db', own])
    assert.equal(ingested.status, 0, ingested.stderr)
    const child = startCli(['failures', '--db', own, '--format', 'json', '--limit', '2000'])
    // A reader that begins late: the pipe is full long before.
    const exited = once(child, 'close')
    await Promise.race([once(child.stdout as Readable, 'readable'), exited])
    await new Promise((resolve) => setTimeout(resolve, 300))
    let text = ''
    child.stdout?.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
    })
    const [status] = await exited
    assert.equal(status, 0)
    // A pipe holds 64 KiB.
    assert.ok(text.length > 300_000, `${text.length}`)
    assert.equal(JSON.parse(text).failures.length, 900)
  })
})
