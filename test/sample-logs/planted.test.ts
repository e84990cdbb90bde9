import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HALLUCINATED, STRING_NUMBER, WRONG_NAME } from '../../sample-logs/planted.ts'
import { SMALL_SAMPLE } from '../../sample-logs/small-sample.ts'
import {
  bySession,
  type CallLine,
  callsIn,
  countBy,
  linesOf,
  readLogFiles,
  smallFolder,
} from './read-logs.ts'

const lines = linesOf(readLogFiles(smallFolder))
const calls = callsIn(lines)
const sessions = bySession(calls)

/** Not the generator's own arithmetic: Intl, asked for each call. */
const berlin = new Intl.DateTimeFormat('sv-SE', {
  timeZone: 'Europe/Berlin',
  dateStyle: 'short',
  timeStyle: 'short',
})

function inBerlin(ms: number): { date: string; time: string } {
  const [date = '', time = ''] = berlin.format(ms).split(' ')
  return { date, time }
}

test('outcomes and classes are as many as the README says', () => {
  assert.equal(calls.length, SMALL_SAMPLE.calls)
  assert.equal(sessions.length, SMALL_SAMPLE.sessions)
  assert.deepEqual(
    countBy(calls, ({ outcome }) => outcome),
    SMALL_SAMPLE.byOutcome,
  )
  assert.deepEqual(
    countBy(calls, ({ error }) => error?.class),
    SMALL_SAMPLE.byClass,
  )
})

test('get_exchange_rate times out from 02:00 to 02:20 in Berlin on most nights, and rarely else', () => {
  const rates = calls.filter(({ tool }) => tool === 'get_exchange_rate')
  const nights = new Map<string, CallLine[]>()
  for (const call of rates) {
    const { date, time } = inBerlin(call.started)
    if (time >= '02:00' && time < '02:20') nights.set(date, [...(nights.get(date) ?? []), call])
  }
  const failed = (night: CallLine[]) => night.filter(({ error }) => error?.class === 'timeout')
  const { nightly } = SMALL_SAMPLE
  assert.equal(nights.size, nightly.windows)
  assert.ok(!nights.has('2026-03-29'))
  const spared = [...nights].filter(([, night]) => failed(night).length === 0).map(([date]) => date)
  assert.deepEqual(spared, nightly.spared)
  const inWindow = [...nights.values()].flat()
  assert.equal(inWindow.length, nightly.calls)
  assert.equal(failed(inWindow).length, nightly.failures)
  const outside = failed(rates).length - nightly.failures
  assert.ok(outside <= 2, `${outside} time-outs at other times`)
})

test('on the night when clocks skip an hour the scheduler goes on calling', () => {
  const night = calls.filter(
    ({ tool, started }) =>
      tool === 'get_exchange_rate' &&
      started >= Date.UTC(2026, 2, 29, 0, 30) &&
      started < Date.UTC(2026, 2, 29, 2),
  )
  assert.deepEqual(
    night.map(({ started }) => inBerlin(started).time),
    ['01:30', '01:45', '03:00', '03:15', '03:30', '03:45'],
  )
  assert.ok(night.every(({ outcome }) => outcome !== 'failed'))
})

test('reindex_collection is refused on each Sunday from 04:00 to 05:00 UTC', () => {
  const sundays = calls.filter(({ tool, started }) => {
    const at = new Date(started)
    return tool === 'reindex_collection' && at.getUTCDay() === 0 && at.getUTCHours() === 4
  })
  assert.equal(sundays.length, SMALL_SAMPLE.weekly.calls)
  for (const { error, attempts } of sundays) {
    assert.equal(error?.class, 'connection')
    assert.equal(error?.code, 'ECONNREFUSED')
    assert.equal(attempts.length, 3)
    assert.ok(attempts[1]?.reconnected)
  }
})

