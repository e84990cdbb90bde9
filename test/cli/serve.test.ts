import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { openCallStore } from '../../web/queries/sqlite-call-store.ts'
import { descendantsOf, eventually, isAlive } from './processes.ts'
import { runCli, startCli } from './run-cli.ts'
import { openTestLog, type TestLog } from './write-log.ts'

function ingesterOf(pid: number): number | undefined {
  return descendantsOf(pid).find((id) =>
    readFileSync(`/proc/${id}/cmdline`, 'utf8').includes('\0ingest\0'),
  )
}

describe('serve', () => {
  const root = mkdtempSync(join(tmpdir(), 'unsilent-serve-'))
  const logs = join(root, 'logs')
  const database = join(root, 'calls.db')
  let log: TestLog
  let child: ChildProcess
  let url: string
  let stderr = ''

  before(async () => {
    mkdirSync(logs)
    log = openTestLog(logs, 'fedcba9876543210fedcba9876543210')
    log.call({ tool: 'get_invoice', startedMs: Date.now() })
    child = startCli(['serve', '--logs', logs, '--db', database, '--port', '0'])
    child.stderr?.setEncoding('utf8').on('data', (chunk) => {
      stderr += chunk
    })
    let stdout = ''
    child.stdout?.setEncoding('utf8').on('data', (chunk) => {
      stdout += chunk
    })
    url = await eventually('the address is printed', () => {
      assert.equal(child.exitCode, null, stderr)
      return /^Dashboard: (\S+)\n$/.exec(stdout)?.[1]
    })
  })
  after(() => {
    child.kill('SIGKILL')
    rmSync(root, { recursive: true, force: true })
  })

  const extentOf = () => {
    const store = openCallStore(database)
    try {
      return store.extent()
    } finally {
      store.close()
    }
  }

  const arrives = async (startedMs: number) => {
    log.call({ tool: 'get_invoice', startedMs })
    await eventually('the call is in the database', () => extentOf()?.lastMs === startedMs)
  }

  test('shows the dashboard over what is logged', async () => {
    assert.equal((await fetch(url)).status, 200)
    await arrives(Date.now())
  })

  test('starts its ingest worker again when that is killed', async () => {
    const worker = ingesterOf(child.pid ?? 0)
    assert.ok(worker)
    process.kill(worker, 'SIGKILL')
    await eventually('it says so', () => /ingest worker ended \(signal SIGKILL\)/.test(stderr))
    await eventually('another one runs', () => {
      const next = ingesterOf(child.pid ?? 0)
      return next !== undefined && next !== worker
    })
    await arrives(Date.now())
    assert.equal((await fetch(url)).status, 200)
  })

  test('a second ingest worker for the same database is refused with exit code 75', () => {
    const second = runCli(['ingest', logs, '--db', database])
    assert.equal(second.status, 75, second.stderr)
    assert.equal(second.stderr.trimEnd().split('\n').length, 1, second.stderr)
  })

  test('an import of other files is handed to it', () => {
    const other = openTestLog(join(root, 'other'), '0123456789abcdef0123456789abcdef')
    for (const _ of [1, 2, 3]) other.call({ tool: 'imported', startedMs: Date.now() })
    const glob = join('other', '**', '*.jsonl')
    const args = ['ingest', glob, '--once', '--db', database]
    const { status, stderr } = runCli(args, { cwd: root })
    assert.equal(status, 0, stderr)
    assert.match(stderr, /^Process \d+ ingests into this database and imports these files too/)
    assert.match(stderr, /\n3 calls were read meanwhile\.\n$/)
    const store = openCallStore(database)
    assert.equal(store.extent() !== undefined, true)
    store.close()
    const none = runCli(['ingest', join(root, 'none'), '--once', '--db', database])
    assert.equal(none.status, 2, none.stderr)
  })

  test('a port in use is told in one sentence', async () => {
    const blocker = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => blocker.once('listening', resolve))
    const address = blocker.address()
    const port = typeof address === 'object' && address ? address.port : 0
    const web = runCli(['web', '--db', database, '--port', String(port)])
    blocker.close()
    assert.equal(web.status, 1)
    assert.match(web.stderr, new RegExp(`^unsilent: .*${port}.*\\n$`))
  })

  test('ends with its worker when it is told to', async () => {
    const pids = descendantsOf(child.pid ?? 0)
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    assert.equal(await ended, 0, stderr)
    await eventually('all are gone', () => pids.every((pid) => !isAlive(pid)), 10_000)
  })
})
