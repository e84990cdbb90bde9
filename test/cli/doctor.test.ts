import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Finding } from '../../ingest/checkup/finding.ts'
import { runCli } from './run-cli.ts'
import { openTestLog } from './write-log.ts'

const folder = mkdtempSync(join(tmpdir(), 'unsilent-doctor-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const logs = join(folder, 'logs')
const database = join(folder, 'calls.db')
mkdirSync(logs)
chmodSync(logs, 0o700)
const where = ['--logs', logs, '--db', database]

test('before anything ran the doctor says what to start, with exit code 4', () => {
  const { status, stdout, stderr } = runCli(['doctor', ...where])
  assert.equal(status, 4, stdout + stderr)
  assert.match(stdout, /^ok {7}runtime {6}better-sqlite3 .* fits Node/)
  assert.match(stdout, /^WARNING {2}database {5}There is no database at .*; run `unsilent ingest`/m)
})

test('the exit code is that of the worst finding, and JSON holds them all', () => {
  openTestLog(logs, 'a'.repeat(32)).call({ tool: 'search', startedMs: Date.now() })
  assert.equal(runCli(['ingest', logs, '--once', '--db', database]).status, 0)
  const idle = runCli(['doctor', ...where, '--format', 'json'])
  assert.equal(idle.status, 4, idle.stdout)
  const document = JSON.parse(idle.stdout)
  assert.deepEqual([document.version, document.severity], [1, 'warning'])
  assert.deepEqual(
    document.findings.filter(
      // How full the disk is here is not this test's.
      ({ severity, check }: Finding) => severity !== 'ok' && check !== 'disk',
    ),
    [
      {
        advice: 'Start `unsilent serve`, or `unsilent ingest`.',
        check: 'ingester',
        found: document.findings.at(-1).found,
        severity: 'warning',
      },
    ],
  )
  writeFileSync(database, 'not a database '.repeat(50))
  const broken = runCli(['doctor', ...where])
  assert.equal(broken.status, 1)
  assert.match(broken.stdout, /^ERROR {4}database .*is not a SQLite database/m)
})
