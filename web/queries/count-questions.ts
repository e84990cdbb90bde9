import { QUARTER_MS } from '../../ingest/store/schema.ts'
import type {
  Facets,
  FacetValue,
  HeatmapCell,
  KeyFigures,
  TimeBucket,
  ToolRow,
} from './call-store.ts'
import {
  classOf,
  emptyTally,
  failureRate,
  foldIntoBuckets,
  foldIntoHeatmap,
  outcomeOf,
  type Tally,
  tally,
  tallyOf,
  topClass,
} from './counting.ts'
import { type Choice, type ChoiceName, type Filter, stateOf } from './filter.ts'
import { addToHistogram, type Histogram, percentileMs } from './percentiles.ts'
import type { Reader } from './reader.ts'
import { isNarrow } from './sql/conditions.ts'
import {
  ANY_REMOVED,
  type DurationRow,
  durationRows,
  type FacetColumn,
  type FacetRow,
  facetRows,
  type QuarterRow,
  quarterRows,
  sessionTotal,
  type ToolCountRow,
  type TotalRow,
  toolCountRows,
  totalRow,
} from './sql/counts.ts'

export const OPEN: Choice<never> = { include: [], exclude: [] }

/** One scan that answers key figures, chart and heatmap. */
export function quartersOf(reader: Reader, filter: Filter): QuarterRow[] {
  return reader.remember('quarters', filter, () => {
    const { counts } = reader.select(filter)
    return reader.all<QuarterRow>(quarterRows(counts), counts.values)
  })
}

/** The same of calls whose rows are kept. */
export function keptQuarters(reader: Reader, filter: Filter): QuarterRow[] {
  if (isNarrow(filter) || removedOf(reader, filter) === 0) return quartersOf(reader, filter)
  return reader.remember('kept quarters', filter, () => {
    const { kept } = reader.select(filter)
    return reader.all<QuarterRow>(quarterRows(kept), kept.values)
  })
}

type ToolDurations = { histogram: Histogram; lastMs: number }

function durationsOf(reader: Reader, filter: Filter): Map<number, ToolDurations> {
  return reader.remember('durations', filter, () => {
    const { calls } = reader.select(filter)
    const tools = new Map<number, ToolDurations>()
    for (const row of reader.all<DurationRow>(durationRows(calls), calls.values)) {
      const known = tools.get(row.tool_id) ?? { histogram: new Map(), lastMs: 0 }
      addToHistogram(known.histogram, row.duration_bin, row.n)
      known.lastMs = Math.max(known.lastMs, row.last_ms)
      tools.set(row.tool_id, known)
    }
    return tools
  })
}

/** How many calls the list under the filter has. */
export function totalOf(reader: Reader, filter: Filter): number {
  return reader.remember('total', filter, () => {
    const { counts } = reader.select(filter)
    return reader.first<TotalRow>(totalRow(counts), counts.values)?.n ?? 0
  })
}

/** How many calls the filter's list has lost: they are counted, and their rows were removed. */
export function removedOf(reader: Reader, filter: Filter): number {
  return reader.remember('removed', filter, () => {
    if (reader.first(ANY_REMOVED) === undefined) return 0
    const { removed } = reader.select(filter)
    return reader.first<TotalRow>(totalRow(removed), removed.values)?.n ?? 0
  })
}

export function impact(reader: Reader, filter: Filter): { calls: number; sessions: number } {
  return { calls: totalOf(reader, filter), sessions: sessionsOf(reader, filter) }
}

function sessionsOf(reader: Reader, filter: Filter): number {
  return reader.remember('sessions', filter, () => {
    const { calls } = reader.select(filter)
    return reader.first<TotalRow>(sessionTotal(calls), calls.values)?.n ?? 0
  })
}

export function keyFigures(reader: Reader, filter: Filter): KeyFigures {
  const total = tallyOf(quartersOf(reader, filter))
  const all = new Map<number, number>()
  for (const { histogram } of durationsOf(reader, filter).values()) {
    for (const [bin, n] of histogram) addToHistogram(all, bin, n)
  }
  return {
    calls: total.calls,
    byOutcome: total.byOutcome,
    hidden: totalOf(reader, rangeOnly(filter)) - total.calls,
    rated: total.rated,
    failures: total.failures,
    failureRate: failureRate(total),
    p50Ms: percentileMs(all, 0.5),
    p95Ms: percentileMs(all, 0.95),
    sessions: sessionsOf(reader, filter),
    removed: removedOf(reader, filter),
  }
}

