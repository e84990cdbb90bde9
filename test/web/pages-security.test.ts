import assert from 'node:assert/strict'
import { renameSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { ownOrigin } from '../../web/security/own-origin.ts'
import { type RequestFacts, refusalOf } from '../../web/security/request-guard.ts'
import { dashboardOf, NOW_MS, ORIGIN, PARTIAL } from './fixtures/dashboard.ts'

const CALL = { startedMs: NOW_MS - 60_000, tool: 'search' }

const EVERY_KIND_OF_ROUTE = ['/', '/calls', '/calls/1', '/calls.json', '/assets/x.js', '/nowhere']

test('S2: only the exact own names and port are answered, on every route', async (t) => {
  const { get } = dashboardOf(t, [CALL])
  const foreign = [
    'evil.example',
    'evil.example:4747',
    '127.0.0.1',
    '127.0.0.1:4748',
    'localhost',
    'localhost.:4747',
    '127.0.0.1.nip.io:4747',
    '0.0.0.0:4747',
    '[::]:4747',
  ]
  for (const path of EVERY_KIND_OF_ROUTE) {
    for (const host of foreign) {
      assert.equal((await get(path, { host })).status, 403, `${host} ${path}`)
    }
  }
  for (const host of ['127.0.0.1:4747', 'localhost:4747', '[::1]:4747', 'LOCALHOST:4747']) {
    assert.equal((await get('/', { host })).status, 200, host)
  }
})

test('S3: a foreign or null Origin is refused', async (t) => {
  const { get } = dashboardOf(t, [CALL])
  for (const origin of [
    'null',
    'https://evil.example',
    'http://127.0.0.1:4748',
    'http://localhost',
  ]) {
    assert.equal((await get('/calls', { origin })).status, 403, origin)
  }
  assert.equal((await get('/calls', { origin: ORIGIN })).status, 200)
  assert.equal((await get('/calls', { origin: 'http://localhost:4747' })).status, 200)
})

test('S4: what another site may do is open a page', () => {
  const facts: RequestFacts = {
    method: 'GET',
    host: '127.0.0.1:4747',
    origin: undefined,
    fetchSite: undefined,
    fetchMode: undefined,
    fetchDest: undefined,
  }
  const cases: [Partial<RequestFacts>, number | undefined][] = [
    [{}, undefined],
    [{ fetchSite: 'same-origin', fetchMode: 'cors', fetchDest: 'empty' }, undefined],
    [{ fetchSite: 'none', fetchMode: 'navigate', fetchDest: 'document' }, undefined],
    [{ fetchSite: 'cross-site', fetchMode: 'navigate', fetchDest: 'document' }, undefined],
    [{ fetchSite: 'same-site', fetchMode: 'navigate', fetchDest: 'document' }, undefined],
    [{ fetchSite: 'cross-site', fetchMode: 'navigate', fetchDest: 'iframe' }, 403],
    [{ fetchSite: 'cross-site', fetchMode: 'no-cors', fetchDest: 'image' }, 403],
    [{ fetchSite: 'same-site', fetchMode: 'cors', fetchDest: 'empty' }, 403],
    [{ fetchSite: 'cross-site', fetchMode: 'no-cors', fetchDest: 'script' }, 403],
    [
      {
        method: 'POST',
        fetchSite: 'cross-site',
        fetchMode: 'navigate',
        fetchDest: 'document',
        origin: 'http://127.0.0.1:4747',
      },
      403,
    ],
  ]
  for (const [change, status] of cases) {
    const refusal = refusalOf({ ...facts, ...change }, ownOrigin(4747))
    assert.equal(refusal?.status, status, JSON.stringify(change))
  }
})

test('S5, S10, S22: every answer carries the same strict headers', async (t) => {
  const { get } = dashboardOf(t, [CALL])
  const answers = [
    ...EVERY_KIND_OF_ROUTE.map((path) => get(path)),
    get('/', { host: 'evil.example' }),
    get('/calls?nonsense=1'),
    get('/calls', PARTIAL),
  ]
  for (const response of await Promise.all(answers)) {
    const { headers } = response
    assert.equal(
      headers.get('content-security-policy'),
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    )
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.equal(headers.get('referrer-policy'), 'same-origin')
    assert.equal(headers.get('cross-origin-resource-policy'), 'same-origin')
    assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin')
    assert.equal(headers.get('cache-control'), 'no-store')
    for (const name of ['x-powered-by', 'server', 'access-control-allow-origin']) {
      assert.equal(headers.get(name), null, name)
    }
  }
})

test('S6: GET changes nothing, and the one POST needs its own Origin', async (t) => {
  const { get, request } = dashboardOf(t, [CALL])
  const body = new URLSearchParams({ theme: 'dark' })
  const post = (headers: Record<string, string>) =>
    request('/theme', { method: 'POST', body, headers })
  assert.equal((await get('/theme')).status, 404)
  assert.equal((await post({})).status, 403)
  assert.equal((await post({ origin: 'https://evil.example' })).status, 403)
  const kept = await post({ origin: ORIGIN, referer: `${ORIGIN}/calls?tool=search` })
  assert.equal(kept.status, 303)
  assert.equal(kept.headers.get('location'), '/calls?tool=search')
  assert.match(
    kept.headers.get('set-cookie') ?? '',
    /^unsilent_theme=dark;.*HttpOnly.*SameSite=Strict/i,
  )
})

test('a referer cannot lead to another host', async (t) => {
  const { request } = dashboardOf(t, [CALL])
  const response = await request('/theme', {
    method: 'POST',
    body: new URLSearchParams({ theme: 'light' }),
    headers: { origin: ORIGIN, referer: `${ORIGIN}//evil.example/path` },
  })
  assert.equal(response.headers.get('location'), '/evil.example/path')
})

test('other methods get 405, HEAD is a GET without a body', async (t) => {
  const { request } = dashboardOf(t, [CALL])
  for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
    assert.equal((await request('/calls', { method })).status, 405, method)
  }
  const posted = await request('/calls', { method: 'POST', headers: { origin: ORIGIN } })
  assert.equal(posted.status, 405)
  const head = await request('/calls', { method: 'HEAD' })
  assert.equal(head.status, 200)
  assert.equal(await head.text(), '')
})

