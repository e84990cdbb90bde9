import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { defaultFilter } from '../../web/queries/filter.ts'
import { openCallStore } from '../../web/queries/sqlite-call-store.ts'
import { descendantsOf, eventually, isAlive } from './processes.ts'
import { runCli, startCli } from './run-cli.ts'

const HISTORY = ['--days', '7', '--calls', '2000']
const ADDRESS = /^Dashboard: (http:\/\/127\.0\.0\.1:\d+\/?)$/

type RunningDemo = { child: ChildProcess; stdout(): string; stderr(): string }

function startDemo(folder: string): RunningDemo {
  const child = startCli(['demo', '--dir', folder, '--port', '0', ...HISTORY], { cwd: tmpdir() })
  let out = ''
  let err = ''
  child.stdout?.setEncoding('utf8').on('data', (chunk) => {
    out += chunk
  })
  child.stderr?.setEncoding('utf8').on('data', (chunk) => {
    err += chunk
  })
  return { child, stdout: () => out, stderr: () => err }
}

async function addressOf({ child, stdout, stderr }: RunningDemo): Promise<string> {
  return await eventually(
    'the address is printed',
    () => {
      assert.equal(child.exitCode, null, `the demo ended:\n${stderr()}`)
      return ADDRESS.exec(stdout().trimEnd())?.[1]
    },
    120_000,
  )
}

async function assertAllGone(pids: number[], withinMs: number): Promise<void> {
  await eventually(
    `all of ${pids.join(', ')} are gone`,
    () => pids.every((pid) => !isAlive(pid)),
    withinMs,
  )
}

function liveCalls(folder: string): number {
  const store = openCallStore(join(folder, 'unsilent.db'))
  try {
    const everything = defaultFilter({ nowMs: Date.now(), defaultZone: 'UTC' })
    const client = { include: ['demo-agent'], exclude: [] }
    return store.keyFigures({ ...everything, client }).calls
  } finally {
    store.close()
  }
}

describe('the demo', () => {
  const root = mkdtempSync(join(tmpdir(), 'unsilent-demo-'))
  const folder = join(root, 'demo')
  let demo: RunningDemo
  let url: string

  before(async () => {
    demo = startDemo(folder)
    url = await addressOf(demo)
  })
  after(() => {
    demo.child.kill('SIGKILL')
    rmSync(root, { recursive: true, force: true })
  })

  test('prints the address last, when the page answers', async () => {
    assert.equal(demo.stdout().trimEnd().split('\n').length, 1)
    const page = await fetch(url)
    assert.equal(page.status, 200)
    assert.match(await page.text(), /get_exchange_rate/)
  })

  test('shows the invented history and live calls as they come', async () => {
    const first = await eventually(
      'a live call is in the database',
      () => liveCalls(folder) || false,
    )
    await eventually('more follow', () => liveCalls(folder) > first)
    const failures = runCli(['failures', '--db', join(folder, 'unsilent.db'), '--format', 'json'])
    assert.match(failures.stdout, /"tool": "get_exchange_rate"/)
  })

  test('keeps all its files in its folder', () => {
    for (const name of ['unsilent.db', 'logs/history/batch-1', 'logs/live', 'processes.log']) {
      assert.ok(existsSync(join(folder, name)), name)
    }
  })

  test('has its folder for itself', () => {
    const second = runCli(['demo', '--dir', folder, '--fresh'])
    assert.equal(second.status, 1)
    assert.match(
      second.stderr,
      /^unsilent: A demo is running in .* already \(process \d+\): stop it/,
    )
  })

  test('ends every process within two seconds of Ctrl-C', async () => {
    const { child } = demo
    const pids = descendantsOf(child.pid ?? 0)
    // The ingest worker, the agent, its two servers (and the compilers that tsx starts for each).
    assert.ok(pids.length >= 4, pids.join(', '))
    const startedMs = performance.now()
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGINT')
    assert.equal(await ended, 0, demo.stderr())
    await assertAllGone(pids, 5_000)
    const tookMs = performance.now() - startedMs
    // Half of it would do; the rest is for a machine that runs other tests meanwhile.
    assert.ok(tookMs < 4_000, `${Math.round(tookMs)} ms`)
    assert.ok(!existsSync(join(folder, 'demo.lock')))
  })

  test('D6: starts again over its history, and leaves no orphan when it is killed', async () => {
    const again = startDemo(folder)
    await addressOf(again)
    assert.match(again.stderr(), /2,000 calls over 7 days, kept/)
    const pids = descendantsOf(again.child.pid ?? 0)
    again.child.kill('SIGKILL')
    await assertAllGone([again.child.pid ?? 0, ...pids], 30_000)
  })
})
