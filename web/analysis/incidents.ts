import { QUARTER_MS } from '../../ingest/store/schema.ts'
import type { ErrorClass } from '../../server/call-log/record.ts'
import type { QuarterSeries } from '../queries/call-store.ts'
import { matchesPattern, patternNumbers, wallQuarter } from '../queries/time-zones.ts'
import { benjaminiHochberg, binomialTail } from './statistics.ts'
import type { TimeoutWindow } from './timeout-window.ts'

const MIN_FAILURES = 3
const LARGEST_Q = 0.05

/** Failures of one tool with one class that hang together in time, and are more than its usual. */
export type Episode = {
  server: string
  tool: string
  class: ErrorClass
  /** Whole quarter hours. */
  fromMs: number
  toMs: number
  failures: number
  calls: number
  /** Failure rate of the tool and class outside the episode. */
  usualRate: number
  /** P(so many failures at the usual rate). */
  p: number
  /** False discovery rate, with every quarter hour that had calls counted as a place to look. */
  q: number
}

type Run = { first: number; last: number; failures: number; calls: number }

/**
 * Quarters with failures that follow one another are one episode, so calls up to a quarter of an
 * hour apart always are. Failures inside recurring windows are left out: those are known.
 */
export function findEpisodes(
  allSeries: readonly QuarterSeries[],
  windows: readonly TimeoutWindow[],
): Episode[] {
  const episodes: Episode[] = []
  let placesToLook = 0
  for (const series of allSeries) {
    const quarters = withoutWindows(series, windows)
    placesToLook += quarters.length
    const total = totals(quarters)
    for (const run of runsOf(quarters)) {
      if (run.failures < MIN_FAILURES) continue
      const usualRate = (total.failures - run.failures + 0.5) / (total.calls - run.calls + 1)
      episodes.push({
        server: series.server,
        tool: series.tool,
        class: series.class,
        fromMs: run.first * QUARTER_MS,
        toMs: (run.last + 1) * QUARTER_MS,
        failures: run.failures,
        calls: run.calls,
        usualRate: Math.min(1, usualRate),
        p: binomialTail(run.calls, Math.min(1, usualRate), run.failures),
        q: 1,
      })
    }
  }
  // A quarter without an episode is a test with p = 1.
  const ps = [...episodes.map(({ p }) => p), ...filled(placesToLook - episodes.length)]
  const rates = benjaminiHochberg(ps)
  return episodes
    .map((episode, i) => ({ ...episode, q: rates[i] ?? 1 }))
    .filter(({ q }) => q <= LARGEST_Q)
    .sort((a, b) => a.fromMs - b.fromMs || (a.tool < b.tool ? -1 : 1))
}

function filled(n: number): number[] {
  return new Array<number>(Math.max(0, n)).fill(1)
}

type Quarters = QuarterSeries['quarters']

function withoutWindows(series: QuarterSeries, windows: readonly TimeoutWindow[]): Quarters {
  const known = windows
    .filter(
      (window) =>
        window.server === series.server &&
        window.tool === series.tool &&
        window.class === series.class,
    )
    .flatMap((window) => {
      const { fromMinute, toMinute, weekdays, zone } = window
      const numbers = patternNumbers({ timeOfDay: { fromMinute, toMinute }, weekdays })
      return numbers ? [{ numbers, zone }] : []
    })
  if (known.length === 0) return series.quarters
  return series.quarters.filter(
    ({ quarter }) =>
      !known.some(({ numbers, zone }) => matchesPattern(numbers, wallQuarter(zone, quarter))),
  )
}

function totals(quarters: Quarters): { calls: number; failures: number } {
  const total = { calls: 0, failures: 0 }
  for (const { calls, failures } of quarters) {
    total.calls += calls
    total.failures += failures
  }
  return total
}

function runsOf(quarters: Quarters): Run[] {
  const runs: Run[] = []
  for (const { quarter, calls, failures } of quarters) {
    if (failures === 0) continue
    const last = runs.at(-1)
    if (last && quarter - last.last <= 1) {
      last.last = quarter
      last.failures += failures
      last.calls += calls
    } else runs.push({ first: quarter, last: quarter, failures, calls })
  }
  return runs
}

/** Episodes of tools that failed together: at overlapping times and for one upstream. */
export type Incident = {
  /** In order of their start: the first tool is where it began. */
  episodes: Episode[]
  /** Host of the upstream, where the errors name it. */
  upstream: string | undefined
  fromMs: number
  toMs: number
}

/**
 * Merges episodes that overlap and share an upstream; where the errors name none, those of one
 * server and class.
 */
export function mergeEpisodes(
  episodes: readonly Episode[],
  upstreamOf: (episode: Episode) => string | undefined,
): Incident[] {
  const incidents: (Incident & { key: string })[] = []
  for (const episode of episodes) {
    const upstream = upstreamOf(episode)
    const key = upstream ?? JSON.stringify([episode.server, episode.class])
    const open = incidents.find(
      (incident) => incident.key === key && episode.fromMs < incident.toMs,
    )
    if (open) {
      open.episodes.push(episode)
      open.toMs = Math.max(open.toMs, episode.toMs)
    } else {
      const { fromMs, toMs } = episode
      incidents.push({ key, episodes: [episode], upstream, fromMs, toMs })
    }
  }
  return incidents.map(({ key: _, ...incident }) => incident)
}
