import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { removeOldLogs, WATERMARK_FILE } from '../../server/call-log/log-retention.ts'

const now = Date.UTC(2026, 5, 1)
const day = 24 * 3600 * 1000

function nameOf(number: number, extension = 'jsonl'): string {
  const start = `shop.20260101T000000Z.42.9f3a1c22`
  return extension === 'open' ? `${start}.open` : `${start}.${number}.jsonl`
}

function directoryWith(t: TestContext, files: [name: string, bytes: number, ageDays: number][]) {
  const directory = mkdtempSync(join(tmpdir(), 'unsilent-retention-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  for (const [name, bytes, ageDays] of files) {
    writeFileSync(join(directory, name), 'x'.repeat(bytes))
    const writtenS = (now - ageDays * day) / 1000
    utimesSync(join(directory, name), writtenS, writtenS)
  }
  return directory
}

test('files that were not written to for fourteen days are removed', async (t) => {
  const directory = directoryWith(t, [
    [nameOf(1), 10, 15],
    [nameOf(0, 'open'), 10, 15],
    [nameOf(2), 10, 13],
    [nameOf(3), 10, 0],
  ])
  assert.deepEqual(await removeOldLogs(directory, now), { files: 2, bytes: 20, unread: [] })
  assert.deepEqual(readdirSync(directory), [nameOf(2), nameOf(3)])
})

test('beyond the size the oldest go, but never one that is being written', async (t) => {
  const directory = directoryWith(t, [
    [nameOf(1), 100, 3],
    [nameOf(2), 100, 2],
    [nameOf(3), 100, 1],
    [nameOf(4), 1_000, 0.01],
  ])
  await removeOldLogs(directory, now, { maxBytes: 1_150 })
  assert.deepEqual(readdirSync(directory), [nameOf(3), nameOf(4)])
  await removeOldLogs(directory, now, { maxBytes: 1 })
  assert.deepEqual(readdirSync(directory), [nameOf(4)])
})

test('what the ingester has not read stays, until the size forces it', async (t) => {
  const directory = directoryWith(t, [
    [nameOf(1), 100, 30],
    [nameOf(2), 100, 30],
    [nameOf(3), 100, 20],
  ])
  const files = { [nameOf(1)]: 100, [nameOf(2)]: 60 }
  writeFileSync(join(directory, WATERMARK_FILE), JSON.stringify({ v: 1, files }))
  assert.equal((await removeOldLogs(directory, now)).files, 1)
  assert.deepEqual(readdirSync(directory), [WATERMARK_FILE, nameOf(2), nameOf(3)])
  const forced = await removeOldLogs(directory, now, { maxBytes: 150 })
  assert.deepEqual(forced, { files: 1, bytes: 100, unread: [nameOf(2)] })
})

test('files of others are not touched, and a directory that is gone is no fault', async (t) => {
  const others = [
    'app.log',
    'notes.jsonl',
    'shop.20260101T000000Z.42.9f3a1c22.1.jsonl.gz',
    'x.open',
  ]
  const directory = directoryWith(
    t,
    others.map((name): [string, number, number] => [name, 10, 400]),
  )
  assert.equal((await removeOldLogs(directory, now, { maxBytes: 1 })).files, 0)
  assert.deepEqual(readdirSync(directory).sort(), [...others].sort())
  assert.equal((await removeOldLogs(join(directory, 'gone'), now)).files, 0)
})
