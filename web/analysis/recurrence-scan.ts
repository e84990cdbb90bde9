import {
  type HitThreshold,
  hitThreshold,
  kulldorffLogRatio,
  poissonBinomialTail,
} from './statistics.ts'
import {
  instanceStarts,
  prefixSums,
  type SlotWindow,
  type Timeline,
  windowsTried,
} from './timeline.ts'

/**
 * The stratified day-recurrence scan. Its replicate is the day (or week), not the call: calls of
 * one outage hang together, so a window counts how many days it was hit on, and each day is judged
 * against the failures of its own 24 hours (its stratum). One big outage is one day, a flaky tool
 * raises the bar on its own, and busy hours are no evidence by themselves. Failures that come in
 * bursts count as bursts.
 */

/** A day is hit where chance would put so many failures into the window at most this often. */
const HIT_ALPHA = 0.1
const MIN_HITS = 3
/** From this mean burst size on, failures hang together: below, a unit's tail says all there is. */
const BURSTY = 1.5

export type Instance = {
  /** First slot in the timeline. */
  slot: number
  calls: number
  failures: number
  hit: boolean
  /** Probability of a hit if failures fall anywhere in the stratum. */
  chance: number
}

export type ScannedWindow = SlotWindow & {
  /** Units with calls in the window, in order. */
  instances: Instance[]
  hits: number
  /** P(at least so many hits by chance). */
  p: number
}

export type ScanResult = {
  /** The window that chance explains worst; undefined where none was hit on three units. */
  best: ScannedWindow | undefined
  /** min(1, windows tried × p): 1 where there is no window. */
  pAdjusted: number
}

export function scanTimeline(timeline: Timeline): ScanResult {
  const judge = createJudge(timeline)
  let best: ScannedWindow | undefined
  let bestRatio = 0
  for (const length of timeline.frame.lengths) {
    for (let start = 0; start < timeline.frame.slotsPerUnit; start++) {
      const p = judge.quickP({ start, length }, best?.p ?? 1)
      if (p === undefined) continue
      const found = judge.evaluate({ start, length })
      const ratio = judge.logRatio(found)
      if (best && p === best.p && ratio <= bestRatio) continue
      best = found
      bestRatio = ratio
    }
  }
  return { best, pAdjusted: best ? Math.min(1, windowsTried(timeline.frame) * best.p) : 1 }
}

export type Judge = {
  evaluate(window: SlotWindow): ScannedWindow
  /** p of a window with enough hits, if it is not above `limit`; for thousands of windows. */
  quickP(window: SlotWindow, limit: number): number | undefined
  logRatio(window: ScannedWindow): number
}

export function createJudge(timeline: Timeline): Judge {
  const { startSlot, endSlot } = timeline
  const { slotsPerUnit } = timeline.frame
  const calls = prefixSums(timeline.calls)
  const failures = prefixSums(timeline.failures)
  const judgeSlot = createSlotJudge(timeline, calls, failures)
  const chances = new Float64Array(Math.ceil(endSlot / slotsPerUnit) + 1)
  const verdict = { slot: 0, calls: 0, failures: 0, hit: false, chance: 0 }

  function hasEnoughFailingUnits({ start, length }: SlotWindow): boolean {
    let units = 0
    for (let slot = start; slot + length <= endSlot && units < MIN_HITS; slot += slotsPerUnit) {
      if (slot >= startSlot && within(failures, slot, slot + length) > 0) units++
    }
    return units >= MIN_HITS
  }

  return {
    evaluate(window) {
      const instances = instanceStarts(timeline, window).flatMap((slot) =>
        judgeSlot(slot, window.length, verdict) ? [{ ...verdict }] : [],
      )
      const hits = instances.filter(({ hit }) => hit).length
      const p = poissonBinomialTail(
        instances.map(({ chance }) => chance),
        hits,
      )
      return { start: window.start, length: window.length, instances, hits, p }
    },
    quickP(window, limit) {
      if (!hasEnoughFailingUnits(window)) return undefined
      let [units, hits, allHits] = [0, 0, 1]
      const { start, length } = window
      for (let slot = start; slot + length <= endSlot; slot += slotsPerUnit) {
        if (slot < startSlot || !judgeSlot(slot, length, verdict)) continue
        chances[units++] = verdict.chance
        if (!verdict.hit) continue
        hits++
        allHits *= verdict.chance
      }
      // The chance of exactly these hits is part of p: where it is too large, p is as well.
      if (hits < MIN_HITS || allHits > limit) return undefined
      const p = poissonBinomialTail(chances.subarray(0, units), hits)
      return p > limit ? undefined : p
    },
    logRatio({ instances }) {
      const callsIn = instances.reduce((total, instance) => total + instance.calls, 0)
      const failuresIn = instances.reduce((total, instance) => total + instance.failures, 0)
      const [allFailures, allCalls] = [within(failures, 0, endSlot), within(calls, 0, endSlot)]
      return kulldorffLogRatio(allFailures, allCalls, failuresIn, callsIn)
    },
  }
}

