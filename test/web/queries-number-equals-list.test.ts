import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ERROR_CLASSES, OUTCOMES } from '../../server/call-log/record.ts'
import type { CallStore } from '../../web/queries/call-store.ts'
import {
  defaultFilter,
  type Filter,
  FLAG_NAMES,
  UNKNOWN_CLIENT,
  withRange,
} from '../../web/queries/filter.ts'
import { openCallStore } from '../../web/queries/sqlite-call-store.ts'
import {
  matchesPattern,
  patternNumbers,
  quarterOf,
  wallQuarter,
} from '../../web/queries/time-zones.ts'
import { buildDatabase, type TestCall } from './fixtures/build-database.ts'

// Around the change of clocks in Europe on 2026-03-29, so that some patterns meet it.
const START = Date.UTC(2026, 2, 28)
const DAYS = 3
const TOOLS = ['search', 'fetch', "x'; DROP TABLE call; --"]

/** Calls in clumps of equal times, so that pages must cut through ties. */
const calls = fc.array(
  fc
    .record({
      startedMs: fc
        .integer({ min: 0, max: 3 * DAYS * 96 - 1 })
        .map((step) => START + step * 300_000),
      tool: fc.constantFrom(...TOOLS),
      server: fc.constantFrom('billing', 'documents'),
      version: fc.constantFrom('1', '2'),
      client: fc.constantFrom('', 'claude', 'cursor'),
      session: fc.constantFrom(undefined, 'a', 'b'),
      // As the ingester stores them: what failed has a class, and nothing else has.
      ending: fc.oneof(
        fc.constantFrom(...OUTCOMES.filter((outcome) => outcome !== 'failed')).map((outcome) => ({
          outcome,
          class: undefined,
        })),
        fc
          .constantFrom(...ERROR_CLASSES)
          .map((name) => ({ outcome: 'failed' as const, class: name })),
      ),
      flags: fc.subarray(['empty', 'suspect', 'dropped', 'undelivered'] as const),
    })
    .map(({ ending, ...call }) => ({ ...call, ...ending })),
  { minLength: 150, maxLength: 250, size: 'max' },
)

function choiceOf<T extends string>(values: readonly T[]) {
  return fc.oneof(
    { weight: 4, arbitrary: fc.constant({ include: [] as T[], exclude: [] as T[] }) },
    fc
      .tuple(fc.subarray([...values], { maxLength: 2 }), fc.subarray([...values], { maxLength: 1 }))
      .map(([include, left]) => ({
        include,
        exclude: left.filter((value) => !include.includes(value)),
      })),
  )
}

const filters: fc.Arbitrary<Filter> = fc
  .record({
    tool: choiceOf([...TOOLS, 'nobody']),
    server: choiceOf(['billing', 'documents']),
    version: choiceOf(['1', '2']),
    client: choiceOf([UNKNOWN_CLIENT, 'claude', 'cursor']),
    class: choiceOf(ERROR_CLASSES.slice(0, 4)),
    outcome: choiceOf(OUTCOMES),
    flag: choiceOf(FLAG_NAMES.filter((flag) => flag !== 'loop')),
    session: fc.constantFrom(undefined, undefined, undefined, undefined, 'a', 'nobody'),
    zone: fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/New_York'),
    weekdays: fc.constantFrom([], [], [], [6], [1, 7], [1, 2, 3, 4, 5]),
    timeOfDay: fc.option(
      fc
        .tuple(fc.nat(95), fc.integer({ min: 1, max: 96 }))
        .filter(([from, to]) => from !== to && !(from === 0 && to === 96))
        .map(([from, to]) => ({ fromMinute: from * 15, toMinute: to * 15 })),
      { nil: undefined },
    ),
    range: fc.tuple(fc.nat(96), fc.integer({ min: 48, max: DAYS * 96 })),
  })
  .map(({ range: [from, length], ...parts }) => {
    const fromMs = START + from * 900_000
    const whole = { ...defaultFilter({ nowMs: START, defaultZone: 'UTC' }), ...parts }
    return withRange(whole, fromMs, fromMs + length * 900_000)
  })

/** The filter's meaning in plain words, without SQL: what the list must hold. */
function isMeant(call: TestCall, filter: Filter): boolean {
  const { startedMs } = call
  const chosen = (
    name: 'tool' | 'server' | 'version' | 'client' | 'class' | 'outcome',
    value: string,
  ) =>
    (filter[name].include.length === 0 ||
      (filter[name].include as readonly string[]).includes(value)) &&
    !(filter[name].exclude as readonly string[]).includes(value)
  const pattern = patternNumbers(filter)
  const flags = (call.flags ?? []) as string[]
  return (
    startedMs >= filter.fromMs &&
    startedMs < filter.toMs &&
    (!pattern || matchesPattern(pattern, wallQuarter(filter.zone, quarterOf(startedMs)))) &&
    chosen('tool', call.tool ?? '') &&
    chosen('server', call.server ?? '') &&
    chosen('version', call.version ?? '') &&
    chosen('client', call.client || UNKNOWN_CLIENT) &&
    chosen('class', call.class ?? '') &&
    chosen('outcome', call.outcome ?? '') &&
    (filter.session === undefined || filter.session === call.session) &&
    (filter.flag.include.length === 0 ||
      filter.flag.include.some((flag) => flags.includes(flag))) &&
    !filter.flag.exclude.some((flag) => flags.includes(flag))
  )
}

function pagedIds(store: CallStore, filter: Filter, limit: number): number[] {
  const ids: number[] = []
  let cursor: string | undefined
  do {
    const page = store.calls(filter, { limit, cursor })
    ids.push(...page.rows.map((row) => row.id))
    cursor = page.next
  } while (cursor)
  return ids
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

test('each number equals the total of its list, and the list holds exactly the calls that are meant', () => {
  fc.assert(
    fc.property(
      calls,
      fc.array(filters, { minLength: 8, maxLength: 8 }),
      fc.integer({ min: 1, max: 40 }),
      (rows, several, limit) => {
        const built = buildDatabase(rows)
        const store = openCallStore(built.path, { now: () => START })
        try {
          for (const filter of several) {
            const meant = rows.flatMap((call, i) => (isMeant(call, filter) ? [i + 1] : []))
            const figures = store.keyFigures(filter)
            assert.equal(figures.calls, meant.length)
            assert.equal(store.calls(filter, { limit: 1 }).total, meant.length)
            const ids = pagedIds(store, filter, limit)
            assert.deepEqual(
              [...ids].sort((a, b) => a - b),
              meant,
            )
            assert.equal(sum(store.tools(filter).map((tool) => tool.calls)), meant.length)
            const buckets = store.callsOverTime(filter)
            assert.equal(
              sum(buckets.flatMap(({ byOutcome }) => Object.values(byOutcome))),
              meant.length,
            )
            const cells = store.heatmap(filter)
            assert.equal(sum(cells.map(({ rated }) => rated)), figures.rated)
            assert.equal(sum(cells.map(({ failures }) => failures)), figures.failures)
            for (const { value, calls: n, selected } of store.facets(filter).tool) {
              if (selected === 'exclude') continue
              const only = { ...filter, tool: { include: [value], exclude: [] } }
              assert.equal(store.calls(only, { limit: 1 }).total, n)
            }
          }
        } finally {
          store.close()
          built.close()
        }
      },
    ),
    { numRuns: 40 },
  )
})
