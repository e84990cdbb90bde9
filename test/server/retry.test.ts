import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Classification } from '../../server/wrapper/classify.ts'
import {
  createRetryPolicy,
  type RetryOptions,
  type RetryPolicy,
  type RetryRun,
} from '../../server/wrapper/retry.ts'

/** A clock that only moves when somebody sleeps on it or pushes it. */
function fakeClock() {
  const clock = {
    ms: 1_000,
    slept: [] as number[],
    now: () => clock.ms,
    random: () => 0.5,
    async sleep(ms: number, signal?: AbortSignal) {
      if (signal?.aborted) throw signal.reason
      clock.slept.push(ms)
      clock.ms += ms
      if (signal?.aborted) throw signal.reason
    },
  }
  return clock
}

const timeout: Classification = { class: 'timeout', transient: true, code: 'ETIMEDOUT' }
const broken: Classification = { class: 'unexpected', transient: false }

function policyWith(options: RetryOptions = {}, clock = fakeClock()) {
  const policy = createRetryPolicy(options, clock)
  return { clock, run: async (work: RetryRun<string>) => policy.run(work, (result) => result) }
}

/** Fails so many times, each attempt taking 30 ms, then gives 'done'. */
function failing(clock: { ms: number }, times: number, more: Partial<RetryRun<string>> = {}) {
  let failures = 0
  return {
    attempt: async () => {
      clock.ms += 30
      if (failures++ < times) throw new Error(`failure ${failures}`)
      return 'done'
    },
    classify: () => timeout,
    mayRepeat: () => true,
    ...more,
  }
}

test('a call that succeeds at once has one attempt', async () => {
  const { clock, run } = policyWith()
  assert.deepEqual(await run(failing(clock, 0)), {
    ok: true,
    value: 'done',
    attempts: [{ ms: 30 }],
  })
  assert.deepEqual(clock.slept, [])
})

test('a transient failure is repeated, and waiting is kept apart from the handler’s time', async () => {
  const { clock, run } = policyWith()
  assert.deepEqual(await run(failing(clock, 2)), {
    ok: true,
    value: 'done',
    attempts: [
      { ms: 30, class: 'timeout', code: 'ETIMEDOUT' },
      { ms: 30, wait_ms: 100, class: 'timeout', code: 'ETIMEDOUT' },
      { ms: 30, wait_ms: 200 },
    ],
  })
})

test('after three attempts the last failure stands', async () => {
  const { clock, run } = policyWith()
  const result = await run(failing(clock, 9))
  assert.ok(!result.ok)
  assert.equal(result.attempts.length, 3)
  assert.equal((result.error as Error).message, 'failure 3')
  assert.equal(result.suppressed, undefined)
})

test('waits are drawn from the whole range, which doubles up to its cap', async () => {
  const clock = fakeClock()
  clock.random = () => 0.999
  const { run } = policyWith({ attempts: 7, totalMs: 60_000, budgetMinimum: 99 }, clock)
  await run(failing(clock, 9))
  assert.deepEqual(
    clock.slept.map((ms) => Math.round(ms)),
    [200, 400, 799, 1598, 1998, 1998],
  )
  clock.random = () => 0
  clock.slept = []
  await run(failing(clock, 9))
  assert.deepEqual(clock.slept, [0, 0, 0, 0, 0, 0])
})

test('a lasting failure is not repeated', async () => {
  const { clock, run } = policyWith()
  const result = await run(failing(clock, 9, { classify: () => broken }))
  assert.ok(!result.ok)
  assert.equal(result.attempts.length, 1)
  assert.equal(result.suppressed, undefined)
})

test('a tool that must not run twice is not repeated, and the result says so', async () => {
  const { clock, run } = policyWith()
  const result = await run(failing(clock, 9, { mayRepeat: () => false }))
  assert.ok(!result.ok)
  assert.equal(result.attempts.length, 1)
  assert.equal(result.suppressed, 'unsafe')
})

test('where retrying is off, nothing was suppressed', async () => {
  const { clock, run } = policyWith({ attempts: 1 })
  const result = await run(failing(clock, 9, { mayRepeat: () => false }))
  assert.ok(!result.ok)
  assert.equal(result.suppressed, undefined)
})

