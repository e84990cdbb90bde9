import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type RunningWeb, startWeb, type WebOptions } from '../../web/start-web.ts'
import { buildDatabase } from './fixtures/build-database.ts'

async function started(t: TestContext, options: Partial<WebOptions> = {}): Promise<RunningWeb> {
  const database = buildDatabase([{ startedMs: Date.now() - 60_000 }])
  t.after(() => database.close())
  const web = await startWeb({ databasePath: database.path, port: 0, zone: 'UTC', ...options })
  t.after(() => web.close())
  return web
}

function portTaken(t: TestContext): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer()
    t.after(() => server.close())
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

/** The answer's status line and headers, for a request that no client library would send. */
function rawAnswer(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.end(text))
    let answer = ''
    socket.setEncoding('latin1')
    socket.on('data', (chunk) => {
      answer += chunk
    })
    socket.on('end', () => resolve(answer))
    socket.on('error', reject)
  })
}

test('S1: it listens on the loopback address alone', async (t) => {
  const web = await started(t)
  assert.match(web.url, /^http:\/\/127\.0\.0\.1:\d+$/)
  assert.equal((await fetch(web.url)).status, 200)
  for (const host of ['0.0.0.0', '::', '192.168.1.4', 'example.org']) {
    await assert.rejects(startWeb({ databasePath: 'x', port: 0, host }), /this machine only/, host)
  }
})

test('S2: a wrong Host gets 403 over the wire too, however it is written', async (t) => {
  const { url } = await started(t)
  const { port } = new URL(url)
  for (const host of ['evil.example', `evil.example:${port}`, 'a b', '', `127.0.0.1:${port}, x`]) {
    const answer = await rawAnswer(
      url,
      `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    )
    assert.match(answer, /^HTTP\/1\.1 403 /, host)
    assert.match(answer, /content-security-policy: default-src 'none'/i, host)
  }
  const absolute = `GET http://evil.example/ HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`
  assert.match(await rawAnswer(url, absolute), /^HTTP\/1\.1 (400|403) /)
})

test('S20: a header of more than 16 KiB is refused', async (t) => {
  const { url } = await started(t)
  const status = await new Promise((resolve, reject) => {
    const sent = request(url, { headers: { 'x-long': 'a'.repeat(17_000) } }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    sent.on('error', reject)
    sent.end()
  })
  assert.equal(status, 431)
})

test('a port in use is an error, or the next one is taken', async (t) => {
  const port = await portTaken(t)
  const database = buildDatabase([])
  t.after(() => database.close())
  const options = { databasePath: database.path, port }
  await assert.rejects(startWeb(options), { code: 'EADDRINUSE', port })
  const web = await startWeb({ ...options, allowNextPort: true })
  t.after(() => web.close())
  assert.ok(Number(new URL(web.url).port) > port)
})

test('a database that is missing or not ours is named at the start', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'unsilent-web-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const start = (databasePath: string) => startWeb({ databasePath, port: 0 })
  await assert.rejects(start(join(folder, 'none.db')), { name: 'StoreError', state: 'missing' })
  writeFileSync(join(folder, 'text.db'), 'hello, I am a text file and no database')
  await assert.rejects(start(join(folder, 'text.db')), {
    name: 'StoreError',
    state: 'not_a_database',
  })
})

test('closing ends the answers and frees the port', async (t) => {
  const database = buildDatabase([])
  t.after(() => database.close())
  const web = await startWeb({ databasePath: database.path, port: 0 })
  assert.equal((await fetch(`${web.url}/healthz`)).status, 200)
  await web.close()
  await assert.rejects(fetch(web.url))
  const again = await startWeb({ databasePath: database.path, port: Number(new URL(web.url).port) })
  await again.close()
})
