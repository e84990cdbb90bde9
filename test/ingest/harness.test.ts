import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runHarness } from './harness/run-harness.ts'

const RUNS = 200

test('in 200 random stories of a log and its reader nothing is lost, doubled or garbled', async () => {
  let lines = 0
  let mayBeLost = 0
  for (let seed = 1; seed <= RUNS; seed += 1) {
    const result = await runHarness(seed)
    const { kind, banner, actions, faults } = result
    assert.deepEqual(
      faults,
      [],
      `seed ${seed} (${kind}, ${banner ? 'equal' : 'own'} heads): ${actions.join(' ')}`,
    )
    lines += result.lines
    mayBeLost += result.mayBeLost
  }
  // Enough was at stake for this to mean something.
  assert.ok(lines > 5000, `${lines} lines`)
  assert.ok(mayBeLost < lines / 5, `${mayBeLost} of ${lines} lines were destroyed unread`)
})
