import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bucketEdges, chooseBucketMs, localDayStarts } from '../../web/queries/time-buckets.ts'
import {
  addLocalDays,
  canonicalZone,
  instantOfWall,
  nextOffsetChange,
  offsetSpans,
  quarterOf,
  quartersOf,
  wallTime,
} from '../../web/queries/time-zones.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const NEW_YORK = 'America/New_York'
const iso = (ms: number) => new Date(ms).toISOString().slice(0, 16)
const at = (text: string) => Date.parse(`${text}Z`)

function hours(edges: number[]): number[] {
  return edges.slice(1).map((edge, i) => (edge - (edges[i] ?? Number.NaN)) / HOUR)
}

test('G2: a local day has 23 hours where clocks go forward and 25 where they go back', () => {
  const spring = bucketEdges(NEW_YORK, at('2026-03-07T05:00'), at('2026-03-10T04:00'), DAY)
  assert.deepEqual(spring.map(iso), [
    '2026-03-07T05:00',
    '2026-03-08T05:00',
    '2026-03-09T04:00',
    '2026-03-10T04:00',
  ])
  assert.deepEqual(hours(spring), [24, 23, 24])
  const autumn = bucketEdges(NEW_YORK, at('2026-10-31T04:00'), at('2026-11-03T05:00'), DAY)
  assert.deepEqual(hours(autumn), [24, 25, 24])
})

test('G2: the hourly axis has no 02:00 in spring and 01:00 twice in autumn, none doubled', () => {
  const label = (ms: number) => wallTime(NEW_YORK, ms).hour
  const spring = bucketEdges(NEW_YORK, at('2026-03-08T05:00'), at('2026-03-08T09:00'), HOUR)
  assert.deepEqual(spring.slice(0, -1).map(label), [0, 1, 3, 4])
  const autumn = bucketEdges(NEW_YORK, at('2026-11-01T04:00'), at('2026-11-01T09:00'), HOUR)
  assert.deepEqual(autumn.slice(0, -1).map(label), [0, 1, 1, 2, 3])
  assert.deepEqual(hours(autumn), [1, 1, 1, 1, 1])
})

test('buckets of several hours follow the local day and take the change of clocks in', () => {
  const edges = bucketEdges(
    'Europe/Berlin',
    at('2026-03-28T23:00'),
    at('2026-03-29T22:00'),
    6 * HOUR,
  )
  assert.deepEqual(hours(edges), [5, 6, 6, 6])
  const weeks = bucketEdges(
    'Europe/Berlin',
    at('2026-03-22T23:00'),
    at('2026-04-05T22:00'),
    7 * DAY,
  )
  assert.deepEqual(hours(weeks), [167, 168])
})

test('hours of a half-hour zone begin at the half hour of UTC', () => {
  const edges = bucketEdges('Asia/Kolkata', at('2026-02-01T18:00'), at('2026-02-01T20:30'), HOUR)
  assert.deepEqual(edges.map(iso), [
    '2026-02-01T18:00',
    '2026-02-01T18:30',
    '2026-02-01T19:30',
    '2026-02-01T20:30',
  ])
  assert.deepEqual(wallTime('Asia/Kathmandu', at('2026-02-01T18:15')), {
    year: 2026,
    month: 2,
    day: 2,
    weekday: 1,
    hour: 0,
    minute: 0,
    offsetMinutes: 345,
  })
})

test('a day whose midnight is skipped begins at one, a repeated midnight begins one day only', () => {
  // Beirut went from 23:59:59 to 01:00 on 2024-03-31; Havana went from 01:00 back to 00:00.
  const beirut = localDayStarts('Asia/Beirut', at('2024-03-30T00:00'), at('2024-04-01T12:00'))
  assert.deepEqual(beirut.map(iso), ['2024-03-30T22:00', '2024-03-31T21:00'])
  const havana = localDayStarts('America/Havana', at('2024-11-02T12:00'), at('2024-11-04T12:00'))
  assert.deepEqual(havana.map(iso), ['2024-11-03T04:00', '2024-11-04T05:00'])
})

test('a change of clocks by half an hour is met', () => {
  // Lord Howe Island: 02:00 back to 01:30 on 2026-04-05 (15:00 UTC the day before).
  const [before, after] = offsetSpans(
    'Australia/Lord_Howe',
    quarterOf(at('2026-04-01T00:00')),
    quarterOf(at('2026-04-10T00:00')),
  )
  assert.equal(before?.offsetQuarters, 44)
  assert.equal(after?.offsetQuarters, 42)
  assert.equal(iso((after?.fromQuarter ?? 0) * 900_000), '2026-04-04T15:00')
})

