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
 * raises the bar on its own, and busy hours are no evidence by themselves.
 */

/** A day is hit where chance would put so many failures into the window at most this often. */
const HIT_ALPHA = 0.1
const MIN_HITS = 3

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
      if (judge.failingUnits({ start, length }) < MIN_HITS) continue
      const found = judge.evaluate({ start, length })
      if (found.hits < MIN_HITS || (best && found.p > best.p)) continue
      const ratio = judge.logRatio(found)
      if (best && found.p === best.p && ratio <= bestRatio) continue
      best = found
      bestRatio = ratio
    }
  }
  return { best, pAdjusted: best ? Math.min(1, windowsTried(timeline.frame) * best.p) : 1 }
}

export type Judge = {
  /** Units in which anything failed inside the window: a cheap bound on its hits. */
  failingUnits(window: SlotWindow): number
  evaluate(window: SlotWindow): ScannedWindow
  logRatio(window: ScannedWindow): number
}

export function createJudge(timeline: Timeline): Judge {
  const calls = prefixSums(timeline.calls)
  const failures = prefixSums(timeline.failures)
  const { slotsPerUnit } = timeline.frame
  const within = (sums: Float64Array, from: number, to: number) =>
    (sums[to] ?? 0) - (sums[from] ?? 0)
  const threshold = createThresholds()

  function judgeInstance(slot: number, length: number): Instance | undefined {
    const callsIn = within(calls, slot, slot + length)
    if (callsIn === 0) return undefined
    const failuresIn = within(failures, slot, slot + length)
    // The unit's length of time around the instance, moved inside the timeline at its ends.
    const centred = slot - Math.floor((slotsPerUnit - length) / 2)
    const from = Math.max(0, Math.min(centred, timeline.endSlot - slotsPerUnit))
    const to = Math.min(from + slotsPerUnit, timeline.endSlot)
    const callsAround = within(calls, from, to)
    const failuresAround = within(failures, from, to)
    if (failuresAround === 0) {
      return { slot, calls: callsIn, failures: 0, hit: false, chance: 0 }
    }
    const { count, tail } = threshold(callsAround, failuresAround, callsIn)
    return {
      slot,
      calls: callsIn,
      failures: failuresIn,
      hit: failuresIn >= count,
      // The second term: the chance that one single burst landed here.
      chance: Math.max(tail, Math.min(0.5, callsIn / callsAround)),
    }
  }

  return {
    failingUnits: ({ start, length }) => {
      let units = 0
      for (let slot = start; slot + length <= timeline.endSlot; slot += slotsPerUnit) {
        if (slot >= timeline.startSlot && within(failures, slot, slot + length) > 0) units++
      }
      return units
    },
    evaluate: (window) => {
      const instances = instanceStarts(timeline, window).flatMap(
        (slot) => judgeInstance(slot, window.length) ?? [],
      )
      const hits = instances.filter(({ hit }) => hit).length
      const p = poissonBinomialTail(
        instances.map(({ chance }) => chance),
        hits,
      )
      return { start: window.start, length: window.length, instances, hits, p }
    },
    logRatio: ({ instances }) => {
      const callsIn = instances.reduce((total, instance) => total + instance.calls, 0)
      const failuresIn = instances.reduce((total, instance) => total + instance.failures, 0)
      return kulldorffLogRatio(
        within(failures, 0, timeline.endSlot),
        within(calls, 0, timeline.endSlot),
        failuresIn,
        callsIn,
      )
    },
  }
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
