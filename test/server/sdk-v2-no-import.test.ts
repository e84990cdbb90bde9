import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { readCalls } from './demo-log.ts'
import { logDirectory } from './wrapper-harness.ts'

test('unsilence works in a process that can load no SDK', async (t) => {
  const logs = logDirectory(t)
  const child = join(import.meta.dirname, 'fixtures', 'no-sdk-child.ts')
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', child, logs])
  const answer = JSON.parse(stdout) as { id: number; result: { isError?: boolean } }
  assert.equal(answer.id, 1)
  assert.equal(answer.result.isError, true)
  assert.deepEqual(
    readCalls(logs).map(({ tool, error }) => [tool, error?.class]),
    [['quiet', 'bad_result']],
  )
})
