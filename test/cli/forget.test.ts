import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { openReader } from '../../ingest/store/open-database.ts'
import { isConfirmed } from '../../web/cli/forget.ts'
import { eventually } from './processes.ts'
import { runCli, startCli } from './run-cli.ts'
import { openTestLog } from './write-log.ts'

describe('forget', () => {
  const root = mkdtempSync(join(tmpdir(), 'unsilent-forget-'))
  const logs = join(root, 'logs')
  const database = join(root, 'calls.db')
  const nowMs = Date.now()
  after(() => rmSync(root, { recursive: true, force: true }))

  const forget = (...args: string[]) => runCli(['forget', '--db', database, ...args])
  const tools = (): unknown[] => {
    const reader = openReader(database)
    try {
      return reader.prepare('SELECT tool FROM calls ORDER BY id').pluck().all()
    } finally {
      reader.close()
    }
  }
  const filesWith = (text: string): string[] =>
    readdirSync(root).filter(
      (name) => name !== 'logs' && readFileSync(join(root, name)).includes(text),
    )

  before(() => {
    const log = openTestLog(logs, '0123456789abcdef0123456789abcdef')
    for (const tool of ['get_invoice', 'drop_me', 'drop_me', 'list_invoices', 'and_me']) {
      log.call({ tool, startedMs: nowMs, args: { secret: `CANARY-${tool}` } })
    }
    const { status, stderr } = runCli(['ingest', logs, '--once', '--db', database])
    assert.equal(status, 0, stderr)
  })

  test('has to be told exactly one thing, and to be confirmed', () => {
    for (const args of [[], ['--tool', 'a', '--session', 'b'], ['--tool', '']]) {
      const { status, stderr } = forget(...args)
      assert.equal(status, 2)
      assert.match(stderr, /with one of --session, --tool and --before/)
    }
    const { status, stderr } = forget('--tool', 'drop_me')
    assert.equal(status, 2)
    assert.match(stderr, /no terminal to ask at: add --yes/)
    assert.match(forget('--before', 'yesterday', '--yes').stderr, /is not a time: write/)
    assert.equal(tools().length, 5)
  })

  test('removes what was named from every file, and says how much', () => {
    const { status, stdout, stderr } = forget('--tool', 'drop_me', '--yes')
    assert.equal(status, 0, stderr)
    assert.equal(
      stdout,
      'Forgotten: 2 calls, 0 calls that had been counted only, 0 process records, the samples of 0 refused lines.\n',
    )
    assert.match(stderr, /was rewritten without them\.\nLog files were not touched/)
    assert.deepEqual(tools(), ['get_invoice', 'list_invoices', 'and_me'])
    assert.deepEqual(filesWith('CANARY-drop_me'), [])
    assert.deepEqual(filesWith('drop_me'), [])
  })

  test('is done by the ingester where one runs', async (t) => {
    const ingester = startCli(['ingest', logs, '--db', database])
    t.after(() => ingester.kill('SIGKILL'))
    await eventually('the lease is held', () => {
      const reader = openReader(database)
      try {
        return reader.prepare('SELECT pid FROM ingester').pluck().get() === ingester.pid
      } finally {
        reader.close()
      }
    })
    const { status, stdout, stderr } = forget('--tool', 'and_me', '--yes')
    assert.equal(status, 0, stderr)
    assert.match(stderr, new RegExp(`Process ${ingester.pid} ingests into this database`))
    assert.match(stdout, /^Forgotten: 1 call,/)
    assert.deepEqual(tools(), ['get_invoice', 'list_invoices'])
    assert.deepEqual(filesWith('and_me'), [])
  })

  test('of a database that is not there makes none', () => {
    const { status, stderr } = runCli(['forget', '--db', join(root, 'none.db'), '--tool', 'a'])
    assert.equal(status, 1)
    assert.match(stderr, /There is no database at/)
    assert.ok(!readdirSync(root).includes('none.db'))
  })
})

for (const [answer, expected] of [
  ['y', true],
  ['YES ', true],
  ['', false],
  ['no', false],
] as const) {
  test(`on a terminal "${answer}" is ${expected ? 'a yes' : 'a no'}`, async () => {
    const input = Object.assign(new PassThrough(), { isTTY: true })
    const output = new PassThrough()
    input.write(`${answer}\n`)
    assert.equal(await isConfirmed('Forget 2 calls of the tool "a"?', input, output), expected)
    assert.match(String(output.read()), /^Forget 2 calls of the tool "a"\? \[y\/N\] /)
  })
}

test('what makes no sense as --keep or --max-db is refused with what to write', () => {
  for (const [args, says] of [
    [['ingest', '--keep', '90'], /90d, 12h or 4w, or forever/],
    [['serve', '--keep', '0d'], /90d, 12h or 4w, or forever/],
    [['ingest', '--max-db', '10'], /10GB or 500MiB, or unlimited/],
    [['serve', '--max-db', '0.5MB'], /10GB or 500MiB, or unlimited/],
  ] as const) {
    const { status, stderr } = runCli([...args])
    assert.equal(status, 2)
    assert.match(stderr, says)
  }
})
