import { QUARTER_MS } from '../../ingest/store/schema.ts'
import type { CallStore } from '../queries/call-store.ts'
import { defaultFilter, type Filter, withRange } from '../queries/filter.ts'
import { addLocalDays, DAY_MS, instantOfWall, wallMs } from '../queries/time-zones.ts'
import { argumentFindings } from './argument-signatures.ts'
import { type Finding, GRADES } from './finding.ts'
import type { FindingsStatus } from './findings.ts'
import { incidentFindings, incidentsIn } from './incident-findings.ts'
import type { Incident } from './incidents.ts'
import { type LoopGroup, loopFindings, loopGroups } from './loop-findings.ts'
import { resultFindings } from './result-findings.ts'
import { silenceFindings, silencesIn } from './silence-findings.ts'
import type { Silence } from './silences.ts'
import type { Steps } from './steps.ts'
import type { TimeoutWindow } from './timeout-window.ts'
import {
  MIN_DAYS,
  MIN_DAYS_FOR_WEEKS,
  type WindowScan,
  windowScanSteps,
} from './timeout-windows.ts'
import { windowFinding } from './window-finding.ts'
import { plural } from './words.ts'

const DEFAULT_DAYS = 28

/** Everything that is found in one go. */
export type FoundAll = {
  findings: Finding[]
  windows: TimeoutWindow[]
  loops: LoopGroup[]
  silences: Silence[]
  incidents: Incident[]
  status: FindingsStatus
  /** Of the data that were looked at. */
  version: number
}

export type FindingsOptions = { zone: string; now(): number; days?: number | undefined }

/** Reads the last days of the store and finds all there is to tell; each step is one piece of it. */
export function* findAllSteps(store: CallStore, options: FindingsOptions): Steps<FoundAll> {
  const { zone } = options
  const nowMs = options.now()
  const version = store.dataVersion()
  const range = rangeOf(store, nowMs, zone, options.days ?? DEFAULT_DAYS)
  if (!range) return nothingFound(emptyStatus(nowMs, zone), version)
  const filter = withRange(defaultFilter({ nowMs, defaultZone: zone }), range.fromMs, range.toMs)
  const live = liveFilter(filter, nowMs)
  const series = store.quarterSeries(filter)
  yield
  const scan = yield* windowScanSteps(series, { range, zone })
  const loops = loopGroups(store, live, nowMs)
  yield
  const silences = silencesIn(store, live, nowMs)
  const incidents = incidentsIn(store, filter, series, scan.windows)
  yield
  const findings = scan.windows.map((window) => windowFinding(window, store, nowMs))
  yield
  findings.push(...argumentFindings(store, live, nowMs))
  yield
  findings.push(...resultFindings(store, live, nowMs))
  yield
  findings.push(
    ...loopFindings(loops, store, live, nowMs),
    ...silenceFindings(silences, store, live, nowMs),
    ...incidentFindings(incidents, store, filter, nowMs),
  )
  const calls = store.calls(filter, { limit: 1 }).total
  const status = statusOf(scan, { nowMs, zone, range, calls })
  const { windows } = scan
  return { findings: findings.sort(byGrade), windows, loops, silences, incidents, status, version }
}

export function nothingFound(status: FindingsStatus, version: number): FoundAll {
  return { findings: [], windows: [], loops: [], silences: [], incidents: [], status, version }
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

/** Before anything has been looked at. */
export function pendingStatus(zone: string): FindingsStatus {
  return {
    ...emptyStatus(0, zone),
    computedMs: undefined,
    tested: 'The calls are being looked at; findings will be here in some seconds.',
    missing: undefined,
  }
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
