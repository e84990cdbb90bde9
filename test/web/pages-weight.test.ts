import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { loadAssets } from '../../web/assets.ts'
import { dashboardOf, NOW_MS } from './fixtures/dashboard.ts'

test('all scripts together weigh at most 100 kB gzipped', () => {
  const { byPath, htmx, chart, script } = loadAssets()
  const bytes = [htmx, chart, script].map((path) => gzipSync(byPath.get(path)?.body ?? '').length)
  const total = bytes.reduce((sum, size) => sum + size, 0)
  assert.ok(total > 50_000 && total <= 100_000, `${total} bytes: ${bytes.join(', ')}`)
})

test('Chart.js is loaded only where a chart may come', async (t) => {
  const { page } = dashboardOf(t, [{ startedMs: NOW_MS - 1 }])
  assert.match(await page('/'), /\/assets\/chart-/)
  for (const path of ['/calls', '/calls/1', '/timeouts', '/arguments', '/ingest', '/help']) {
    assert.doesNotMatch(await page(path), /\/assets\/chart-/, path)
  }
})
