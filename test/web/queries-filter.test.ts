import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ERROR_CLASSES, OUTCOMES } from '../../server/call-log/record.ts'
import {
  defaultFilter,
  FLAG_NAMES,
  frozen,
  isUnfiltered,
  parseFilter,
  printFilter,
  toggleValue,
  withRange,
  withValue,
} from '../../web/queries/filter.ts'
import { FILTER_FLAGS, filterFromFlags } from '../../web/queries/filter-flags.ts'

// A Wednesday, 10:07 UTC and 11:07 in Berlin.
const NOW = Date.UTC(2026, 1, 18, 10, 7)
const context = { nowMs: NOW, defaultZone: 'Europe/Berlin' }

function parse(query: string) {
  const parsed = parseFilter(new URLSearchParams(query), context)
  assert.ok(parsed.ok, JSON.stringify(parsed))
  return parsed.filter
}

function problems(query: string, alsoAllowed: string[] = []) {
  const parsed = parseFilter(new URLSearchParams(query), { ...context, alsoAllowed })
  assert.ok(!parsed.ok, `${query} was accepted`)
  return parsed.problems
}

const iso = (ms: number) => new Date(ms).toISOString()

test('without parameters the last 28 days in the default zone are meant', () => {
  const filter = defaultFilter(context)
  // Snapped outwards: 10:07 is inside the quarter from 10:00 to 10:15.
  assert.equal(iso(filter.fromMs), '2026-01-21T10:00:00.000Z')
  assert.equal(iso(filter.toMs), '2026-02-18T10:15:00.000Z')
  assert.equal(filter.zone, 'Europe/Berlin')
  assert.equal(isUnfiltered(filter), true)
  assert.equal(printFilter(filter, { defaultZone: 'Europe/Berlin' }).toString(), '')
})

test('values repeat, ! leaves out, empty fields count as absent', () => {
  const filter = parse('tool=b&tool=a&tool=!c&class=timeout&session=&dow=&server=')
  assert.deepEqual(filter.tool, { include: ['a', 'b'], exclude: ['c'] })
  assert.deepEqual(filter.class, { include: ['timeout'], exclude: [] })
  assert.equal(filter.session, undefined)
  assert.equal(
    printFilter(filter).toString(),
    'tool=a&tool=b&tool=%21c&class=timeout&tz=Europe%2FBerlin',
  )
})

test('a tool named with an exclamation mark can be asked for', () => {
  const filter = parse(`tool=${encodeURIComponent('\\!boom')}&tool=!!bang`)
  assert.deepEqual(filter.tool, { include: ['!boom'], exclude: ['!bang'] })
})

const times: [text: string, from: string][] = [
  ['now-7d', '2026-02-11T10:00:00.000Z'],
  ['-7d', '2026-02-11T10:00:00.000Z'],
  ['24h', '2026-02-17T10:00:00.000Z'],
  ['now-90m', '2026-02-18T08:30:00.000Z'],
  ['now-2w', '2026-02-04T10:00:00.000Z'],
  ['now/d', '2026-02-17T23:00:00.000Z'],
  ['now-1d/d', '2026-02-16T23:00:00.000Z'],
  ['now/w', '2026-02-15T23:00:00.000Z'],
  ['2026-02-03', '2026-02-02T23:00:00.000Z'],
  ['2026-02-03T02:20', '2026-02-03T01:15:00.000Z'],
  ['2026-02-03 02:20', '2026-02-03T01:15:00.000Z'],
  ['2026-02-03T02:20Z', '2026-02-03T02:15:00.000Z'],
  ['2026-02-03T02:20:30.5-05:00', '2026-02-03T07:15:00.000Z'],
  ['1770000000000', '2026-02-02T02:30:00.000Z'],
]
for (const [text, from] of times) {
  test(`from=${text} is read`, () => {
    assert.equal(iso(parse(`from=${encodeURIComponent(text)}`).fromMs), from)
  })
}

test('an offset whose plus arrived as a space is read', () => {
  const filter = parse('from=2026-02-03T02:20+01:00')
  assert.equal(filter.from, '2026-02-03T02:20+01:00')
  assert.equal(iso(filter.fromMs), '2026-02-03T01:15:00.000Z')
})