/** The filter with its range and zone, and nothing else. */
export function rangeOnly(filter: Filter): Filter {
  return {
    ...filter,
    server: OPEN,
    version: OPEN,
    tool: OPEN,
    class: OPEN,
    outcome: OPEN,
    client: OPEN,
    flag: OPEN,
    session: undefined,
    signature: undefined,
    text: undefined,
    timeOfDay: undefined,
    weekdays: [],
  }
}

export function callsOverTime(reader: Reader, filter: Filter, nowMs: number): TimeBucket[] {
  return foldIntoBuckets(quartersOf(reader, filter), filter, nowMs)
}

export function heatmap(reader: Reader, filter: Filter): HeatmapCell[] {
  return foldIntoHeatmap(quartersOf(reader, filter), filter.zone)
}

export function tools(reader: Reader, filter: Filter): ToolRow[] {
  const { counts } = reader.select(filter)
  const durations = durationsOf(reader, filter)
  const tallies = new Map<number, Tally & { lastQuarter: number }>()
  for (const row of reader.all<ToolCountRow>(toolCountRows(counts), counts.values)) {
    const total = tallies.get(row.tool_id) ?? { ...emptyTally(), lastQuarter: 0 }
    tally(total, row)
    total.lastQuarter = Math.max(total.lastQuarter, row.last_quarter)
    tallies.set(row.tool_id, total)
  }
  return [...tallies]
    .map(([id, total]) => toolRow(reader, id, total, durations.get(id)))
    .sort(byNeed)
}

function toolRow(
  reader: Reader,
  id: number,
  total: Tally & { lastQuarter: number },
  durations: ToolDurations | undefined,
): ToolRow {
  const name = reader.names().tools.get(id)
  const histogram = durations?.histogram ?? new Map<number, number>()
  return {
    server: name?.server ?? '',
    tool: name?.name ?? '',
    calls: total.calls,
    byOutcome: total.byOutcome,
    rated: total.rated,
    failures: total.failures,
    failureRate: failureRate(total),
    p50Ms: percentileMs(histogram, 0.5),
    p95Ms: percentileMs(histogram, 0.95),
    p99Ms: percentileMs(histogram, 0.99),
    topClass: topClass(total),
    // Where no row is left the quarter hour is all that is known.
    lastMs: durations?.lastMs ?? total.lastQuarter * QUARTER_MS,
  }
}

/** Most failures first, then most calls, then by name: the order must not depend on the store. */
function byNeed(a: ToolRow, b: ToolRow): number {
  return (
    b.failures - a.failures ||
    b.calls - a.calls ||
    a.server.localeCompare(b.server, 'en') ||
    a.tool.localeCompare(b.tool, 'en')
  )
}

export function facets(reader: Reader, filter: Filter): Facets {
  const { servers, tools: toolNames, clients } = reader.names()
  const facet = (
    name: ChoiceName,
    column: FacetColumn,
    nameOf: (id: number) => string | undefined,
  ) => facetValues(reader, filter, name, column, nameOf)
  return {
    server: facet('server', 'server_id', (id) => servers.get(id)?.name),
    version: facet('version', 'server_id', (id) => servers.get(id)?.version),
    tool: facet('tool', 'tool_id', (id) => toolNames.get(id)?.name),
    class: facet('class', 'class_id', (id) => classOf(id)),
    outcome: facet('outcome', 'outcome_id', (id) => outcomeOf(id)),
    client: facet('client', 'client_id', (id) => clients.get(id)?.name),
  }
}

function facetValues(
  reader: Reader,
  filter: Filter,
  name: ChoiceName,
  column: FacetColumn,
  nameOf: (id: number) => string | undefined,
): FacetValue[] {
  const without: Filter = { ...filter, [name]: OPEN }
  const { counts } = reader.select(without)
  const calls = new Map<string, number>()
  // What is selected stays visible, even where no call is left.
  for (const value of [...filter[name].include, ...filter[name].exclude]) calls.set(value, 0)
  for (const { id, n } of reader.all<FacetRow>(facetRows(counts, column), counts.values)) {
    const value = nameOf(id)
    if (value) calls.set(value, (calls.get(value) ?? 0) + n)
  }
  return [...calls]
    .map(([value, n]) => ({ value, calls: n, selected: stateOf(filter, name, value) }))
    .sort((a, b) => b.calls - a.calls || a.value.localeCompare(b.value, 'en'))
}
