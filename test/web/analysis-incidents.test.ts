import assert from 'node:assert/strict'
import { test } from 'node:test'
import { incidentFindings, incidentsIn } from '../../web/analysis/incident-findings.ts'
import { type Episode, findEpisodes, mergeEpisodes } from '../../web/analysis/incidents.ts'
import { findTimeoutWindows } from '../../web/analysis/timeout-windows.ts'
import { defaultFilter, parseFilter } from '../../web/queries/filter.ts'
import { storeOf, type TestCall } from './fixtures/build-database.ts'
import { createRandom, poisson } from './fixtures/random.ts'
import { oneCallAQuarter, seriesOf } from './fixtures/series.ts'

const DAY = 86_400_000
const HOUR = 3_600_000
const START = Date.UTC(2026, 0, 5)

test('one outage of five hours on one day is one incident and no window', () => {
  const outage = seriesOf(
    START,
    14,
    oneCallAQuarter((day, slot) => day === 6 && slot >= 30 && slot < 50),
  )
  const range = { fromMs: START, toMs: START + 14 * DAY }
  assert.deepEqual(findTimeoutWindows([outage], { range, zone: 'UTC' }).windows, [])
  const [episode, ...others] = findEpisodes([outage], [])
  assert.equal(others.length, 0)
  assert.equal(episode?.fromMs, START + 6 * DAY + 7.5 * HOUR)
  assert.equal(episode?.toMs, START + 6 * DAY + 12.5 * HOUR)
  assert.deepEqual([episode?.failures, episode?.calls], [20, 20])
})

test('failures scattered one a day are no incident, nor are those of a flaky tool', () => {
  const scattered = seriesOf(
    START,
    14,
    oneCallAQuarter((day, slot) => slot === (37 * day + 50) % 96),
  )
  assert.deepEqual(findEpisodes([scattered], []), [])
  let flagged = 0
  for (let seed = 0; seed < 40; seed++) {
    const random = createRandom(seed + 900)
    const flaky = seriesOf(START, 14, () => {
      const calls = poisson(random, 3)
      let failures = 0
      for (let i = 0; i < calls; i++) if (random() < 0.1) failures++
      return { calls, failures }
    })
    if (findEpisodes([flaky], []).length > 0) flagged++
  }
  assert.ok(flagged <= 3, `${flagged} of 40 were flagged`)
})

test('failures inside a recurring window are no incidents', () => {
  const nightly = seriesOf(
    START,
    14,
    oneCallAQuarter((_, slot) => slot >= 8 && slot < 12),
  )
  const range = { fromMs: START, toMs: START + 14 * DAY }
  const { windows } = findTimeoutWindows([nightly], { range, zone: 'UTC' })
  assert.equal(windows.length, 1)
  assert.deepEqual(findEpisodes([nightly], windows), [])
  assert.equal(findEpisodes([nightly], []).length, 14)
})

const episode = (tool: string, from: number, to: number): Episode => ({
  server: 'demo',
  tool,
  class: 'connection',
  fromMs: START + from * HOUR,
  toMs: START + to * HOUR,
  failures: 5,
  calls: 5,
  usualRate: 0,
  p: 0,
  q: 0,
})

test('tools that fail at one time for one upstream are one incident, in the order of its start', () => {
  const episodes = [episode('a', 1, 3), episode('b', 2, 4), episode('c', 2, 3), episode('a', 6, 7)]
  const upstreams: Record<string, string> = { a: 'x:443', b: 'x:443', c: 'y:443' }
  const incidents = mergeEpisodes(episodes, ({ tool }) => upstreams[tool])
  assert.deepEqual(
    incidents.map((incident) => [incident.upstream, incident.episodes.map(({ tool }) => tool)]),
    [
      ['x:443', ['a', 'b']],
      ['y:443', ['c']],
      ['x:443', ['a']],
    ],
  )
  assert.equal(incidents[0]?.toMs, START + 4 * HOUR)
})

test('an outage is told with its length, its upstream and how it ended', (t) => {
  const now = START + 10 * DAY
  const context = { nowMs: now, defaultZone: 'UTC' }
  const every = (tool: string, hours: number): TestCall[] =>
    Array.from({ length: 10 * 24 * 4 }, (_, i): TestCall => {
      const startedMs = START + i * 15 * 60_000
      const from = START + 8 * DAY + 14 * HOUR
      const down = startedMs >= from && startedMs < from + hours * HOUR
      return down
        ? { startedMs, tool, class: 'connection', upstream: 'rates.example:443' }
        : { startedMs, tool }
    })
  const store = storeOf(t, [...every('get_rate', 2), ...every('convert', 1)])
  const filter = defaultFilter(context)
  const incidents = incidentsIn(store, filter, store.quarterSeries(filter), [])
  assert.equal(incidents.length, 1)
  const [finding] = incidentFindings(incidents, store, filter, now)
  assert.equal(
    finding?.sentence,
    '`convert` and `get_rate`: 12 of 12 calls failed (connection, upstream rates.example:443) from Tue 13 Jan 14:00, for about 2 hours.',
  )
  assert.equal(finding?.check, 'In the two hours after it 16 of 16 calls succeeded.')
  assert.equal(finding?.grade, 'confirmed')
  const parsed = parseFilter(new URLSearchParams(finding?.evidenceQuery), context)
  assert.ok(parsed.ok)
  assert.equal(store.calls(parsed.filter, { limit: 1 }).total, 12)
  assert.equal(finding?.impact.calls, 12)
})