test('S17: assets are known names with hashes, and nothing else is a file', async (t) => {
  const { get, page } = dashboardOf(t, [CALL])
  const html = await page('/')
  const urls = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, url]) => url ?? '')
  assert.equal(new Set(urls).size, 5)
  for (const url of urls) {
    const response = await get(url)
    assert.equal(response.status, 200, url)
    assert.match(url, /-[0-9a-f]{12}\.(js|css|svg)$/)
    assert.match(response.headers.get('cache-control') ?? '', /immutable/)
  }
  for (const path of [
    '/assets/../package.json',
    '/assets/..%2fpackage.json',
    '/assets/style.css',
  ]) {
    assert.equal((await get(path)).status, 404, path)
  }
})

test('nothing on a page comes from another host', async (t) => {
  const { page } = dashboardOf(t, [CALL])
  for (const path of [
    '/',
    '/calls',
    '/calls/1',
    '/timeouts',
    '/findings',
    '/arguments',
    '/ingest',
    '/help',
  ]) {
    const html = await page(path)
    assert.doesNotMatch(html, /(?:src|href|action)="(?:https?:)?\/\//, path)
    assert.doesNotMatch(html, / style="|<style| on[a-z]+="|hx-on|="js:/, path)
  }
})

test('S21: a fault tells no stack, no path and no SQL', async (t) => {
  const { get, databasePath, faults } = dashboardOf(t, [CALL])
  renameSync(databasePath, `${databasePath}.away`)
  for (const path of ['/', '/calls', '/calls/1', '/calls.json', '/healthz', '/ingest']) {
    const response = await get(path)
    const body = await response.text()
    assert.equal(response.status, 503, path)
    assert.doesNotMatch(body, /unsilent\.db|\/tmp\/|SELECT|node_modules|at \S+ \(/, path)
  }
  assert.equal(faults.length, 6)
})

test('a database that comes back is read again', async (t) => {
  const { get, databasePath } = dashboardOf(t, [CALL])
  renameSync(databasePath, `${databasePath}.away`)
  const gone = await get('/calls')
  assert.equal(gone.status, 503)
  assert.match(await gone.text(), /The database file is not there\./)
  writeFileSync(databasePath, 'not a database at all, but long enough to look at')
  assert.match(await (await get('/calls')).text(), /The database file is not a database any more\./)
  renameSync(`${databasePath}.away`, databasePath)
  assert.equal((await get('/calls')).status, 200)
})
