import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scanTimeline } from '../../web/analysis/recurrence-scan.ts'
import { dayTimeline } from '../../web/analysis/timeline.ts'
import { nextOccurrence } from '../../web/analysis/timeout-window.ts'
import { findTimeoutWindows } from '../../web/analysis/timeout-windows.ts'
import type { QuarterSeries } from '../../web/queries/call-store.ts'
import { oneCallAQuarter, seriesOf } from './fixtures/series.ts'

const DAY = 86_400_000
const START = Date.UTC(2026, 0, 5)
const days = (n: number, from = START) => ({ fromMs: from, toMs: from + n * DAY })

function scanUtc(series: QuarterSeries, n: number) {
  return scanTimeline(dayTimeline(series.quarters, days(n), 'UTC'))
}

function find(series: QuarterSeries[], n: number, zone = 'UTC', from = START) {
  return findTimeoutWindows(series, { range: days(n, from), zone })
}

function closeRatio(actual: number | undefined, expected: number, tolerance = 1e-4): void {
  assert.ok(
    actual !== undefined && Math.abs(actual / expected - 1) <= tolerance,
    `${actual} is not ${expected}`,
  )
}

// Known answers, checked apart from this code against scipy 1.17.1.

test('three failing nights at the end of fourteen are emerging', () => {
  const series = seriesOf(
    START,
    14,
    oneCallAQuarter((day, slot) => day >= 11 && (slot === 8 || slot === 9)),
  )
  const { best, pAdjusted } = scanUtc(series, 14)
  assert.equal(best?.start, 8)
  assert.equal(best?.hits, 3)
  closeRatio(best?.p, 9.0422e-6)
  closeRatio(pAdjusted, 0.0069444)
  const [window, ...others] = find([series], 14).windows
  assert.equal(window?.grade, 'emerging')
  assert.deepEqual([window?.fromMinute, window?.toMinute], [120, 150])
  assert.equal(others.length, 0)
})

test('a window over midnight is one window', () => {
  const series = seriesOf(
    START,
    14,
    oneCallAQuarter((_, slot) => slot === 95 || slot === 0),
  )
  const { best } = scanUtc(series, 14)
  assert.equal(best?.hits, 14)
  closeRatio(best?.p, 2.9015e-24)
  const [window, ...others] = find([series], 14).windows
  assert.deepEqual([window?.fromMinute, window?.toMinute], [1425, 15])
  assert.equal(others.length, 0)
})

test('a window of most nights is found among scattered failures', () => {
  const series = seriesOf(
    START,
    14,
    oneCallAQuarter(
      (day, slot) =>
        ((slot === 8 || slot === 9) && day !== 4 && day !== 9) || slot === (37 * day + 50) % 96,
    ),
  )
  const [window, ...others] = find([series], 14).windows
  assert.deepEqual([window?.fromMinute, window?.toMinute], [120, 150])
  assert.deepEqual([window?.hits, window?.atRisk], [12, 14])
  assert.ok((window?.pAdjusted ?? 1) < 1e-12)
  assert.equal(window?.grade, 'confirmed')
  assert.equal(others.length, 0)
})

test('one long outage, failures scattered one a day, and busy hours are no windows', () => {
  const outage = seriesOf(
    START,
    14,
    oneCallAQuarter((day, slot) => day === 6 && slot >= 30 && slot < 50),
  )
  const scattered = seriesOf(
    START,
    14,
    oneCallAQuarter((day, slot) => slot === (37 * day + 50) % 96),
  )
  let call = 0
  const busy = seriesOf(START, 14, (_, slot) => {
    const calls = slot >= 36 && slot < 72 ? 20 : 1
    let failures = 0
    for (let i = 0; i < calls; i++) if (++call % 53 === 0) failures++
    return { calls, failures }
  })
  for (const series of [outage, scattered, busy]) assert.deepEqual(find([series], 14).windows, [])
  assert.deepEqual(find([outage, scattered, busy], 14).windows, [])
})

const BERLIN = 'Europe/Berlin'
// 28 local days with the change to summer time on 2026-03-29 in the middle.
const SPRING = { fromMs: Date.UTC(2026, 2, 14, 23), toMs: Date.UTC(2026, 3, 11, 22) }
function springSeries(fails: (ms: number) => boolean): QuarterSeries {
  const first = SPRING.fromMs / 900_000
  const quarters = Array.from({ length: (SPRING.toMs - SPRING.fromMs) / 900_000 }, (_, i) => ({
    quarter: first + i,
    calls: 1,
    failures: fails((first + i) * 900_000) ? 1 : 0,
  }))
  return { server: 'demo', tool: 'rates', class: 'timeout', quarters }
}
const p = (series: QuarterSeries, zone: string) =>
  scanTimeline(dayTimeline(series.quarters, SPRING, zone)).best?.p