test('search_documents gets pattern for query, and most sessions correct it on the next try', () => {
  const isWrong = (call: CallLine) =>
    call.issues?.some(({ code, path }) => code === 'unknown_key' && path === WRONG_NAME.sent)
  const wrong = calls.filter(isWrong)
  assert.equal(wrong.length, SMALL_SAMPLE.byPlant.wrong_name)
  for (const { tool, args, issues } of wrong) {
    assert.equal(tool, WRONG_NAME.tool)
    assert.ok(WRONG_NAME.sent in (args as object) && !(WRONG_NAME.wanted in (args as object)))
    assert.deepEqual(issues, [
      { path: 'query', code: 'missing_required', expected: 'string' },
      { path: 'pattern', code: 'unknown_key', received: 'string', suggest: 'query' },
    ])
  }
  const withWrong = sessions.filter((session) => session.some(isWrong))
  assert.equal(withWrong.length, SMALL_SAMPLE.wrongName.sessions)
  const corrected = withWrong.filter((session) => {
    const next = session[session.findIndex(isWrong) + 1]
    return next?.tool === WRONG_NAME.tool && next.issues === undefined
  })
  assert.equal(corrected.length, SMALL_SAMPLE.wrongName.corrected)
})

test('list_invoices gets its limit as a string, from one client', () => {
  const wrong = calls.filter(({ issues }) => issues?.[0]?.subtype === 'stringified_number')
  assert.equal(wrong.length, SMALL_SAMPLE.byPlant.string_number)
  for (const { tool, client, args, issues } of wrong) {
    assert.equal(tool, STRING_NUMBER.tool)
    assert.equal(client?.name, STRING_NUMBER.client)
    assert.equal((args as { limit: unknown }).limit, '10')
    assert.equal(issues?.[0]?.path, 'limit')
    assert.equal(issues?.[0]?.code, 'wrong_type')
  }
})

test('get_document succeeds although a made-up argument was dropped', () => {
  const dropped = calls.filter(({ dropped }) => dropped !== undefined)
  assert.equal(dropped.length, SMALL_SAMPLE.byPlant.hallucinated)
  for (const { tool, outcome, args, dropped: keys } of dropped) {
    assert.equal(tool, HALLUCINATED.tool)
    assert.notEqual(outcome, 'failed')
    assert.deepEqual(keys, [HALLUCINATED.key])
    assert.ok(HALLUCINATED.key in (args as object))
  }
})

test('agents repeat the same failing call three to eight times', () => {
  const loops = sessions.flatMap((session) => {
    const repeats = new Map<string, CallLine[]>()
    for (const call of session) {
      const key = `${call.tool} ${call.args_hash}`
      repeats.set(key, [...(repeats.get(key) ?? []), call])
    }
    return [...repeats.values()].filter(
      (repeated) => repeated.filter(({ outcome }) => outcome === 'failed').length >= 3,
    )
  })
  const failures = loops.map((loop) => loop.filter(({ outcome }) => outcome === 'failed').length)
  assert.equal(loops.length, SMALL_SAMPLE.loops.loops)
  assert.ok(failures.every((count) => count <= 8))
  assert.equal(
    failures.reduce((sum, count) => sum + count, 0),
    SMALL_SAMPLE.loops.calls,
  )
  const recovered = loops.filter((loop) => loop.at(-1)?.outcome === 'succeeded')
  assert.equal(recovered.length, SMALL_SAMPLE.loops.recovered)
})

test('export_statement is rate limited in bursts, with the time to wait', () => {
  const limited = calls.filter(({ error }) => error?.class === 'rate_limited')
  assert.equal(limited.length, SMALL_SAMPLE.byPlant.rate_limited)
  for (const { tool, error, retry_suppressed } of limited) {
    assert.equal(tool, 'export_statement')
    assert.equal(error?.status, 429)
    assert.equal(error?.retry_after_s, 30)
    assert.equal(retry_suppressed, 'unsafe')
  }
  const bursts = new Set(limited.map(({ session }) => session))
  assert.equal(bursts.size, SMALL_SAMPLE.rateLimitBursts)
})

test('empty results, failures told as successes, made-up tools and deferred calls are there', () => {
  const { byPlant } = SMALL_SAMPLE
  const empty = calls.filter(({ result }) => result?.empty)
  const suspect = calls.filter(({ result }) => result?.suspect !== undefined)
  assert.equal(empty.length, byPlant.empty)
  assert.equal(suspect.length, byPlant.suspect)
  for (const { tool, outcome } of [...empty, ...suspect]) {
    assert.deepEqual([tool, outcome], ['summarize_document', 'succeeded'])
  }
  const deferred = calls.filter(({ outcome }) => outcome === 'deferred')
  assert.equal(deferred.length, byPlant.deferred)
  const unknown = calls.filter(({ error }) => error?.class === 'unknown_tool')
  assert.equal(unknown.length, byPlant.unknown_tool)
})

