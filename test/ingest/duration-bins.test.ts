import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { binOf, valueOfBin } from '../../ingest/store/duration-bins.ts'

test('bins have known edges', () => {
  for (const [us, bin] of [
    [0, 0],
    [1, 1],
    [2, 17],
    [4, 33],
    [1000, 160],
    [1024, 161],
    [1_000_000, 319],
    [3_600_000_000, 508],
  ] as const) {
    assert.equal(binOf(us), bin, `${us} µs`)
  }
})

test('a bin stands for its durations within 2.2 %', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 45 }), (us) => {
      assert.ok(Math.abs(valueOfBin(binOf(us)) / us - 1) < 0.0221)
    }),
  )
})

test('longer durations never have a lower bin', () => {
  fc.assert(
    fc.property(fc.nat(2 ** 40), fc.nat(2 ** 20), (us, more) => {
      assert.ok(binOf(us) <= binOf(us + more))
    }),
  )
})

test('nonsense is bin 0', () => {
  for (const us of [-1, Number.NaN, 0.5]) assert.equal(binOf(us), 0)
  assert.equal(valueOfBin(0), 0)
})
