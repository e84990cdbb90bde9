/** Standard normal quantile for two-sided 95 %. */
const Z_95 = 1.959963984540054

export type Interval = { low: number; high: number }

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

/** log n!, summed once and kept; index n. */
const logFactorials = [0]

export function logFactorial(n: number): number {
  for (let i = logFactorials.length; i <= n; i++) {
    logFactorials.push((logFactorials[i - 1] ?? 0) + Math.log(i))
  }
  return logFactorials[n] ?? 0
}

function logChoose(n: number, k: number): number {
  return logFactorial(n) - logFactorial(k) - logFactorial(n - k)
}

/**
 * Of `total` calls `failed` failed; `drawn` of them lie in a window. P(at least `count` of those
 * failed) if failures fall anywhere: the hypergeometric upper tail.
 */
export function hypergeometricTail(
  total: number,
  failed: number,
  drawn: number,
  count: number,
): number {
  const least = Math.max(0, failed + drawn - total)
  if (count <= least) return 1
  return sum(hypergeometricTerms(total, failed, drawn, count))
}

/** P(X = from), P(X = from + 1) … to the end of the support, or to where they no longer matter. */
function hypergeometricTerms(total: number, failed: number, drawn: number, from: number): number[] {
  const most = Math.min(failed, drawn)
  if (from > most) return []
  let term = Math.exp(
    logChoose(failed, from) + logChoose(total - failed, drawn - from) - logChoose(total, drawn),
  )
  const terms: number[] = []
  const peak = ((failed + 1) * (drawn + 1)) / (total + 2)
  for (let x = from; x <= most; x++) {
    terms.push(term)
    if (x > peak && term < 1e-18) break
    term *= ((failed - x) * (drawn - x)) / ((x + 1) * (total - failed - drawn + x + 1))
  }
  return terms
}

/** How many failures in a window are too many for chance, and how likely chance makes them. */
export type HitThreshold = { count: number; tail: number }

/** The least count ≥ 1 whose upper tail is at most `alpha`; its tail is 0 where none can be reached. */
export function hitThreshold(
  total: number,
  failed: number,
  drawn: number,
  alpha: number,
): HitThreshold {
  // Below the peak of the distribution the tail is far above any alpha of ours.
  const least = Math.max(0, failed + drawn - total)
  const peak = Math.floor(((failed + 1) * (drawn + 1)) / (total + 2))
  const from = Math.max(1, least, peak)
  const terms = hypergeometricTerms(total, failed, drawn, from)
  let tail = 0
  for (let i = terms.length - 1; i >= 0; i--) {
    const longer = tail + (terms[i] ?? 0)
    if (longer > alpha) return { count: from + i + 1, tail }
    tail = longer
  }
  return { count: from, tail }
}

/** P(at least `hits` successes) of independent trials with these probabilities; exact. */
export function poissonBinomialTail(probabilities: Iterable<number>, hits: number): number {
  if (hits <= 0) return 1
  // reached[j]: j successes so far; reached[hits] absorbs, so that nothing is ever subtracted.
  const reached = new Float64Array(hits + 1)
  reached[0] = 1
  for (const p of probabilities) {
    reached[hits] = (reached[hits] ?? 0) + (reached[hits - 1] ?? 0) * p
    for (let j = hits - 1; j > 0; j--) {
      reached[j] = (reached[j] ?? 0) * (1 - p) + (reached[j - 1] ?? 0) * p
    }
    reached[0] = (reached[0] ?? 0) * (1 - p)
  }
  return reached[hits] ?? 0
}

/** P(X ≥ k) for a binomial, without subtraction. */
export function binomialTail(n: number, p: number, k: number): number {
  if (k <= 0) return 1
  if (k > n || p <= 0) return 0
  if (p >= 1) return 1
  let term = Math.exp(logChoose(n, k) + k * Math.log(p) + (n - k) * Math.log1p(-p))
  let tail = 0
  for (let x = k; x <= n; x++) {
    tail += term
    if (x > n * p && term < tail * 1e-17) break
    term *= ((n - x) / (x + 1)) * (p / (1 - p))
  }
  return Math.min(1, tail)
}

