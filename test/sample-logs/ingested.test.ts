import assert from 'node:assert/strict'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runIngest } from '../../ingest/run-ingest.ts'
import { createHostileFile, DEFAULT_HUGE_LINE_BYTES } from '../../sample-logs/hostile.ts'
import { SMALL_SAMPLE } from '../../sample-logs/small-sample.ts'
import { smallFolder, temporaryFolder } from './read-logs.ts'

test('the ingester takes every line of the small sample', async (t) => {
  const folder = temporaryFolder(t)
  const logs = join(folder, 'logs')
  cpSync(smallFolder, logs, { recursive: true })
  const databasePath = join(folder, 'calls.db')
  const summary = await runIngest({ roots: [logs], databasePath, once: true })
  assert.equal(summary.files, SMALL_SAMPLE.files)
  assert.equal(summary.rows, SMALL_SAMPLE.calls)
  assert.equal(summary.events, SMALL_SAMPLE.lines - SMALL_SAMPLE.calls)
  assert.equal(summary.duplicates, 0)
  assert.deepEqual(summary.quarantined, {})
})

test('the ingester finds in the hostile file what the generator says is there', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'hostile.jsonl')
  const { bytes, facts } = createHostileFile({ hugeLineBytes: DEFAULT_HUGE_LINE_BYTES })
  writeFileSync(path, bytes)
  const summary = await runIngest({
    roots: [path],
    databasePath: join(folder, 'calls.db'),
    once: true,
  })
  assert.equal(summary.rows, facts.calls)
  assert.equal(summary.events, facts.events)
  assert.equal(summary.duplicates, facts.duplicates)
  assert.equal(summary.foreignLines, facts.foreign)
  assert.deepEqual(summary.quarantined, facts.refused)
})