test('cancelled calls were not delivered, and their handlers ended late', () => {
  const cancelled = calls.filter(({ error }) => error?.class === 'cancelled')
  assert.equal(cancelled.length, SMALL_SAMPLE.byPlant.cancelled)
  const late = new Set(lines.flatMap((line) => (line.kind === 'late' ? [line.call] : [])))
  for (const { call, delivered, error } of cancelled) {
    assert.equal(delivered, false)
    assert.equal(error?.by, 'client')
    assert.ok(late.has(call))
  }
})

test('docs-search dies without a word and is silent for five hours', () => {
  const { diedMs, backMs, openCalls } = SMALL_SAMPLE.silence
  const server = (line: (typeof lines)[number]) => ('server' in line ? line.server.name : undefined)
  const theirs = lines.filter((line) => server(line) === 'docs-search')
  assert.equal(backMs - diedMs, 5 * 3_600_000)
  assert.deepEqual(
    theirs.filter(({ time }) => time >= diedMs && time < backMs),
    [],
  )
  const before = theirs.filter(({ time }) => time < diedMs).sort((a, b) => a.time - b.time)
  const lastBeat = before.filter((line) => line.kind === 'beat').at(-1)
  assert.ok(lastBeat?.kind === 'beat')
  assert.deepEqual(lastBeat.open.map(({ call }) => call).sort(), openCalls)
  assert.ok(calls.every(({ call }) => !openCalls.some((open) => open === call)))
  const next = theirs.filter(({ time }) => time >= backMs).sort((a, b) => a.time - b.time)[0]
  assert.equal(next?.kind, 'start')
  assert.equal(next?.time, backMs)
})

test('billing is taken down by one call, which its fatal record names', () => {
  const { atMs, call: guilty } = SMALL_SAMPLE.crash
  const crashed = calls.filter(({ error }) => error?.class === 'crashed')
  assert.deepEqual(
    crashed.map(({ call, error }) => [call, error?.by]),
    [[guilty, 'self']],
  )
  const fatal = lines.find((line) => line.kind === 'fatal' && line.call === guilty)
  assert.equal(fatal?.time, atMs)
  const exit = lines.find((line) => line.w === fatal?.w && line.kind === 'exit')
  assert.ok(exit?.kind === 'exit')
  assert.equal(exit.code, 1)
})

test('the first start of billing 2.4.0 is refused for a missing variable', () => {
  const fatal = lines.find((line) => line.kind === 'fatal' && line.error.class === 'fatal')
  assert.ok(fatal?.kind === 'fatal')
  assert.match(fatal.error.message, /BILLING_EXPORT_KEY/)
  const theirs = lines.filter(({ w }) => w === fatal.w)
  assert.deepEqual(
    theirs.map(({ kind }) => kind),
    ['start', 'fatal', 'exit'],
  )
  const [start, , exit] = theirs
  assert.ok(start?.kind === 'start' && exit?.kind === 'exit')
  assert.equal(start.server.version, '2.4.0')
  assert.equal(exit.code, 78)
})

test('each server changes its version once', () => {
  const versions = new Map<string, Set<string>>()
  for (const { server } of calls) {
    versions.set(server.name, (versions.get(server.name) ?? new Set()).add(server.version))
  }
  assert.deepEqual(
    Object.fromEntries([...versions].map(([name, found]) => [name, [...found].sort()])),
    { billing: ['2.3.1', '2.4.0'], 'docs-search': ['1.8.2', '1.9.0'] },
  )
})

test('people work by day and in the week', () => {
  const people = calls.filter(({ client }) => client?.name !== 'nightly-scheduler')
  const atNight = people.filter(({ started }) => inBerlin(started).time < '06:00').length
  const weekend = people.filter(({ started }) => [0, 6].includes(new Date(started).getUTCDay()))
  assert.ok(atNight < 0.03 * people.length, `${atNight} at night`)
  assert.ok(weekend.length < 0.1 * people.length, `${weekend.length} at the weekend`)
})
