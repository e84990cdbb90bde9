import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createFindings } from '../../web/analysis/findings.ts'
import type { CallStore } from '../../web/queries/call-store.ts'
import { parseFilter } from '../../web/queries/filter.ts'
import { storeOf, type TestCall } from './fixtures/build-database.ts'

const DAY = 86_400_000
const MINUTE = 60_000
const ZONE = 'Europe/Berlin'
// 11:07 in Berlin.
const NOW = Date.UTC(2026, 1, 18, 10, 7)

/** One call every half hour; two more at 02:03 and 02:12 Berlin time, which time out on most nights. */
function nights(count: number, spared: readonly number[] = []): TestCall[] {
  const midnight = Date.UTC(2026, 1, 17, 23)
  return Array.from({ length: count }, (_, ago) => {
    const day = midnight - (ago + 1) * DAY
    const plain = Array.from({ length: 48 }, (__, i) => ({
      startedMs: day + i * 30 * MINUTE + 17 * MINUTE,
    }))
    const bad = [123, 132].map(
      (minute): TestCall => ({
        startedMs: day + minute * MINUTE,
        session: `night-${ago}`,
        ...(spared.includes(ago) ? {} : { class: 'timeout' }),
      }),
    )
    return [...plain, ...bad]
  }).flat()
}

test('a nightly window is told in a sentence, with its times, its nights and when it comes next', (t) => {
  const store = storeOf(t, nights(14, [3, 9]))
  const findings = createFindings(store, { zone: ZONE, now: () => NOW })
  const [finding, ...others] = findings.current()
  assert.equal(others.length, 0)
  assert.equal(
    finding?.sentence,
    '`search` times out between about 02:00 and 02:15 (Europe/Berlin), 12 of 14 nights.',
  )
  assert.equal(finding?.grade, 'confirmed')
  assert.equal(finding?.family, 'network')
  assert.match(finding?.action ?? '', /consistent with a scheduled window/)
  assert.match(finding?.action ?? '', /Next expected Thu 19 Feb 02:00/)
  assert.match(
    finding?.action ?? '',
    /fixed in Europe\/Berlin or in UTC shows when clocks change on 29 Mar 2026/,
  )
  assert.match(finding?.check ?? '', /Over when 3 days in a row pass without it/)
  assert.deepEqual(finding?.impact, { calls: 24, sessions: 12 })
})

test('the calls behind a window are exactly those it counts, also tomorrow', (t) => {
  const store = storeOf(t, nights(14, [3, 9]))
  const [finding] = createFindings(store, { zone: ZONE, now: () => NOW }).current()
  const parsed = parseFilter(new URLSearchParams(finding?.evidenceQuery), {
    nowMs: NOW + DAY,
    defaultZone: 'UTC',
  })
  assert.ok(parsed.ok)
  assert.equal(store.calls(parsed.filter, { limit: 1 }).total, 24)
})

test('without findings it is said what was tested on how much data', (t) => {
  const store = storeOf(t, nights(10, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]))
  const findings = createFindings(store, { zone: ZONE, now: () => NOW })
  assert.deepEqual(findings.current(), [])
  const { tested, missing, calls } = findings.status()
  assert.equal(calls, 500)
  assert.match(tested, /^Tested 0 pairs of tool and error class .* on 500 calls of 10 full days\./)
  assert.match(missing ?? '', /Weekly windows need 21 days of calls: 11 more days/)
})

test('too little data says how much is missing, and an empty database says so', (t) => {
  const three = createFindings(storeOf(t, nights(3)), { zone: ZONE, now: () => NOW })
  assert.deepEqual(three.current(), [])
  assert.match(three.status().missing ?? '', /Daily windows need 7 days of calls: 4 more days/)
  const empty = createFindings(storeOf(t, []), { zone: ZONE, now: () => NOW })
  assert.deepEqual(empty.windows(), [])
  assert.match(empty.status().tested, /^Nothing was tested/)
})

test('findings are made again in the background, and only when calls have come and time has passed', async (t) => {
  let now = NOW
  const store = storeOf(t, nights(13))
  const findings = createFindings(store, { zone: ZONE, now: () => now })
  const first = findings.status().computedMs
  assert.equal(findings.current().length, 1)
  store.add([{ startedMs: now, class: 'timeout' }])
  assert.equal(findings.status().computedMs, first)
  findings.refresh()
  assert.equal(findings.status().computedMs, first, 'the pause is not over')
  now += 10 * MINUTE
  // Whoever asks first still gets the old answer at once.
  assert.equal(findings.status().computedMs, first)
  for (let i = 0; i < 200 && findings.status().computedMs === first; i++) await wait(10)
  assert.equal(findings.status().computedMs, now)
  const second = findings.status().computedMs
  now += MINUTE
  findings.refresh()
  assert.equal(findings.status().computedMs, second, 'nothing has come')
  findings.close()
})

test('after closing nothing is computed any more', async (t) => {
  let now = NOW
  const store = storeOf(t, nights(8))
  const findings = createFindings(store, { zone: ZONE, now: () => now })
  const first = findings.status().computedMs
  now += DAY
  findings.current()
  findings.close()
  await wait(20)
  assert.equal(findings.status().computedMs, first)
})

test('a database that can no longer be read leaves the old findings, and the status says why', async (t) => {
  let now = NOW
  const store = storeOf(t, nights(13))
  let broken = false
  const fragile: CallStore = {
    ...store,
    quarterSeries: (filter) => {
      if (broken) throw new Error('disk I/O error')
      return store.quarterSeries(filter)
    },
  }
  fragile.snapshot = (questions) => questions(fragile)
  const findings = createFindings(fragile, { zone: ZONE, now: () => now })
  assert.equal(findings.current().length, 1)
  broken = true
  now += DAY
  for (let i = 0; i < 200 && !findings.status().problem; i++) await wait(10)
  assert.equal(findings.status().problem, 'disk I/O error')
  assert.equal(findings.current().length, 1)
  findings.close()
})

test('in the background the first findings are waited for by nobody', async (t) => {
  const store = storeOf(t, nights(13))
  const findings = createFindings(store, { zone: ZONE, now: () => NOW, background: true })
  assert.equal(findings.status().computedMs, undefined)
  assert.deepEqual(findings.current(), [])
  for (let i = 0; i < 500 && findings.status().computedMs === undefined; i++) await wait(10)
  assert.equal(findings.current().length, 1)
  findings.close()
})
