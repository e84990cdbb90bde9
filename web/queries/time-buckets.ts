import { QUARTER_MS } from '../../ingest/store/schema.ts'
import { DAY_MS, offsetSpans, quarterOf } from './time-zones.ts'

/** Sizes of a chart's buckets, in quarters. Above an hour they follow the local day. */
const BUCKET_QUARTERS = [1, 4, 12, 24, 96, 7 * 96] as const

/** The finest size that gives no more bars than this. */
const MAX_BUCKETS = 120

/** Days are counted from Thursday 1970-01-01; weeks begin on Monday. */
const MONDAY_OFFSET_QUARTERS = 3 * 96

/** A bucket's usual length; days and weeks with a change of clocks in them are shorter or longer. */
export function chooseBucketMs(fromMs: number, toMs: number): number {
  const quarters = (toMs - fromMs) / QUARTER_MS
  const size = BUCKET_QUARTERS.find((candidate) => quarters / candidate <= MAX_BUCKETS)
  return (size ?? 7 * 96) * QUARTER_MS
}

/**
 * Starts of the local buckets in a range, and its end: n + 1 edges for n buckets. The first and the
 * last bucket may be cut short by the range.
 */
export function bucketEdges(
  zone: string,
  fromMs: number,
  toMs: number,
  bucketMs: number,
): number[] {
  const size = bucketMs / QUARTER_MS
  const shift = size > 96 ? MONDAY_OFFSET_QUARTERS : 0
  const edges: number[] = []
  let latest = Number.NEGATIVE_INFINITY
  for (const [i, span] of offsetSpans(zone, quarterOf(fromMs), quarterOf(toMs)).entries()) {
    // An hour that the clocks repeat is a bucket of its own; a day is not cut in two by it.
    const hoursMayRepeat = i > 0 && size <= 4
    for (let quarter = span.fromQuarter; quarter < span.toQuarter; quarter++) {
      const wall = quarter + span.offsetQuarters + shift
      const index = Math.floor(wall / size)
      if (index > latest || (hoursMayRepeat && wall % size === 0)) edges.push(quarter * QUARTER_MS)
      latest = Math.max(latest, index)
    }
  }
  edges.push(toMs)
  return edges
}

/** Instants at which a local day begins, within [fromMs, toMs). */
export function localDayStarts(zone: string, fromMs: number, toMs: number): number[] {
  const edges = bucketEdges(zone, fromMs - DAY_MS, toMs, DAY_MS)
  // The first edge is where the search began, not a midnight.
  return edges.slice(1, -1).filter((edge) => edge >= fromMs)
}
