import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  benjaminiHochberg,
  binomialTail,
  circularMean,
  hitThreshold,
  hypergeometricTail,
  kulldorffLogRatio,
  poissonBinomialTail,
  riskRatio,
  wilsonInterval,
} from '../../web/analysis/statistics.ts'

// Known answers: computed apart from this code and checked against scipy 1.17.1.

function close(actual: number | undefined, expected: number, tolerance = 5e-8): void {
  assert.ok(
    actual !== undefined && Math.abs(actual - expected) <= tolerance,
    `${actual} is not ${expected} ± ${tolerance}`,
  )
}

function closeRatio(actual: number, expected: number, tolerance = 1e-6): void {
  assert.ok(Math.abs(actual / expected - 1) <= tolerance, `${actual} is not ${expected}`)
}

test('hypergeometric tails have their known values', () => {
  close(hypergeometricTail(100, 5, 10, 1), 0.4162476)
  close(hypergeometricTail(96, 3, 2, 1), 0.0618421)
  close(hypergeometricTail(500, 10, 20, 2), 0.0564521)
})

test('the Poisson binomial tail has its known values', () => {
  closeRatio(poissonBinomialTail(new Array(14).fill(0.05), 10), 8.116523e-11)
  close(poissonBinomialTail([0.1, 0.2, 0.3], 2), 0.098, 1e-12)
  assert.equal(poissonBinomialTail([0.5], 0), 1)
  assert.equal(poissonBinomialTail([0.5], 2), 0)
})

test('Benjamini-Hochberg keeps the order of the tests', () => {
  for (const [i, q] of benjaminiHochberg([0.01, 0.04, 0.03, 0.005]).entries()) {
    close(q, [0.02, 0.04, 0.04, 0.02][i] ?? Number.NaN, 1e-12)
  }
  assert.deepEqual(benjaminiHochberg([]), [])
})

test("Wilson's interval has its known values and exact ends", () => {
  close(wilsonInterval(15, 50)?.low, 0.19104, 5e-6)
  close(wilsonInterval(15, 50)?.high, 0.4375, 5e-6)
  assert.equal(wilsonInterval(0, 10)?.low, 0)
  close(wilsonInterval(0, 10)?.high, 0.27753, 5e-6)
  assert.equal(wilsonInterval(3, 3)?.high, 1)
  assert.equal(wilsonInterval(0, 0), undefined)
})

test('the log likelihood ratio of a window has its known value', () => {
  close(kulldorffLogRatio(30, 1000, 15, 50), 27.09183, 5e-6)
  assert.equal(kulldorffLogRatio(30, 1000, 1, 50), 0)
})

test('the mean of 23:30 and 00:30 is midnight', () => {
  const mean = circularMean([1410, 30])
  assert.equal(mean?.minute, 0)
  close(mean?.concentration, 0.99144, 5e-6)
  assert.equal(circularMean([]), undefined)
})

test('the jackknifed risk ratio has its known value', () => {
  const failuresIn = [8, 7, 9, 0, 8, 6, 9]
  const failuresOut = [1, 0, 2, 1, 1, 0, 1]
  const found = riskRatio(
    failuresIn.map((hits, i) => ({
      callsIn: 10,
      failuresIn: hits,
      callsOut: 90,
      failuresOut: failuresOut[i] ?? 0,
    })),
  )
  close(found?.ratio, 64.95, 0.005)
  close(found?.standardErrorOfLog, 0.2906, 0.00005)
  close(found?.low, 36.74, 0.005)
  close(found?.high, 114.8, 0.005)
  assert.equal(riskRatio([]), undefined)
})

test('the threshold is the least count that chance reaches in at most one of ten windows', () => {
  for (const [total, failed, drawn] of [
    [96, 2, 1],
    [96, 2, 6],
    [96, 30, 8],
    [10, 5, 1],
    [5000, 900, 400],
    [40, 40, 3],
    [3, 1, 3],
  ] as const) {
    const { count, tail } = hitThreshold(total, failed, drawn, 0.1)
    close(tail, hypergeometricTail(total, failed, drawn, count), 1e-12)
    assert.ok(tail <= 0.1)
    assert.ok(count === 1 || hypergeometricTail(total, failed, drawn, count - 1) > 0.1)
  }
})

test('a threshold that cannot be reached has no chance of being hit', () => {
  assert.deepEqual(hitThreshold(10, 5, 1, 0.1), { count: 2, tail: 0 })
})

test('the binomial tail agrees with the sum of its terms', () => {
  close(binomialTail(10, 0.5, 8), 56 / 1024, 1e-12)
  assert.equal(binomialTail(10, 0.5, 0), 1)
  assert.equal(binomialTail(10, 0, 1), 0)
  close(binomialTail(5, 0.1, 3), 0.00856, 1e-12)
})