test('a skipped wall time means the change, a repeated one its first occurrence', () => {
  assert.equal(iso(instantOfWall(NEW_YORK, at('2026-03-08T02:30'))), '2026-03-08T07:00')
  assert.equal(iso(instantOfWall(NEW_YORK, at('2026-11-01T01:30'))), '2026-11-01T05:30')
  assert.equal(iso(addLocalDays(NEW_YORK, at('2026-03-09T04:00'), -1)), '2026-03-08T05:00')
})

test('offsets agree with Intl at every quarter around each change of a year', () => {
  for (const zone of ['Europe/Berlin', NEW_YORK, 'Australia/Lord_Howe', 'Africa/Casablanca']) {
    const format = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      hourCycle: 'h23',
      weekday: 'short',
      hour: '2-digit',
      minute: '2-digit',
    })
    const from = quarterOf(at('2026-01-01T00:00'))
    for (const { toQuarter } of offsetSpans(zone, from, from + 365 * 96)) {
      for (let quarter = toQuarter - 8; quarter < toQuarter + 8; quarter++) {
        const { weekday, hour, minute } = wallTime(zone, quarter * 900_000)
        const day = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'][weekday - 1]
        const clock = `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`
        assert.equal(
          `${day}, ${clock}`,
          format
            .format(quarter * 900_000)
            .replace(' ', ', ')
            .replace(',,', ','),
        )
      }
    }
  }
})

const day = (text: string, days: number) => ({
  fromQuarter: quarterOf(at(text)),
  toQuarter: quarterOf(at(text)) + days * 96,
})
const spell = (ranges: { fromQuarter: number; toQuarter: number }[]) =>
  ranges.map((range) => [iso(range.fromQuarter * 900_000), range.toQuarter - range.fromQuarter])

test('a time of day is found in UTC on each side of a change of clocks', () => {
  const pattern = { timeOfDay: { fromMinute: 195, toMinute: 225 }, weekdays: [] }
  assert.deepEqual(spell(quartersOf('Europe/Berlin', day('2026-03-28T00:00', 3), pattern)), [
    ['2026-03-28T02:15', 2],
    ['2026-03-29T01:15', 2],
    ['2026-03-30T01:15', 2],
  ])
})

test('G2: a time of day in the skipped hour has no exposure, in the repeated hour twice as much', () => {
  const pattern = { timeOfDay: { fromMinute: 120, toMinute: 180 }, weekdays: [] }
  assert.deepEqual(spell(quartersOf(NEW_YORK, day('2026-03-08T05:00', 1), pattern)), [])
  const repeated = { timeOfDay: { fromMinute: 60, toMinute: 120 }, weekdays: [] }
  assert.deepEqual(spell(quartersOf(NEW_YORK, day('2026-11-01T04:00', 1), repeated)), [
    ['2026-11-01T05:00', 8],
  ])
})

test('a window over midnight belongs to the weekday on which it began', () => {
  // Saturday 22:00 to Sunday 02:00; 2026-02-07 is a Saturday.
  const pattern = { timeOfDay: { fromMinute: 1320, toMinute: 120 }, weekdays: [6] }
  assert.deepEqual(spell(quartersOf('UTC', day('2026-02-06T00:00', 7), pattern)), [
    ['2026-02-07T22:00', 16],
  ])
})

test('weekdays alone mean whole local days', () => {
  const pattern = { timeOfDay: undefined, weekdays: [7] }
  assert.deepEqual(spell(quartersOf('Europe/Berlin', day('2026-03-27T00:00', 7), pattern)), [
    ['2026-03-28T23:00', 92],
  ])
})

test('there are never more than 120 buckets of a day or less, and every size divides the next', () => {
  assert.equal(chooseBucketMs(0, DAY), HOUR / 4)
  assert.equal(chooseBucketMs(0, 5 * DAY), HOUR)
  assert.equal(chooseBucketMs(0, 14 * DAY), 3 * HOUR)
  assert.equal(chooseBucketMs(0, 28 * DAY), 6 * HOUR)
  assert.equal(chooseBucketMs(0, 90 * DAY), DAY)
  assert.equal(chooseBucketMs(0, 400 * DAY), 7 * DAY)
})

test('zones are known by name only, and the next change of clocks by date', () => {
  assert.equal(canonicalZone('europe/berlin'), 'Europe/Berlin')
  assert.equal(canonicalZone('Asia/Kolkata'), 'Asia/Kolkata')
  assert.equal(canonicalZone('+01:00'), undefined)
  assert.equal(canonicalZone('Nowhere'), undefined)
  const change = nextOffsetChange('Europe/Berlin', at('2026-02-18T10:00'))
  assert.equal(change === undefined ? '' : iso(change), '2026-03-29T01:00')
  assert.equal(nextOffsetChange('UTC', at('2026-02-18T10:00')), undefined)
})
