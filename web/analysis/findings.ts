import { QUARTER_MS } from '../../ingest/store/schema.ts'
import type { CallStore } from '../queries/call-store.ts'
import { defaultFilter, type Filter, withRange } from '../queries/filter.ts'
import { addLocalDays, DAY_MS, instantOfWall, wallMs } from '../queries/time-zones.ts'
import { argumentFindings } from './argument-signatures.ts'
import { type Finding, GRADES } from './finding.ts'
import { incidentFindings, incidentsIn } from './incident-findings.ts'
import type { Incident } from './incidents.ts'
import { type LoopGroup, loopFindings, loopGroups } from './loop-findings.ts'
import { silenceFindings, silencesIn } from './silence-findings.ts'
import type { Silence } from './silences.ts'
import type { TimeoutWindow } from './timeout-window.ts'
import {
  findTimeoutWindows,
  MIN_DAYS,
  MIN_DAYS_FOR_WEEKS,
  type WindowScan,
} from './timeout-windows.ts'
import { windowFinding } from './window-finding.ts'
import { plural } from './words.ts'

const DEFAULT_DAYS = 28
/** Findings are made anew at most this often, and never more than a twentieth of the time. */
const MIN_PAUSE_MS = 5000
const PAUSE_FACTOR = 20
const AFTER_FAULT_MS = 60_000

export type FindingsStatus = {
  /** When the findings were made; undefined before the first time. */
  computedMs: number | undefined
  tookMs: number
  zone: string
  /** What was looked at, up to the last full quarter hour; undefined without any call. */
  range: { fromMs: number; toMs: number } | undefined
  daysOfData: number
  calls: number
  /** Tool × class series that were scanned, and why others were not. */
  seriesTested: number
  seriesTooFew: number
  seriesTooYoung: number
  scans: number
  /** What was tested on how much data, in a sentence or two: for "nothing found" as well. */
  tested: string
  /** What is missing for findings that need more days; undefined where nothing is. */
  missing: string | undefined
  /** Why the findings could not be made anew, where they are old for that reason. */
  problem: string | undefined
}

export type Findings = {
  /** Best grade first, then most calls. Made on the first call; later ones never wait. */
  current(): readonly Finding[]
  windows(): readonly TimeoutWindow[]
  /** Retry loops by tool and class, most wasted calls first. */
  loops(): readonly LoopGroup[]
  /** When servers fell silent, in order. */
  silences(): readonly Silence[]
  /** One-off outages, newest first; of some the recent ones are findings. */
  incidents(): readonly Incident[]
  status(): FindingsStatus
  /** Makes them anew if calls came and the pause is over: for a timer of the owner's. */
  refresh(): void
  /** After this nothing is computed in the background. */
  close(): void
}

type Answer = {
  findings: Finding[]
  windows: TimeoutWindow[]
  loops: LoopGroup[]
  silences: Silence[]
  incidents: Incident[]
  status: FindingsStatus
  version: number
}

/**
 * Keeps the findings of the last `days` days, and makes them anew in the background when somebody
 * asks and new calls have come.
 */
export function createFindings(
  store: CallStore,
  options: { zone: string; now(): number; days?: number | undefined },
): Findings {
  let answer: Answer | undefined
  let refreshAt = 0
  let timer: NodeJS.Timeout | undefined
  let closed = false

  function isStale(): boolean {
    if (!answer) return true
    if (closed || options.now() < refreshAt) return false
    const quarterIsOver = options.now() - (answer.status.range?.toMs ?? 0) >= QUARTER_MS
    return quarterIsOver || store.dataVersion() !== answer.version
  }

  function compute(): Answer {
    const started = performance.now()
    const made = store.snapshot((snapshot) => makeFindings(snapshot, options))
    made.status.tookMs = performance.now() - started
    refreshAt = options.now() + Math.max(MIN_PAUSE_MS, PAUSE_FACTOR * made.status.tookMs)
    answer = made
    return made
  }

  /** Nobody waits for this: a database that cannot be read now leaves the old findings, and says so. */
  function computeAside(): void {
    try {
      compute()
    } catch (error) {
      refreshAt = options.now() + AFTER_FAULT_MS
      if (answer) answer.status.problem = error instanceof Error ? error.message : String(error)
    }
  }

  function latest(): Answer {
    if (!answer) return compute()
    // Whoever asks gets what there is; the next one gets what this starts.
    if (!timer && isStale()) {
      timer = setTimeout(() => {
        timer = undefined
        if (!closed && isStale()) computeAside()
      }, 0)
      timer.unref()
    }
    return answer
  }

  return {
    current: () => latest().findings,
    windows: () => latest().windows,
    loops: () => latest().loops,
    silences: () => latest().silences,
    incidents: () => latest().incidents,
    status: () => latest().status,
    refresh: () => {
      if (isStale()) compute()
    },
    close: () => {
      closed = true
      clearTimeout(timer)
    },
  }
}

