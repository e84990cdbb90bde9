/**
 * A log histogram of durations: 16 bins an octave of microseconds, so that counts of two ranges add
 * up and a percentile is off by at most 2.2 %. Bin 0 is 0 µs; bin b ≥ 1 holds the durations d with
 * 2^((b−1)/16) ≤ d < 2^(b/16). Low bins are narrower than a microsecond and stay empty.
 */
export const BINS_PER_OCTAVE = 16

export function binOf(durationUs: number): number {
  if (!(durationUs >= 1)) return 0
  return 1 + Math.floor(Math.log2(durationUs) * BINS_PER_OCTAVE + ROUNDING)
}

/** The geometric midpoint of a bin, in microseconds. */
export function valueOfBin(bin: number): number {
  return bin <= 0 ? 0 : 2 ** ((bin - 0.5) / BINS_PER_OCTAVE)
}

/** Keeps powers of two, where log2 may fall short by one ulp, at the lower edge of their bin. */
const ROUNDING = 1e-9