/** Benjamini–Hochberg: the false discovery rate at which each test is first called, in its order. */
export function benjaminiHochberg(pValues: readonly number[]): number[] {
  const order = pValues.map((p, index) => ({ p, index })).sort((a, b) => b.p - a.p)
  const adjusted = new Array<number>(pValues.length)
  let smallest = 1
  for (const [i, { p, index }] of order.entries()) {
    smallest = Math.min(smallest, (p * pValues.length) / (pValues.length - i))
    adjusted[index] = smallest
  }
  return adjusted
}

/** Calls and failures inside a window and outside, of one day (or week). */
export type UnitCounts = {
  callsIn: number
  failuresIn: number
  callsOut: number
  failuresOut: number
}

export type RiskRatio = { ratio: number; low: number; high: number; standardErrorOfLog: number }

function logRiskRatio(total: UnitCounts): number {
  const inside = (total.failuresIn + 0.5) / (total.callsIn + 1)
  const outside = (total.failuresOut + 0.5) / (total.callsOut + 1)
  return Math.log(inside / outside)
}

/**
 * How much likelier a failure is inside, with the 95 % interval of a jackknife that leaves out one
 * unit at a time: calls of one outage hang together, days do not. Undefined below two units.
 */
export function riskRatio(units: readonly UnitCounts[]): RiskRatio | undefined {
  if (units.length < 2) return undefined
  const total: UnitCounts = {
    callsIn: sum(units.map((unit) => unit.callsIn)),
    failuresIn: sum(units.map((unit) => unit.failuresIn)),
    callsOut: sum(units.map((unit) => unit.callsOut)),
    failuresOut: sum(units.map((unit) => unit.failuresOut)),
  }
  const without = units.map((unit) =>
    logRiskRatio({
      callsIn: total.callsIn - unit.callsIn,
      failuresIn: total.failuresIn - unit.failuresIn,
      callsOut: total.callsOut - unit.callsOut,
      failuresOut: total.failuresOut - unit.failuresOut,
    }),
  )
  const mean = sum(without) / without.length
  const squares = sum(without.map((value) => (value - mean) ** 2))
  const standardErrorOfLog = Math.sqrt(((units.length - 1) / units.length) * squares)
  const log = logRiskRatio(total)
  return {
    ratio: Math.exp(log),
    low: Math.exp(log - Z_95 * standardErrorOfLog),
    high: Math.exp(log + Z_95 * standardErrorOfLog),
    standardErrorOfLog,
  }
}

/**
 * Kulldorff's log likelihood ratio for `failuresIn` of `callsIn` in a window, of `failures` in
 * `calls`; 0 where the window is not the worse part. Ranks windows that chance explains equally ill.
 */
export function kulldorffLogRatio(
  failures: number,
  calls: number,
  failuresIn: number,
  callsIn: number,
): number {
  const failuresOut = failures - failuresIn
  const callsOut = calls - callsIn
  if (failuresIn * callsOut <= failuresOut * callsIn) return 0
  const likelihood = (hits: number, n: number) => xLogXOverN(hits, n) + xLogXOverN(n - hits, n)
  return (
    likelihood(failuresIn, callsIn) +
    likelihood(failuresOut, callsOut) -
    likelihood(failures, calls)
  )
}

function xLogXOverN(x: number, n: number): number {
  return x === 0 ? 0 : x * Math.log(x / n)
}

/** Mean of times on a clock face and how closely they agree (1: all the same, 0: none). */
export function circularMean(
  minutes: readonly number[],
  periodMinutes = 1440,
): { minute: number; concentration: number } | undefined {
  if (minutes.length === 0) return undefined
  const angles = minutes.map((minute) => (2 * Math.PI * minute) / periodMinutes)
  const x = sum(angles.map(Math.cos)) / minutes.length
  const y = sum(angles.map(Math.sin)) / minutes.length
  const turn = Math.atan2(y, x) / (2 * Math.PI)
  // Rounded to a millisecond, so that the mean around midnight is 0 and not almost a day.
  const minute = Math.round((turn + 1) * periodMinutes * 60_000) / 60_000
  return { minute: minute % periodMinutes, concentration: Math.hypot(x, y) }
}

/** Nearest rank; undefined for no values. */
export function quantile(sorted: readonly number[], share: number): number | undefined {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