function makeFindings(
  store: CallStore,
  options: { zone: string; now(): number; days?: number | undefined },
): Answer {
  const { zone } = options
  const nowMs = options.now()
  const version = store.dataVersion()
  const range = rangeOf(store, nowMs, zone, options.days ?? DEFAULT_DAYS)
  if (!range) {
    return {
      findings: [],
      windows: [],
      loops: [],
      silences: [],
      incidents: [],
      status: emptyStatus(nowMs, zone),
      version,
    }
  }
  const filter = withRange(defaultFilter({ nowMs, defaultZone: zone }), range.fromMs, range.toMs)
  const live = liveFilter(filter, nowMs)
  const series = store.quarterSeries(filter)
  const scan = findTimeoutWindows(series, { range, zone })
  const loops = loopGroups(store, live, nowMs)
  const silences = silencesIn(store, live, nowMs)
  const incidents = incidentsIn(store, filter, series, scan.windows)
  const findings = [
    ...scan.windows.map((window) => windowFinding(window, store, nowMs)),
    ...argumentFindings(store, live, nowMs),
    ...loopFindings(loops, store, live, nowMs),
    ...silenceFindings(silences, store, live, nowMs),
    ...incidentFindings(incidents, store, filter, nowMs),
  ]
  const { calls } = store.impact(filter)
  const status = statusOf(scan, { nowMs, zone, range, calls })
  const { windows } = scan
  return { findings: findings.sort(byGrade), windows, loops, silences, incidents, status, version }
}

/** Up to this moment: signatures need not wait for the quarter hour to be full. */
function liveFilter(filter: Filter, nowMs: number): Filter {
  return withRange(filter, filter.fromMs, Math.max(filter.toMs, nowMs))
}

/** Whole local days back from now, not before the first call; the filling quarter is left out. */
function rangeOf(
  store: CallStore,
  nowMs: number,
  zone: string,
  days: number,
): { fromMs: number; toMs: number } | undefined {
  const extent = store.extent()
  if (!extent) return undefined
  const midnight = instantOfWall(zone, Math.floor(wallMs(zone, nowMs) / DAY_MS) * DAY_MS)
  const firstQuarter = Math.floor(extent.firstMs / QUARTER_MS) * QUARTER_MS
  const fromMs = Math.max(addLocalDays(zone, midnight, -days), firstQuarter)
  const toMs = Math.floor(nowMs / QUARTER_MS) * QUARTER_MS
  return fromMs < toMs ? { fromMs, toMs } : undefined
}

/** A server that falls silent concerns all its tools; its last calls say nothing of its weight. */
function byGrade(a: Finding, b: Finding): number {
  return (
    GRADES.indexOf(a.grade) - GRADES.indexOf(b.grade) ||
    Number(b.kind === 'silence') - Number(a.kind === 'silence') ||
    b.impact.calls - a.impact.calls ||
    (a.id < b.id ? -1 : 1)
  )
}

function emptyStatus(nowMs: number, zone: string): FindingsStatus {
  return {
    computedMs: nowMs,
    tookMs: 0,
    zone,
    range: undefined,
    daysOfData: 0,
    calls: 0,
    seriesTested: 0,
    seriesTooFew: 0,
    seriesTooYoung: 0,
    scans: 0,
    tested: 'Nothing was tested: there are no calls in the range yet.',
    missing: missingText(0),
    problem: undefined,
  }
}

function statusOf(
  scan: WindowScan,
  facts: {
    nowMs: number
    zone: string
    range: { fromMs: number; toMs: number }
    calls: number
  },
): FindingsStatus {
  const { nowMs, zone, range, calls } = facts
  const daysOfData = (range.toMs - range.fromMs) / DAY_MS
  const { seriesTested, seriesTooFew, seriesTooYoung, scans } = scan
  return {
    computedMs: nowMs,
    tookMs: 0,
    zone,
    range,
    daysOfData,
    calls,
    seriesTested,
    seriesTooFew,
    seriesTooYoung,
    scans,
    tested: testedText(scan, daysOfData, calls),
    missing: missingText(daysOfData),
    problem: undefined,
  }
}

function testedText(scan: WindowScan, daysOfData: number, calls: number): string {
  const { seriesTested, seriesTooFew, seriesTooYoung } = scan
  const data = `${plural(calls, 'call')} of ${plural(Math.floor(daysOfData), 'full day')}`
  const skipped = [
    seriesTooFew > 0 ? `${seriesTooFew} failed on fewer than three days` : '',
    seriesTooYoung > 0 ? `${seriesTooYoung} belong to tools called for less than a week` : '',
  ].filter((text) => text !== '')
  const rest = skipped.length > 0 ? ` Not tested: ${skipped.join(', ')}.` : ''
  return `Tested ${plural(seriesTested, 'pair')} of tool and error class for failures that recur at a time of the day or week, on ${data}.${rest}`
}

function missingText(daysOfData: number): string | undefined {
  const left = (days: number) => plural(Math.ceil(days - daysOfData), 'more day')
  if (daysOfData < MIN_DAYS) {
    return `Daily windows need ${MIN_DAYS} days of calls: ${left(MIN_DAYS)}; weekly ones need ${MIN_DAYS_FOR_WEEKS}.`
  }
  if (daysOfData < MIN_DAYS_FOR_WEEKS) {
    return `Weekly windows need ${MIN_DAYS_FOR_WEEKS} days of calls: ${left(MIN_DAYS_FOR_WEEKS)}.`
  }
  return undefined
}
