import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHealthFile, type Trouble } from '../../ingest/store/health-file.ts'
import { dashboardOf, NOW_MS, PARTIAL } from './fixtures/dashboard.ts'
import { textOf } from './fixtures/page-text.ts'

const full: Trouble = {
  state: 'full',
  message: 'There is no space left for the database /x; free some and ingesting goes on by itself.',
  sinceMs: NOW_MS - 3600_000,
  atMs: NOW_MS - 1000,
  pid: 4711,
  ended: false,
}

test('what stands in the way of ingesting is told on every page, and at length on the one about it', async (t) => {
  const { page, databasePath } = dashboardOf(t, [{ startedMs: NOW_MS }])
  const health = createHealthFile(databasePath)
  assert.doesNotMatch(textOf(await page('/')), /Nothing new is read/)
  health.write(full)
  for (const path of ['/', '/calls', '/calls/1', '/timeouts', '/arguments', '/help', '/ingest']) {
    const text = textOf(await page(path))
    assert.match(text, /Disk full\. Nothing new is read from the logs\. What to do/, path)
  }
  const text = textOf(await page('/ingest'))
  assert.ok(text.includes(full.message), text)
  assert.match(text, /So since .*11:00.* The ingester tries again and goes on by itself/)
  assert.match(
    await page('/calls', PARTIAL),
    /hx-target="#trouble"[^>]*>\s*<p class="notice trouble">/,
  )

  health.write({ ...full, state: 'corrupt', ended: true })
  assert.match(textOf(await page('/ingest')), /Database damaged.*has ended; when this is mended/s)
  health.write(undefined)
  assert.doesNotMatch(textOf(await page('/')), /Nothing new is read/)
})

test('hostile text in the health file stays text', async (t) => {
  const { page, databasePath } = dashboardOf(t, [{ startedMs: NOW_MS }])
  const state = '<b>new</b>' as Trouble['state']
  createHealthFile(databasePath).write({ ...full, state, message: '<img src=x onerror=alert(1)>' })
  const html = await page('/ingest')
  assert.ok(!html.includes('<img src=x'))
  assert.ok(!html.includes('<b>new'))
})
