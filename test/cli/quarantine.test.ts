import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { runIngest } from '../../ingest/run-ingest.ts'
import { runCli } from './run-cli.ts'
import { openTestLog } from './write-log.ts'

describe('quarantine', () => {
  const folder = mkdtempSync(join(tmpdir(), 'unsilent-quarantine-'))
  const logs = join(folder, 'logs')
  const database = join(folder, 'calls.db')
  const writer = 'a'.repeat(32)
  const path = join(logs, 'billing.aaaaaaaa.1.jsonl')
  const run = (...args: string[]) => runCli(['quarantine', ...args, '--db', database])
  after(() => rmSync(folder, { recursive: true, force: true }))

  before(async () => {
    mkdirSync(logs)
    const log = openTestLog(logs, writer)
    log.call({ tool: 'search', startedMs: Date.now() })
    log.call({ tool: 'search', startedMs: Date.now(), args: { text: 'x'.repeat(600) } })
    appendFileSync(path, 'a banner \u001b[31m red\n')
    const limits = { maxLineBytes: 500 }
    await runIngest({ roots: [logs], databasePath: database, once: true, limits })
  })

  test('is listed newest first, one line each', () => {
    const { status, stdout, stderr } = run()
    assert.equal(status, 0, stderr)
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'))
    assert.deepEqual(rows[0], ['ID', 'REASON', 'LINES', 'BYTES', 'PLACE', 'BEGINS WITH'])
    assert.deepEqual(rows[1]?.slice(0, 5), ['2', 'not_json', '1', '19', `${path}:3`])
    assert.equal(rows[2]?.[1], 'too_long')
    assert.ok(!stdout.includes('\u001b'), 'nothing commands the terminal')
    assert.equal(run('list', '--reason', 'json').stderr, 'No line was refused.\n')
  })

  test('shows all about one of them', () => {
    const { status, stdout } = run('show', '2')
    assert.equal(status, 0)
    assert.match(stdout, /^reason {7}not_json: not JSON: a banner or a stack trace$/m)
    assert.match(stdout, /^length {7}19 bytes in 1 line$/m)
    assert.match(stdout, /^sha256 {7}[0-9a-f]{64}$/m)
    const json = JSON.parse(run('show', '2', '--format', 'json').stdout)
    assert.equal(json.refused[0].line, 3)
  })

  test('retries what is named, and says what became of it', () => {
    const first = run('retry', '--reason', 'too_long')
    assert.equal(first.stdout, 'Entries tried: 1. Lines: stored as calls 1.\n', first.stderr)
    const second = run('retry')
    assert.equal(second.stdout, 'Entries tried: 1. Lines: refused as before 1.\n')
    const third = JSON.parse(run('retry', '77', '--format', 'json').stdout)
    assert.equal(third.retried.entries, 0)
  })

  test('refuses what it cannot mean', () => {
    for (const [args, status, words] of [
      [['shwo'], 2, /allowed choices are list, show, retry/i],
      [['show'], 2, /Say which to show/],
      [['list', '1'], 2, /The list takes no ids/],
      [['show', 'x'], 2, /"x" is no id/],
      [['show', '99'], 1, /There is no refused line 99/],
      [['retry', '1', '--reason', 'json'], 2, /not both/],
    ] as const) {
      const refusal = run(...args)
      assert.equal(refusal.status, status, refusal.stderr)
      assert.match(refusal.stderr, words)
    }
  })
})
