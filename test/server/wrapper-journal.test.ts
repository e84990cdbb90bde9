import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type ReadOpenJournal, readOpenJournal } from '../../server/call-log/open-journal.ts'
import { startChild } from './stdio-child.ts'
import { logDirectory, until } from './wrapper-harness.ts'

function journalIn(logs: string): ReadOpenJournal | undefined {
  const name = readdirSync(logs).find((each) => each.endsWith('.open'))
  return name === undefined ? undefined : readOpenJournal(readFileSync(join(logs, name)))
}

test('of a server killed in the middle of a call, the log keeps what was running', async (t) => {
  const logs = logDirectory(t)
  const child = await startChild(t, 'faulty-server.ts', [logs])
  child.call(1, 'ok', { n: 1 })
  await child.answer(1)
  child.call(2, 'hangs')
  const running = await until(() => {
    const calls = journalIn(logs)?.calls ?? []
    return calls.length > 0 ? calls : undefined
  }, 'the call in the journal')
  assert.deepEqual(
    running.map(({ tool, request }) => [tool, request]),
    [['hangs', 2]],
  )
  child.process.kill('SIGKILL')
  await child.exitCode()
  assert.equal(journalIn(logs)?.calls.length, 1)
})