test('a bare date or a cut as the end means the end of that day', () => {
  assert.equal(iso(parse('to=2026-02-03').toMs), '2026-02-03T23:00:00.000Z')
  assert.equal(iso(parse('to=now-1d/d').toMs), '2026-02-17T23:00:00.000Z')
})

test('a week before a change of clocks is the same wall time', () => {
  const parsed = parseFilter(new URLSearchParams('from=now-7d'), {
    nowMs: Date.UTC(2026, 3, 1, 10),
    defaultZone: 'Europe/Berlin',
  })
  assert.ok(parsed.ok)
  // 12:00 in summer time; a week before, 12:00 in winter time.
  assert.equal(iso(parsed.filter.fromMs), '2026-03-25T11:00:00.000Z')
})

test('times of day snap outwards to quarters and may run over midnight', () => {
  assert.deepEqual(parse('tod=22:05-02:10').timeOfDay, { fromMinute: 1320, toMinute: 135 })
  assert.deepEqual(parse('tod=23:00-24:00').timeOfDay, { fromMinute: 1380, toMinute: 1440 })
  assert.deepEqual(parse('tod=23:00-00:00').timeOfDay, { fromMinute: 1380, toMinute: 1440 })
  assert.equal(parse('tod=00:00-24:00').timeOfDay, undefined)
})

test('weekdays are read by name, number and range', () => {
  assert.deepEqual(parse('dow=mon,fri').weekdays, [1, 5])
  assert.deepEqual(parse('dow=1-5').weekdays, [1, 2, 3, 4, 5])
  assert.deepEqual(parse('dow=fri-mon').weekdays, [1, 5, 6, 7])
  assert.deepEqual(parse('dow=1-7').weekdays, [])
  assert.equal(printFilter(parse('dow=Friday,1')).get('dow'), 'mon,fri')
})

const refused: [query: string, name: string, words: RegExp][] = [
  ['class=timeot', 'class', /"timeot" is no class: write one of invalid_arguments, timeout/],
  ['outcome=ok', 'outcome', /write one of succeeded, retried, failed, deferred/],
  ['colour=red', 'colour', /there is no parameter "colour" here: use server/],
  ['from=now-7d&from=now-1d', 'from', /from is given 2 times: give it once/],
  ['session=a&session=b', 'session', /give it once/],
  ['from=2026-02-10&to=2026-02-01', 'from', /swap them/],
  ['from=yesterday', 'from', /"yesterday" is not a time: write now-7d/],
  ['from=2026-02-30', 'from', /"2026-02-30" is not a time/],
  ['from=2026-02-03T25:00', 'from', /is not a time/],
  ['from=999999999999999', 'from', /is not a time/],
  ['from=now-999999d', 'from', /is not a time/],
  ['from=1999-12-31', 'from', /is not between the years 2000 and 2100/],
  ['from=2001-01-01', 'from', /longer than 1100 days/],
  ['tod=2am', 'tod', /write a window such as 22:00-02:00/],
  ['tod=02:00-02:00', 'tod', /begins where it ends/],
  ['tod=24:30-02:00', 'tod', /is not a time of day/],
  ['dow=0', 'dow', /"0" is not a weekday: write mon,fri or 1-5/],
  ['dow=mon-', 'dow', /is not a weekday/],
  ['dow=mon-xyz', 'dow', /is not a weekday/],
  ['tz=Mars/Olympus', 'tz', /"Mars\/Olympus" is no time zone/],
  ['tool=a&tool=!a', 'tool', /both kept and left out/],
  [`tool=${'x'.repeat(201)}`, 'tool', /201 characters: at most 200/],
]
for (const [query, name, words] of refused) {
  test(`${query.slice(0, 40)} is refused by name`, () => {
    const [problem] = problems(query)
    assert.equal(problem?.name, name)
    assert.match(problem?.message ?? '', words)
  })
}

test('every problem is told at once, and a page may allow parameters of its own', () => {
  assert.deepEqual(
    problems('class=x&tz=y&cursor=1', ['cursor']).map(({ name }) => name),
    ['tz', 'class'],
  )
})

test('facet links switch a value on and off', () => {
  const filter = defaultFilter(context)
  const on = toggleValue(filter, 'tool', 'a')
  assert.deepEqual(on.tool, { include: ['a'], exclude: [] })
  assert.deepEqual(toggleValue(on, 'tool', 'a', 'exclude').tool, { include: [], exclude: ['a'] })
  assert.deepEqual(toggleValue(on, 'tool', 'a').tool, filter.tool)
  assert.deepEqual(withValue(on, 'tool', 'a', undefined).tool, filter.tool)
})