function within(sums: Float64Array, from: number, to: number): number {
  return (sums[to] ?? 0) - (sums[from] ?? 0)
}

/** Judges the instance of `length` slots at `slot`; false where it is not at risk. */
type SlotJudge = (slot: number, length: number, verdict: Instance) => boolean

function createSlotJudge(
  timeline: Timeline,
  calls: Float64Array,
  failures: Float64Array,
): SlotJudge {
  const { slotsPerUnit } = timeline.frame
  const threshold = createThresholds()
  const burst = burstSize(timeline)
  const bursts = (n: number) => (n === 0 ? 0 : Math.max(1, Math.round(n / burst)))
  const largeRuns = burst < BURSTY ? () => 1 : createRunCounter(timeline, bursts)
  return (slot, length, verdict) => {
    verdict.slot = slot
    verdict.calls = within(calls, slot, slot + length)
    verdict.failures = within(failures, slot, slot + length)
    verdict.hit = false
    verdict.chance = 0
    if (verdict.calls === 0) return false
    // The unit's length of time around the instance, moved inside the timeline at its ends.
    const centred = slot - Math.floor((slotsPerUnit - length) / 2)
    const from = Math.max(0, Math.min(centred, timeline.endSlot - slotsPerUnit))
    const to = Math.min(from + slotsPerUnit, timeline.endSlot)
    const failuresAround = within(failures, from, to)
    if (failuresAround === 0) return true
    const callsAround = within(calls, from, to)
    const { count, tail } = threshold(callsAround, bursts(failuresAround), verdict.calls)
    verdict.hit = bursts(verdict.failures) >= count
    // The second term: the chance that one of the unit's bursts landed here, and was enough.
    const share = verdict.calls / callsAround
    const runs = largeRuns(count, from, to)
    const landed = runs === 1 ? share : 1 - (1 - share) ** runs
    verdict.chance = Math.max(tail, Math.min(0.5, landed))
    return true
  }
}

/** Thresholds above this are asked for as this: a little too many runs, so a little too careful. */
const MAX_COUNTED = 16

/**
 * Counts the runs of failing slots, begun in [from, to), of which each alone reaches a threshold. One
 * at least, as there was a failure.
 */
function createRunCounter(
  timeline: Timeline,
  bursts: (failures: number) => number,
): (count: number, from: number, to: number) => number {
  const runsFrom = Array.from({ length: MAX_COUNTED + 1 }, () => new Float64Array(timeline.endSlot))
  let [start, failures] = [0, 0]
  for (let slot = 0; slot <= timeline.endSlot; slot++) {
    const failed = timeline.failures[slot] ?? 0
    if (failed > 0 && failures === 0) start = slot
    if (failed === 0 && failures > 0) {
      for (const runs of runsFrom.slice(1, Math.min(bursts(failures), MAX_COUNTED) + 1)) {
        runs[start] = 1
      }
    }
    failures = failed > 0 ? failures + failed : 0
  }
  const sums = runsFrom.map(prefixSums)
  return (count, from, to) => {
    const runs = sums[Math.min(count, MAX_COUNTED)]
    return Math.max(1, (runs?.[to] ?? 0) - (runs?.[from] ?? 0))
  }
}

/**
 * How many failures come together: the variance of a slot's failures, over what it would be if each
 * call failed by itself (the hypergeometric one, within its unit). At least 1, and exactly 1 where
 * slots hold one call. Callers that repeat a failing call make a flaky tool look busy at some hour of
 * almost every day; counted in bursts, they do not.
 */
export function burstSize(timeline: Timeline): number {
  const { slotsPerUnit } = timeline.frame
  let [ratios, slots] = [0, 0]
  for (let from = 0; from < timeline.endSlot; from += slotsPerUnit) {
    const calls = timeline.calls.subarray(from, from + slotsPerUnit)
    const failures = timeline.failures.subarray(from, from + slotsPerUnit)
    const total = calls.reduce((sum, n) => sum + n, 0)
    const share = failures.reduce((sum, n) => sum + n, 0) / total
    if (!(share > 0 && share < 1)) continue
    for (const [i, n] of calls.entries()) {
      const variance = (n * share * (1 - share) * (total - n)) / (total - 1)
      if (variance <= 0) continue
      ratios += ((failures[i] ?? 0) - n * share) ** 2 / variance
      slots++
    }
  }
  return slots === 0 ? 1 : Math.max(1, ratios / slots)
}

/** Most days of a tool look alike: each threshold is computed once. */
function createThresholds(): (total: number, failed: number, drawn: number) => HitThreshold {
  const known = new Map<number, HitThreshold>()
  return (total, failed, drawn) => {
    // Exact as long as the parts fit; beyond that the same number could stand for two questions.
    const fits = total < 2 ** 26 && failed < 2 ** 13 && drawn < 2 ** 13
    const key = (total * 2 ** 13 + failed) * 2 ** 13 + drawn
    const found = fits ? known.get(key) : undefined
    if (found) return found
    const made = hitThreshold(total, failed, drawn, HIT_ALPHA)
    if (fits) known.set(key, made)
    return made
  }
}
