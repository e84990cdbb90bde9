import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { runIngest } from '../../ingest/run-ingest.ts'
import { checkInvariants } from '../../ingest/store/check-invariants.ts'
import { openReader } from '../../ingest/store/open-database.ts'
import { eventually } from './processes.ts'
import { CLI, startCli } from './run-cli.ts'
import { openTestLog, type TestLog } from './write-log.ts'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/backup.md'), 'utf8')
/** In the order of the page: back up, the same with sqlite3, look at it, restore. */
const blocks = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, commands = '']) => commands)

const HAS_SQLITE3 = spawnSync('sqlite3', ['-version']).status === 0

describe('docs/backup.md', () => {
  const home = mkdtempSync(join(tmpdir(), 'unsilent-backup-'))
  const logs = join(home, 'logs')
  const database = join(home, 'unsilent.db')
  const env = { UNSILENT_HOME: home }
  let log: TestLog
  let written = 0

  before(() => {
    // `npx unsilent` is the command line of this working tree.
    const bin = join(home, 'bin')
    mkdirSync(bin)
    const quoted = CLI.map((word) => `'${word}'`).join(' ')
    writeFileSync(join(bin, 'npx'), `#!/bin/sh\nshift\nexec ${quoted} "$@"\n`)
    chmodSync(join(bin, 'npx'), 0o755)
    log = openTestLog(logs, '0123456789abcdef0123456789abcdef')
  })
  after(() => rmSync(home, { recursive: true, force: true }))

  const run = (commands: string) =>
    spawnSync('bash', ['-e', '-c', commands], {
      cwd: root,
      encoding: 'utf8',
      timeout: 120_000,
      env: { ...process.env, ...env, PATH: `${join(home, 'bin')}:${process.env.PATH}` },
    })

  /** A call of ours, and one of a program that gives its lines no number. */
  const write = (times: number): void => {
    for (let i = 0; i < times; i += 1) {
      written += 1
      log.call({ tool: 'get_invoice', startedMs: Date.now() })
      const line = { time: Date.now(), tool: 'search', call_id: `f-${written}`, duration_ms: 3 }
      appendFileSync(join(logs, 'foreign.log'), `${JSON.stringify({ level: 30, ...line })}\n`)
    }
  }

  const uidsIn = (path: string): string[] => {
    const reader = openReader(path)
    try {
      assert.deepEqual(checkInvariants(reader), [])
      return reader.prepare('SELECT uid FROM calls').pluck().all() as string[]
    } finally {
      reader.close()
    }
  }

  test('has four blocks of commands', () => {
    assert.equal(blocks.length, 4)
  })

  test('F12: a backup is made while the ingester writes, and is whole', async (t) => {
    write(50)
    const ingester = startCli(['ingest'], { env })
    t.after(() => ingester.kill('SIGKILL'))
    await eventually('the first lines are read', () => {
      try {
        return uidsIn(database).length === 100
      } catch {
        return false
      }
    })
    const writing = setInterval(() => write(5), 20)
    t.after(() => clearInterval(writing))
    const first = run(blocks[0] ?? '')
    assert.equal(first.status, 0, first.stderr)
    if (HAS_SQLITE3) {
      const second = run(blocks[1] ?? '')
      assert.equal(second.status, 0, second.stderr)
      assert.ok(uidsIn(join(home, 'backup-2.db')).length >= 100)
    }
    clearInterval(writing)
    write(20)
    assert.equal(statSync(join(home, 'backup.db')).mode & 0o077, 0)
    const saved = uidsIn(join(home, 'backup.db')).length
    assert.ok(saved >= 100 && saved < written * 2, `${saved} of ${written * 2} calls`)
    await eventually('all lines are read', () => uidsIn(database).length === written * 2)
    ingester.kill('SIGINT')
    await once(ingester, 'close')
  })

  test('a backup can be looked at with the doctor', () => {
    const { status, stdout, stderr } = run(blocks[2] ?? '')
    assert.ok(status === 0 || status === 4, `${status}: ${stdout}${stderr}`)
  })

  test('F12: after restoring nothing is lost and nothing is doubled', () => {
    write(10)
    const { status, stderr } = run(blocks[3] ?? '')
    assert.equal(status, 0, stderr)
    const uids = uidsIn(database)
    assert.equal(uids.length, written * 2)
    assert.equal(new Set(uids).size, written * 2)
    assert.equal(uidsIn(join(home, 'aside', 'unsilent.db')).length, (written - 10) * 2)
  })

  test('F12: a file that was copied without its -wal opens, and what it lacks is read again', async () => {
    const copy = join(home, 'copied', 'unsilent.db')
    mkdirSync(join(home, 'copied'), { mode: 0o700 })
    copyFileSync(database, copy)
    await runIngest({ roots: [logs], databasePath: copy, once: true })
    assert.equal(uidsIn(copy).length, written * 2)
  })
})