test('failures pinned to UTC are told from failures pinned to local time by a change of clocks', () => {
  const utc = springSeries((ms) => (ms / 900_000) % 96 === 8 || (ms / 900_000) % 96 === 9)
  closeRatio(p(utc, 'UTC'), 1.3e-47, 0.05)
  closeRatio(p(utc, BERLIN), 2.0e-34, 0.05)
  const [window] = findTimeoutWindows([utc], { range: SPRING, zone: BERLIN }).windows
  assert.equal(window?.zone, 'UTC')
  assert.deepEqual([window?.fromMinute, window?.toMinute], [120, 150])
  assert.equal(window?.fixedIn.kind === 'zone' && window.fixedIn.zone, 'UTC')
})

test('failures pinned to local time stay there over the change of clocks', () => {
  const change = Date.UTC(2026, 2, 29, 1)
  const local = springSeries((ms) => {
    const slot = (ms / 900_000 + (ms < change ? 4 : 8)) % 96
    return slot === 12 || slot === 13
  })
  closeRatio(p(local, BERLIN), 8.8e-48, 0.05)
  closeRatio(p(local, 'UTC'), 3.1e-34, 0.05)
  const [window] = findTimeoutWindows([local], { range: SPRING, zone: BERLIN }).windows
  assert.equal(window?.zone, BERLIN)
  assert.deepEqual([window?.fromMinute, window?.toMinute], [180, 210])
  assert.equal(window?.fixedIn.kind === 'zone' && window.fixedIn.zone, BERLIN)
  assert.deepEqual([window?.hits, window?.atRisk], [28, 28])
})

test('without a change of clocks the zone stays open until the next one', () => {
  const series = seriesOf(
    START,
    14,
    oneCallAQuarter((_, slot) => slot === 8),
  )
  const [window] = find([series], 14, BERLIN).windows
  assert.deepEqual([window?.fromMinute, window?.toMinute], [180, 195])
  assert.deepEqual(window?.fixedIn, {
    kind: 'unknown',
    zones: [BERLIN, 'UTC'],
    untilMs: Date.UTC(2026, 2, 29, 1),
  })
})

test('a weekly window is found in the week frame or by its weekdays, and called by its day', () => {
  // Sundays 04:00 to 06:00 UTC: day 6, 13 … of a range that begins on a Monday.
  const series = seriesOf(
    START,
    28,
    oneCallAQuarter((day, slot) => day % 7 === 6 && slot >= 16 && slot < 24),
  )
  const [window, ...others] = find([series], 28).windows
  assert.deepEqual(window?.weekdays, [7])
  assert.deepEqual([window?.fromMinute, window?.toMinute], [240, 360])
  assert.deepEqual([window?.hits, window?.atRisk], [4, 4])
  assert.equal(window?.grade, 'likely')
  assert.equal(others.length, 0)
})

test('a window that has not been seen for a while is fading', () => {
  const series = seriesOf(
    START,
    28,
    oneCallAQuarter((day, slot) => day < 20 && slot === 8),
  )
  assert.equal(find([series], 28).windows[0]?.grade, 'fading')
})

test('two windows of one tool are both found', () => {
  const series = seriesOf(
    START,
    28,
    oneCallAQuarter((_, slot) => slot === 8 || slot === 60 || slot === 61),
  )
  const { windows } = find([series], 28)
  assert.deepEqual(windows.map(({ fromMinute, toMinute }) => [fromMinute, toMinute]).sort(), [
    [120, 135],
    [900, 930],
  ])
  assert.equal(new Set(windows.map(({ id }) => id)).size, 2)
})

test('too few failing days and too short a history are not tested, and counted', () => {
  const twoDays = seriesOf(
    START,
    14,
    oneCallAQuarter((day, slot) => day < 2 && slot === 8),
  )
  const young = seriesOf(
    START + 9 * DAY,
    5,
    oneCallAQuarter((_, slot) => slot === 8),
  )
  const tested = seriesOf(
    START,
    14,
    oneCallAQuarter((day, slot) => slot === (29 * day) % 96),
  )
  const scan = find([twoDays, young, tested], 14)
  assert.deepEqual(
    [scan.windows.length, scan.seriesTooFew, scan.seriesTooYoung, scan.seriesTested],
    [0, 1, 1, 1],
  )
})

test('the next occurrence is the next local start, over a change of clocks too', () => {
  const nightly = { zone: BERLIN, weekdays: [], fromMinute: 120 }
  assert.equal(nextOccurrence(nightly, Date.UTC(2026, 2, 27, 12)), Date.UTC(2026, 2, 28, 1))
  // On the 29th 02:00 is skipped: the window begins where the clocks land.
  assert.equal(nextOccurrence(nightly, Date.UTC(2026, 2, 28, 12)), Date.UTC(2026, 2, 29, 1))
  assert.equal(nextOccurrence(nightly, Date.UTC(2026, 2, 29, 12)), Date.UTC(2026, 2, 30, 0))
  const sundays = { zone: 'UTC', weekdays: [7], fromMinute: 240 }
  assert.equal(nextOccurrence(sundays, Date.UTC(2026, 2, 22, 4)), Date.UTC(2026, 2, 29, 4))
})
