import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createSequenceRanges } from '../../ingest/store/sequence-ranges.ts'

test('numbers that follow each other are one range, a hole makes two, filling it one again', () => {
  const ranges = createSequenceRanges([])
  for (const n of [1, 2, 3, 5]) assert.equal(ranges.add(n), true)
  assert.deepEqual(ranges.list(), [
    [1, 3],
    [5, 5],
  ])
  assert.equal(ranges.add(2), false)
  ranges.add(4)
  assert.deepEqual(ranges.list(), [[1, 5]])
})

test('changes say what to delete and what to write', () => {
  const ranges = createSequenceRanges([
    [1, 3],
    [5, 9],
  ])
  ranges.add(4)
  assert.deepEqual(ranges.takeChanges(), { removed: [5], written: [[1, 9]] })
  assert.deepEqual(ranges.takeChanges(), { removed: [], written: [] })
})

test('stored ranges with the changes applied are the ranges of a plain set', () => {
  const numbers = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 40 })
  fc.assert(
    fc.property(fc.array(numbers, { maxLength: 5 }), (batches) => {
      const stored = new Map<number, number>()
      const seen = new Set<number>()
      let ranges = createSequenceRanges([])
      for (const [index, batch] of batches.entries()) {
        for (const n of batch) {
          assert.equal(ranges.has(n), seen.has(n))
          assert.equal(ranges.add(n), !seen.has(n))
          seen.add(n)
        }
        const { removed, written } = ranges.takeChanges()
        for (const first of removed) assert.ok(stored.delete(first))
        for (const [first, last] of written) stored.set(first, last)
        const sorted = [...stored].sort(([a], [b]) => a - b)
        assert.deepEqual(ranges.list(), sorted)
        // Every other batch begins with what was stored, as after a restart.
        if (index % 2 === 1) ranges = createSequenceRanges(sorted)
      }
      const all = ranges
        .list()
        .flatMap(([first, last]) =>
          Array.from({ length: last - first + 1 }, (_, offset) => first + offset),
        )
      assert.deepEqual(
        all,
        [...seen].sort((a, b) => a - b),
      )
    }),
    { numRuns: 300 },
  )
})
