import { offsetSpans, quarterOf } from '../queries/time-zones.ts'

/**
 * Calls and failures along one continuous wall-clock timeline, cut into equal slots. A frame folds
 * it into units: days of 96 quarters, or weeks of 168 hours. The timeline begins where a unit
 * begins, before the data if need be, and ends where the data end.
 */
export type Timeline = {
  frame: Frame
  zone: string
  /** Wall quarter (see time-zones.ts) of slot 0. */
  firstWallQuarter: number
  /** First slot that the data cover. */
  startSlot: number
  /** Exclusive. */
  endSlot: number
  calls: Float64Array
  failures: Float64Array
}

export type FrameName = 'day' | 'week'

export type Frame = {
  name: FrameName
  slotsPerUnit: number
  quartersPerSlot: number
  /** Lengths of the windows that are tried, in slots. */
  lengths: readonly number[]
  /** A window never grows beyond this. */
  maxLength: number
}

export const FRAMES: Record<FrameName, Frame> = {
  day: {
    name: 'day',
    slotsPerUnit: 96,
    quartersPerSlot: 1,
    lengths: [1, 2, 3, 4, 6, 8, 12, 16],
    maxLength: 24,
  },
  week: {
    name: 'week',
    slotsPerUnit: 168,
    quartersPerSlot: 4,
    lengths: [1, 2, 3, 4, 6, 8],
    maxLength: 8,
  },
}

/** Windows tried in a frame: what the smallest p is multiplied with. */
export function windowsTried(frame: Frame): number {
  return frame.slotsPerUnit * frame.lengths.length
}

export type QuarterCounts = readonly { quarter: number; calls: number; failures: number }[]

/**
 * Days from midnight to midnight. An hour that the clocks repeat falls into the same slots twice,
 * and one that they skip has no calls.
 */
export function dayTimeline(
  counts: QuarterCounts,
  range: { fromMs: number; toMs: number },
  zone: string,
): Timeline {
  const spans = offsetSpans(zone, quarterOf(range.fromMs), quarterOf(range.toMs))
  const [first, last] = [spans[0], spans.at(-1)]
  if (!first || !last) throw new RangeError('a timeline needs a range of at least one quarter')
  const fromWall = first.fromQuarter + first.offsetQuarters
  const firstWallQuarter = Math.floor(fromWall / 96) * 96
  const endSlot = last.toQuarter + last.offsetQuarters - firstWallQuarter
  const timeline: Timeline = {
    frame: FRAMES.day,
    zone,
    firstWallQuarter,
    startSlot: fromWall - firstWallQuarter,
    endSlot,
    calls: new Float64Array(endSlot),
    failures: new Float64Array(endSlot),
  }
  let i = 0
  for (const count of counts) {
    while (i < spans.length - 1 && count.quarter >= (spans[i]?.toQuarter ?? 0)) i++
    const span = spans[i]
    if (!span || count.quarter < span.fromQuarter || count.quarter >= span.toQuarter) continue
    const slot = count.quarter + span.offsetQuarters - firstWallQuarter
    timeline.calls[slot] = (timeline.calls[slot] ?? 0) + count.calls
    timeline.failures[slot] = (timeline.failures[slot] ?? 0) + count.failures
  }
  return timeline
}

/**
 * The same in weeks of hours. A week begins with the first day of the data: a window may run over
 * the end of its unit, so where units begin does not matter. Hours that the data cover only in part
 * are left out.
 */
export function weekTimeline(days: Timeline): Timeline {
  const size = FRAMES.week.quartersPerSlot
  const startSlot = Math.ceil(days.startSlot / size)
  const endSlot = Math.max(startSlot, Math.floor(days.endSlot / size))
  const fold = (quarters: Float64Array) =>
    Float64Array.from({ length: endSlot }, (_, hour) =>
      hour < startSlot ? 0 : quarters.subarray(hour * size, hour * size + size).reduce(plus, 0),
    )
  return {
    ...days,
    frame: FRAMES.week,
    startSlot,
    endSlot,
    calls: fold(days.calls),
    failures: fold(days.failures),
  }
}

const plus = (a: number, b: number) => a + b

/** A window of each unit: `length` slots from slot `start` of the unit on; may run into the next. */
export type SlotWindow = { start: number; length: number }

/** Slots at which the instances of a window begin, of those that lie wholly inside the data. */
export function instanceStarts(timeline: Timeline, window: SlotWindow): number[] {
  const { startSlot, endSlot, frame } = timeline
  const starts: number[] = []
  for (let slot = window.start; slot + window.length <= endSlot; slot += frame.slotsPerUnit) {
    if (slot >= startSlot) starts.push(slot)
  }
  return starts
}

/** The timeline as if nothing had failed inside the window. */
export function withoutFailuresIn(timeline: Timeline, window: SlotWindow): Timeline {
  const failures = timeline.failures.slice()
  const { slotsPerUnit } = timeline.frame
  for (let slot = 0; slot < failures.length; slot++) {
    const inUnit = (((slot - window.start) % slotsPerUnit) + slotsPerUnit) % slotsPerUnit
    if (inUnit < window.length) failures[slot] = 0
  }
  return { ...timeline, failures }
}

/** sums[i]: of the slots before i. */
export function prefixSums(values: Float64Array): Float64Array {
  const sums = new Float64Array(values.length + 1)
  let total = 0
  for (let i = 0; i < values.length; i++) {
    total += values[i] ?? 0
    sums[i + 1] = total
  }
  return sums
}