test('Retry-After is waited for up to its bound, and no longer', async () => {
  const { clock, run } = policyWith()
  const limited = (retryAfterS: number) => () =>
    ({ class: 'rate_limited', transient: true, retryAfterS }) as const
  const waited = await run(failing(clock, 1, { classify: limited(3) }))
  assert.ok(waited.ok)
  assert.ok((clock.slept[0] ?? 0) >= 3_000)
  assert.ok((clock.slept[0] ?? 0) <= 3_200)
  const refused = await run(failing(clock, 1, { classify: limited(60) }))
  assert.ok(!refused.ok)
  assert.equal(refused.suppressed, 'deadline')
  assert.equal(clock.slept.length, 1)
})

test('no attempt starts later than ten seconds after the first', async () => {
  const { clock, run } = policyWith({ attempts: 50, budgetMinimum: 99 })
  const startedAt = clock.ms
  const result = await run(failing(clock, 99))
  assert.ok(!result.ok)
  assert.equal(result.suppressed, 'deadline')
  assert.ok(clock.ms - startedAt <= 10_030)
})

test('no attempt starts at or after the call’s own deadline', async () => {
  const { clock, run } = policyWith()
  const result = await run(failing(clock, 9, { timeLeftMs: () => 100 }))
  assert.ok(!result.ok)
  assert.equal(result.attempts.length, 1)
  assert.equal(result.suppressed, 'deadline')
})

test('the budget keeps an outage from being amplified: a tenth of a minute’s calls', async () => {
  const { clock, run } = policyWith()
  const fail = () => run(failing(clock, 99))
  let retries = 0
  for (let call = 0; call < 100; call++) {
    const result = await fail()
    retries += result.attempts.length - 1
    clock.ms += 1
  }
  assert.equal(retries, 10)
  const last = await fail()
  assert.ok(!last.ok)
  assert.equal(last.suppressed, 'budget')
  clock.ms += 60_001
  const later = await fail()
  assert.equal(later.attempts.length, 3)
})

test('with many calls the budget grows', async () => {
  const { clock, run } = policyWith()
  for (let call = 0; call < 500; call++) await run(failing({ ms: 0 }, 0))
  let retries = 0
  for (let call = 0; call < 100; call++) {
    const work = failing({ ms: 0 }, 99)
    const result = await run(work)
    retries += result.attempts.length - 1
    clock.ms = 1_000
  }
  assert.equal(retries, 60)
})

test('an abort ends the waiting at once', async () => {
  const clock = fakeClock()
  const controller = new AbortController()
  clock.sleep = async (_ms, signal) => {
    controller.abort('user pressed esc')
    throw signal?.reason
  }
  const { run } = policyWith({}, clock)
  const result = await run(
    failing(clock, 9, {
      signal: controller.signal,
      classify: () =>
        controller.signal.aborted ? { class: 'cancelled', transient: false } : timeout,
    }),
  )
  assert.ok(!result.ok)
  assert.equal(result.error, 'user pressed esc')
  assert.equal(result.classification.class, 'cancelled')
  assert.equal(result.attempts.length, 1)
})

test('a handler that throws before its first await is a failed attempt too', async () => {
  const { run } = policyWith()
  const result = await run({
    attempt: () => {
      throw new Error('at once')
    },
    classify: () => broken,
    mayRepeat: () => true,
  })
  assert.ok(!result.ok)
  assert.equal((result.error as Error).message, 'at once')
})

test('wrong options are refused with what to write instead', () => {
  const make = (options: RetryOptions): RetryPolicy => createRetryPolicy(options, fakeClock())
  assert.throws(() => make({ attempts: 0 }), /retry\.attempts.*at least 1/)
  assert.throws(() => make({ attempts: 2.5 }), /retry\.attempts/)
  assert.throws(() => make({ baseMs: -1 }), /retry\.baseMs/)
  assert.throws(() => make({ totalMs: Number.NaN }), /retry\.totalMs/)
})
