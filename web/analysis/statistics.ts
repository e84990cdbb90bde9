import type { Interval } from '../queries/call-store.ts'

/** Standard normal quantile for two-sided 95 %. */
const Z_95 = 1.959963984540054

/** Wilson's 95 % interval for `hits` of `n`; undefined where n is 0. */
export function wilsonInterval(hits: number, n: number): Interval | undefined {
  if (n <= 0) return undefined
  const rate = hits / n
  const spread = Z_95 ** 2 / n
  const centre = rate + spread / 2
  const half = Z_95 * Math.sqrt((rate * (1 - rate)) / n + spread / (4 * n))
  return {
    // The ends are exact where nothing or everything was a hit; rounding must not say otherwise.
    low: hits === 0 ? 0 : Math.max(0, (centre - half) / (1 + spread)),
    high: hits === n ? 1 : Math.min(1, (centre + half) / (1 + spread)),
  }
}