test('a frozen filter shows the same range tomorrow', () => {
  const filter = parse('from=now-7d')
  const printed = printFilter(frozen(filter))
  const tomorrow = parseFilter(printed, { ...context, nowMs: NOW + 86_400_000 })
  assert.ok(tomorrow.ok)
  assert.equal(tomorrow.filter.fromMs, filter.fromMs)
  assert.equal(tomorrow.filter.toMs, filter.toMs)
  assert.equal(withRange(filter, NOW, NOW + 1).from, '2026-02-18T10:00:00Z')
})

test('flags of a command give the same filter as the URL, problems carry the flag', () => {
  const parsed = filterFromFlags({ tool: ['a', '!b'], since: '24h', dow: '1-5' }, context)
  assert.ok(parsed.ok)
  assert.deepEqual(parsed.filter, parse('tool=a&tool=!b&from=now-24h&dow=mon-fri'))
  const wrong = filterFromFlags({ since: 'soon' }, context)
  assert.ok(!wrong.ok)
  assert.equal(wrong.problems[0]?.name, '--since')
  assert.equal(new Set(FILTER_FLAGS.map(({ flag }) => flag)).size, FILTER_FLAGS.length)
})

const name = fc.string({ minLength: 1, maxLength: 12, unit: 'binary' })
function choiceOf<T extends string>(value: fc.Arbitrary<T>) {
  return fc.uniqueArray(value, { maxLength: 4 }).chain((values) =>
    fc.integer({ min: 0, max: values.length }).map((cut) => ({
      include: values.slice(0, cut).sort(),
      exclude: values.slice(cut).sort(),
    })),
  )
}
const wallTimes = fc
  .tuple(fc.nat(95), fc.nat(95))
  .filter(([from, to]) => from !== to && !(from === 0 && to === 0))
  .map(([from, to]) => ({ fromMinute: from * 15, toMinute: to === 0 ? 1440 : to * 15 }))

const filters = fc
  .record({
    server: choiceOf(name),
    version: choiceOf(name),
    tool: choiceOf(name),
    class: choiceOf(fc.constantFrom(...ERROR_CLASSES)),
    outcome: choiceOf(fc.constantFrom(...OUTCOMES)),
    client: choiceOf(name),
    flag: choiceOf(fc.constantFrom(...FLAG_NAMES)),
    session: fc.option(name, { nil: undefined }),
    signature: fc.option(name, { nil: undefined }),
    text: fc.option(name, { nil: undefined }),
    timeOfDay: fc.option(wallTimes, { nil: undefined }),
    weekdays: fc.subarray([1, 2, 3, 4, 5, 6, 7], { maxLength: 6 }),
    zone: fc.constantFrom('Europe/Berlin', 'UTC', 'Asia/Kathmandu', 'America/St_Johns'),
  })
  .chain((parts) =>
    fc
      .tuple(fc.integer({ min: 0, max: 5000 }), fc.integer({ min: 1, max: 5000 }))
      .map(([start, length]) => {
        const from = NOW - start * 900_000
        return withRange({ ...defaultFilter(context), ...parts }, from, from + length * 900_000)
      }),
  )

test('printing and parsing again gives the same filter, and the same text', () => {
  fc.assert(
    fc.property(filters, (filter) => {
      const printed = printFilter(filter)
      // Through text, as a URL does it: lone surrogates do not survive there and are not names.
      const again = parseFilter(new URLSearchParams(printed.toString()), context)
      assert.deepEqual(again, { ok: true, filter })
      assert.equal(printFilter(filter).toString(), printed.toString())
    }),
    { numRuns: 300 },
  )
})

test('no text at all makes the parser throw', () => {
  const texts = fc.oneof(fc.string(), fc.stringMatching(/^[-now+/0-9dwhm:TZ]{0,20}$/))
  const keys = fc.constantFrom('from', 'to', 'tod', 'dow', 'tz', 'tool', 'class', 'session')
  fc.assert(
    fc.property(fc.array(fc.tuple(keys, texts), { maxLength: 4 }), (entries) => {
      parseFilter(new URLSearchParams(entries), context)
    }),
    { numRuns: 500 },
  )
})
