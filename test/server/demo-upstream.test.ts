import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { startUpstream, type Upstream } from '../../server/demo/upstream.ts'
import { createFaults, LIVE_FAULTS, NO_FAULTS } from '../../server/demo/upstream-faults.ts'

describe('the upstream', () => {
  let upstream: Upstream

  beforeEach(async () => {
    upstream = await startUpstream({ script: NO_FAULTS })
  })
  afterEach(() => upstream.close())

  const get = (path: string, timeoutMs = 10_000) =>
    fetch(upstream.url + path, { signal: AbortSignal.timeout(timeoutMs) })

  test('answers with invoices, rates and documents', async () => {
    const rate = await get('/rates/EUR/USD').then((response) => response.json())
    assert.deepEqual(rate, { base: 'EUR', quote: 'USD', rate: 1.0842 })
    const found = await get('/documents?q=backup').then((response) => response.json())
    assert.deepEqual(found, { documents: [{ id: 'DOC-102', title: 'Restoring a backup' }] })
    assert.equal((await get('/invoices/INV-2001')).status, 200)
    assert.equal((await get('/invoices/INV-1')).status, 404)
    assert.equal((await get('/nowhere')).status, 404)
  })

  test('resets, refuses and hangs at the level of the connection', async () => {
    upstream.faults.set('list_collections', { kind: 'reset' }, 1)
    await assert.rejects(get('/collections'), { name: 'TypeError', message: 'fetch failed' })
    upstream.faults.set('list_collections', { kind: 'refused' }, 1)
    const refused = await get('/collections').catch((error) => error)
    assert.equal(refused.cause.code, 'ECONNREFUSED')
    upstream.faults.set('list_collections', { kind: 'hang' }, 1)
    await assert.rejects(get('/collections', 200), { name: 'TimeoutError' })
    assert.equal((await get('/collections')).status, 200)
  })

  test('answers with 429, 503, HTML and an error told in words', async () => {
    upstream.faults.set('list_collections', { kind: 'rate_limited', retryAfterS: 7 }, 1)
    const limited = await get('/collections')
    assert.equal(limited.status, 429)
    assert.equal(limited.headers.get('retry-after'), '7')
    upstream.faults.set('list_collections', { kind: 'unavailable' }, 1)
    assert.equal((await get('/collections')).status, 503)
    upstream.faults.set('list_collections', { kind: 'html' }, 1)
    const page = await get('/collections')
    assert.equal(page.status, 200)
    assert.match(await page.text(), /^<!doctype html>/)
    upstream.faults.set('list_collections', { kind: 'error_text' }, 1)
    const told = await get('/collections')
    assert.equal(told.status, 200)
    assert.match(await told.text(), /rate limit exceeded/)
  })

  test('delays the right answer where it is slow', async () => {
    upstream.faults.set('list_collections', { kind: 'slow', ms: 150 }, 1)
    const startedMs = performance.now()
    assert.equal((await get('/collections')).status, 200)
    assert.ok(performance.now() - startedMs >= 145)
  })

  test('takes faults from outside over its control route', async () => {
    const put = (body: unknown) =>
      fetch(`${upstream.url}/control/faults/list_collections`, {
        method: 'PUT',
        body: JSON.stringify(body),
      })
    assert.equal((await put({ fault: { kind: 'unavailable' } })).status, 200)
    assert.equal((await get('/collections')).status, 503)
    assert.equal((await get('/collections')).status, 503)
    await fetch(`${upstream.url}/control/faults`, { method: 'DELETE' })
    assert.equal((await get('/collections')).status, 200)
    assert.equal((await put({ fault: { kind: 'earthquake' } })).status, 400)
    assert.equal((await put({ fault: { kind: 'slow' } })).status, 400)
  })

  test('refuses a body that is no JSON or too large', async () => {
    const post = (body: string) => fetch(`${upstream.url}/invoices`, { method: 'POST', body })
    assert.equal((await post('{"customer"')).status, 400)
    assert.equal((await post(JSON.stringify({ customer: 'x'.repeat(70_000) }))).status, 400)
  })
})

describe('the script of faults', () => {
  const draw = (seed: number, nowMs: number) => {
    const faults = createFaults({ script: LIVE_FAULTS, seed, now: () => nowMs })
    return Array.from({ length: 200 }, () => faults.next('summarize_document')?.kind ?? 'none')
  }

  test('is the same for the same seed and different for another', () => {
    assert.deepEqual(draw(7, 0), draw(7, 0))
    assert.notDeepEqual(draw(7, 0), draw(8, 0))
  })

  test('hits about the share of requests it says', () => {
    const hits = draw(3, 0).filter((kind) => kind === 'error_text').length
    assert.ok(hits > 20 && hits < 60, `${hits} of 200 for a share of 0.2`)
  })

  test('puts the maintenance window on the wall clock', () => {
    let nowMs = 0
    const faults = createFaults({ script: LIVE_FAULTS, seed: 1, now: () => nowMs })
    const kindAt = (ms: number) => {
      nowMs = ms
      return faults.next('get_exchange_rate')?.kind
    }
    assert.equal(kindAt(1_800_000_000_000), 'hang')
    assert.equal(kindAt(1_800_000_019_999), 'hang')
    assert.notEqual(kindAt(1_800_000_020_000), 'hang')
    assert.equal(kindAt(1_800_000_120_000), 'hang')
  })
})
