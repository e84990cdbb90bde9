import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dashboardOf, NOW_MS } from './fixtures/dashboard.ts'
import { HOSTILE_TEXTS, hostileCalls } from './fixtures/hostile-texts.ts'

const TAG = /<(\/?[a-z][a-z0-9-]*)((?:\s+[a-z][\w:-]*(?:="[^"<>]*")?)*)\s*\/?>/g

const ATTRIBUTE = /\s+([a-z][\w:-]*)(?:="[^"]*")?/g

/** Names of the elements and attributes of a page; whatever is no clean tag stays in `rest`. */
function shapeOf(html: string): { names: Set<string>; rest: string } {
  const names = new Set<string>()
  const rest = html
    .replace(/^<!doctype html>/i, '')
    .replace(TAG, (_, name: string, attributes: string) => {
      names.add(name)
      for (const [, attribute = ''] of attributes.matchAll(ATTRIBUTE)) names.add(attribute)
      return ''
    })
  return { names, rest }
}

const PLAIN = hostileCalls(NOW_MS).map((call) => ({
  ...call,
  tool: 'search',
  server: 'demo',
  version: '1',
  client: 'claude',
  message: 'it failed',
  args: { query: 'a' },
}))

test('G1: a hostile text adds no element and no attribute to any page', async (t) => {
  const plain = dashboardOf(t, PLAIN)
  const hostile = dashboardOf(t, hostileCalls(NOW_MS))
  const known = new Set<string>()
  for (const path of [
    '/',
    '/calls',
    '/calls/1',
    '/calls/2',
    '/timeouts',
    '/findings',
    '/arguments',
    '/ingest',
    '/help',
  ]) {
    for (const name of shapeOf(await plain.page(path)).names) known.add(name)
  }
  const calls = HOSTILE_TEXTS.map((_, index) => `/calls/${index * 3 + 2}`)
  for (const path of ['/', '/calls', '/timeouts', '/findings', '/arguments', '/ingest', ...calls]) {
    const { names, rest } = shapeOf(await hostile.page(path))
    assert.doesNotMatch(rest, /</, path)
    assert.deepEqual(
      [...names].filter((name) => !known.has(name)),
      [],
      path,
    )
  }
})
