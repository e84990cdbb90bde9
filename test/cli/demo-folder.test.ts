import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { openDemoFolder } from '../../web/cli/demo-folder.ts'
import { ensureHistory } from '../../web/cli/demo-history.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'unsilent-folder-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const open = (directory: string, fresh = false) => openDemoFolder({ directory, fresh })

describe('the demo’s folder', () => {
  test('is made where there is none, with everything in it', () => {
    const folder = open(join(root, 'deep', 'demo'))
    folder.release()
    for (const path of [folder.historyLogs, folder.liveLogs]) assert.ok(existsSync(path), path)
    for (const path of Object.values(folder)) {
      if (typeof path === 'string') assert.ok(path.startsWith(folder.path), path)
    }
  })

  test('is emptied by --fresh, but nothing that it links to', () => {
    const outside = join(root, 'outside')
    mkdirSync(outside)
    writeFileSync(join(outside, 'kept.txt'), '')
    const first = open(join(root, 'demo'))
    writeFileSync(first.databasePath, 'rows')
    symlinkSync(outside, join(first.path, 'link'))
    first.release()
    const second = open(join(root, 'demo'), true)
    second.release()
    assert.ok(!existsSync(second.databasePath))
    assert.ok(!existsSync(join(second.path, 'link')))
    assert.deepEqual(readdirSync(outside), ['kept.txt'])
  })

  test('is not emptied where --fresh is not given', () => {
    const first = open(join(root, 'demo'))
    writeFileSync(first.databasePath, 'rows')
    first.release()
    open(join(root, 'demo')).release()
    assert.ok(existsSync(first.databasePath))
  })

  test('may be a directory that is there and empty', () => {
    mkdirSync(join(root, 'empty'))
    open(join(root, 'empty')).release()
  })

  test('is never a directory with files of others', () => {
    writeFileSync(join(root, 'letter.txt'), '')
    assert.throws(() => open(root), /has files in it that the demo did not make/)
    assert.throws(() => open(root, true), /has files in it that the demo did not make/)
    assert.throws(() => open(join(root, 'letter.txt')), /is not a directory/)
    assert.deepEqual(readdirSync(root), ['letter.txt'])
  })

  test('serves one demo at a time', () => {
    const path = join(root, 'demo')
    open(path).release()
    // The process that runs this test's file is alive, and not us.
    const lock = join(path, 'demo.lock')
    writeFileSync(lock, `${process.ppid}\n`)
    assert.throws(
      () => open(path),
      new RegExp(`running in .* already \\(process ${process.ppid}\\)`),
    )
    assert.throws(() => open(path, true), /already/)
    assert.ok(existsSync(lock))
  })

  test('is free again where the demo was killed', () => {
    const path = join(root, 'demo')
    open(path).release()
    const lock = join(path, 'demo.lock')
    writeFileSync(lock, '999999999\n')
    open(path).release()
    // A living process has the number by now, but nobody has touched the lock for minutes.
    writeFileSync(lock, `${process.ppid}\n`)
    const longAgo = new Date(Date.now() - 120_000)
    utimesSync(lock, longAgo, longAgo)
    open(path).release()
    assert.ok(!existsSync(lock))
  })
})

describe('the demo’s history', () => {
  const DAY_MS = 86_400_000
  const NOW_MS = Date.UTC(2026, 4, 1, 12)

  type Made = { directory: string; days: number; calls: number; endMs: number; seed: number }

  const ensure = async (nowMs: number) => {
    const made: Made[] = []
    const history = await ensureHistory({
      directory: root,
      list: join(root, 'history.json'),
      days: 28,
      calls: 2_800,
      nowMs,
      generate: async (batch) => {
        made.push(batch)
        mkdirSync(batch.directory)
      },
    })
    return { history, made }
  }

  test('is made once, to end now', async () => {
    const { history, made } = await ensure(NOW_MS)
    assert.deepEqual(history, { state: 'made', days: 28, calls: 2_800 })
    const directory = join(root, 'batch-1')
    assert.deepEqual(made, [{ directory, days: 28, calls: 2_800, endMs: NOW_MS, seed: 1 }])
  })

  test('is kept while it is less than a week old', async () => {
    await ensure(NOW_MS)
    const { history, made } = await ensure(NOW_MS + 6.9 * DAY_MS)
    assert.deepEqual(history, { state: 'kept', days: 28, calls: 2_800 })
    assert.deepEqual(made, [])
  })

  test('is continued under another seed when it is older', async () => {
    await ensure(NOW_MS)
    const { history, made } = await ensure(NOW_MS + 10.5 * DAY_MS)
    assert.deepEqual(history, { state: 'added', days: 38, calls: 3_800 })
    const directory = join(root, 'batch-2')
    const endMs = NOW_MS + 10.5 * DAY_MS
    assert.deepEqual(made, [{ directory, days: 10, calls: 1_000, endMs, seed: 2 }])
    assert.equal((await ensure(endMs + 1)).history.state, 'kept')
  })

  test('is made anew over the rest of a demo that was stopped half-way', async () => {
    mkdirSync(join(root, 'batch-1'))
    writeFileSync(join(root, 'batch-1', 'half.jsonl'), '{')
    const { history } = await ensure(NOW_MS)
    assert.equal(history.state, 'made')
    assert.deepEqual(readdirSync(join(root, 'batch-1')), [])
  })

  test('a list that was damaged is told, with the way out', async () => {
    writeFileSync(join(root, 'history.json'), '{"batches":')
    await assert.rejects(ensure(NOW_MS), /history\.json cannot be read .*start with --fresh/)
  })
})
