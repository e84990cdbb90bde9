import { valueOfBin } from '../../ingest/store/duration-bins.ts'

/** Calls by duration bin, bins in ascending order. Two histograms add up bin by bin. */
export type Histogram = Map<number, number>

export function addToHistogram(histogram: Histogram, bin: number, calls: number): void {
  histogram.set(bin, (histogram.get(bin) ?? 0) + calls)
}

/**
 * Milliseconds below which `share` of the calls lie (nearest rank), off by at most 2.2 %;
 * undefined for an empty histogram.
 */
export function percentileMs(histogram: Histogram, share: number): number | undefined {
  let total = 0
  for (const calls of histogram.values()) total += calls
  if (total === 0) return undefined
  const rank = Math.max(1, Math.ceil(share * total))
  let seen = 0
  for (const bin of [...histogram.keys()].sort((a, b) => a - b)) {
    seen += histogram.get(bin) ?? 0
    if (seen >= rank) return valueOfBin(bin) / 1000
  }
  return undefined
}
