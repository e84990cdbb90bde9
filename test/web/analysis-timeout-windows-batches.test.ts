import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findTimeoutWindows } from '../../web/analysis/timeout-windows.ts'
import type { QuarterSeries } from '../../web/queries/call-store.ts'
import { createRandom, poisson, shuffled } from './fixtures/random.ts'
import { oneCallAQuarter, type SlotCounts, seriesOf } from './fixtures/series.ts'

const DAY = 86_400_000
const START = Date.UTC(2026, 0, 5)

function find(series: QuarterSeries[], days: number) {
  return findTimeoutWindows(series, {
    range: { fromMs: START, toMs: START + days * DAY },
    zone: 'UTC',
  })
}

/** About 300 calls a day, most of them around 13:00. */
function volumeOf(slot: number): number {
  return 3 * (1 + Math.cos(((slot - 52) / 96) * 2 * Math.PI)) + 0.2
}

/** Slots of outages that strike in proportion to the calls: each lasts up to `longest` slots. */
function outages(random: () => number, days: number, count: number, longest: number): Set<number> {
  const struck = new Set<number>()
  for (let left = count; left > 0; ) {
    const slot = Math.floor(random() * 96)
    if (random() * 6.2 > volumeOf(slot)) continue
    left--
    const start = Math.floor(random() * days) * 96 + slot
    const length = 1 + Math.floor(random() * longest)
    for (let i = 0; i < length; i++) struck.add(start + i)
  }
  return struck
}

type Null = {
  rate: (slot: number) => number
  outages: number
  longest: number
  /** Callers a day that repeat a failing call three to eight times. */
  loops?: number
}

const NULLS: Record<string, Null> = {
  'failures anywhere': { rate: () => 0.01, outages: 0, longest: 0 },
  'a flaky tool': { rate: () => 0.1, outages: 0, longest: 0 },
  'short outages in busy hours': { rate: () => 0.001, outages: 10, longest: 6 },
  'long outages': { rate: () => 0.001, outages: 3, longest: 20 },
  'callers that repeat failing calls': { rate: () => 0.001, outages: 0, longest: 0, loops: 3 },
  'failures that grow with load': {
    rate: (slot) => 0.003 * volumeOf(slot),
    outages: 0,
    longest: 0,
  },
}

function nullSeries(seed: number, days: number, kind: Null): QuarterSeries {
  const random = createRandom(seed)
  const struck = outages(random, days, kind.outages, kind.longest)
  const repeats = new Map<number, number>()
  for (let left = days * (kind.loops ?? 0); left > 0; ) {
    const slot = Math.floor(random() * days * 96)
    if (random() * 6.2 > volumeOf(slot % 96)) continue
    left--
    repeats.set(slot, (repeats.get(slot) ?? 0) + 3 + Math.floor(random() * 6))
  }
  return seriesOf(START, days, (day, slot): SlotCounts => {
    const calls = poisson(random, volumeOf(slot))
    const repeated = repeats.get(day * 96 + slot) ?? 0
    const rate = struck.has(day * 96 + slot) ? 0.8 : kind.rate(slot)
    let failures = repeated
    for (let i = 0; i < calls; i++) if (random() < rate) failures++
    return { calls: calls + repeated, failures }
  })
}

test('of 200 batches in which nothing recurs at most 6 % are flagged', () => {
  const kinds = Object.values(NULLS)
  let flagged = 0
  for (let seed = 0; seed < 200; seed++) {
    const kind = kinds[seed % kinds.length]
    if (kind && find([nullSeries(seed + 1, 14, kind)], 14).windows.length > 0) flagged++
  }
  assert.ok(flagged <= 12, `${flagged} of 200 were flagged`)
})

test('a nightly window with one call a night is found in 14 days, with its bounds', () => {
  let found = 0
  for (let seed = 0; seed < 20; seed++) {
    const random = createRandom(seed + 5000)
    // 45 minutes from 02:00; 1.2 calls a night inside.
    const series = seriesOf(START, 14, (_, slot) => {
      const inside = slot >= 8 && slot < 11
      const calls = poisson(random, inside ? 0.4 : volumeOf(slot))
      let failures = 0
      for (let i = 0; i < calls; i++) if (random() < (inside ? 0.95 : 0.005)) failures++
      return { calls, failures }
    })
    const [window] = find([series], 14).windows
    const near = (minute = -999, truth: number) => Math.abs(minute - truth) <= 15
    if (near(window?.fromMinute, 120) && near(window?.toMinute, 165)) found++
  }
  assert.ok(found >= 18, `only ${found} of 20`)
})

const planted = oneCallAQuarter(
  (day, slot) => (day % 5 !== 4 && (slot === 8 || slot === 9)) || slot === 40 + ((day * 7) % 30),
)

test('the order of the days does not matter for a window that recurs', () => {
  const order = shuffled(createRandom(1), [...Array(20).keys()])
  const [before] = find([seriesOf(START, 20, planted)], 20).windows
  const moved = seriesOf(START, 20, (day, slot) => planted(order[day] ?? 0, slot))
  const [after] = find([moved], 20).windows
  const facts = (window: typeof before) =>
    window && [window.fromMinute, window.toMinute, window.hits, window.atRisk, window.inside]
  assert.ok(before)
  assert.deepEqual(facts(after), facts(before))
})

test('more successes far from the window do not make it less sure', () => {
  const [before] = find([seriesOf(START, 20, planted)], 20).windows
  const more = seriesOf(START, 20, (day, slot) => {
    const { calls, failures } = planted(day, slot)
    return { calls: slot >= 40 && slot < 70 ? calls * 3 : calls, failures }
  })
  const [after] = find([more], 20).windows
  assert.ok(before && after)
  assert.ok(after.pAdjusted <= before.pAdjusted)
  assert.ok((after.riskRatio?.ratio ?? 0) >= (before.riskRatio?.ratio ?? 0))
})

test('the order of the tools only orders the results', () => {
  const series = ['a', 'b', 'c'].map((tool, i) =>
    seriesOf(
      START,
      14,
      oneCallAQuarter((_, slot) => slot === 10 + 20 * i),
      { tool },
    ),
  )
  const names = (list: QuarterSeries[]) =>
    find(list, 14)
      .windows.map(({ id, q }) => `${id} ${q}`)
      .sort()
  assert.equal(names(series).length, 3)
  assert.deepEqual(names([...series].reverse()), names(series))
})
