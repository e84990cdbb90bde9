import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyShifts, resultFindings } from '../../web/analysis/result-findings.ts'
import type { ResultDay } from '../../web/queries/call-store.ts'
import { defaultFilter, parseFilter } from '../../web/queries/filter.ts'
import { storeOf, type TestCall } from './fixtures/build-database.ts'

const LAST_DAY = 20_500
const DAY = 86_400_000

/** Twenty days of 30 calls; so many empty on each of the last three, and before. */
function days(recent: [number, number, number], earlier: number): ResultDay[] {
  return Array.from({ length: 20 }, (_, i) => ({
    server: 'demo',
    tool: 'search',
    day: LAST_DAY - 19 + i,
    calls: 30,
    empty: i >= 17 ? (recent[i - 17] ?? 0) : earlier,
    suspect: 0,
  }))
}

test('a tool that becomes empty is told apart from one that is empty by nature', () => {
  const [shift] = emptyShifts(days([9, 8, 10], 1), LAST_DAY)
  assert.deepEqual(shift?.recent, { calls: 90, empty: 27 })
  assert.deepEqual(shift?.earlier, { calls: 510, empty: 17 })
  assert.ok((shift?.p ?? 1) < 1e-6)
  assert.deepEqual(emptyShifts(days([9, 8, 10], 9), LAST_DAY), [])
})

test('one day alone, or too little before it, is no shift', () => {
  assert.deepEqual(emptyShifts(days([20, 1, 1], 1), LAST_DAY), [])
  assert.deepEqual(emptyShifts(days([9, 8, 10], 1).slice(-6), LAST_DAY), [])
})

test('errors told as successes are a finding with exactly its calls', (t) => {
  const now = (LAST_DAY + 1) * DAY - 1
  const context = { nowMs: now, defaultZone: 'UTC' }
  const call = (session: string, parts: Partial<TestCall>): TestCall => ({
    startedMs: now - 3_600_000,
    session,
    ...parts,
  })
  const store = storeOf(t, [
    call('a', { flags: ['suspect'] }),
    call('b', { flags: ['suspect'] }),
    // Promoted to a failure by the wrapper: no longer hidden.
    call('b', { flags: ['suspect'], class: 'tool_error' }),
    call('c', {}),
  ])
  const [finding, ...others] = resultFindings(store, defaultFilter(context), now)
  assert.equal(others.length, 0)
  assert.equal(
    finding?.sentence,
    '`search` tells errors as if they were results: 2 calls in 2 sessions look like failures and count as successes.',
  )
  assert.equal(finding?.grade, 'likely')
  const parsed = parseFilter(new URLSearchParams(finding?.evidenceQuery), context)
  assert.ok(parsed.ok)
  assert.equal(store.calls(parsed.filter, { limit: 1 }).total, 2)
})
