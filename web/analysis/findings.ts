import { QUARTER_MS } from '../../ingest/store/schema.ts'
import type { CallStore } from '../queries/call-store.ts'
import {
  type FindingsOptions,
  type FoundAll,
  findAllSteps,
  nothingFound,
  pendingStatus,
} from './find-all.ts'
import type { Finding } from './finding.ts'
import type { Incident } from './incidents.ts'
import type { LoopGroup } from './loop-findings.ts'
import type { Silence } from './silences.ts'
import { runAside, runToEnd } from './steps.ts'
import type { TimeoutWindow } from './timeout-window.ts'

/** Findings are made anew at most this often, and never more than a twentieth of the time. */
const MIN_PAUSE_MS = 5000
const PAUSE_FACTOR = 20
const AFTER_FAULT_MS = 60_000
/** How long requests may have to wait for a slice of the work in the background. */
const SLICE_MS = 20

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
  /** Best grade first, then most calls. Later calls never wait; for the first one see `createFindings`. */
  current(): readonly Finding[]
  windows(): readonly TimeoutWindow[]
  /** Retry loops by tool and class, most wasted calls first. */
  loops(): readonly LoopGroup[]
  /** When servers fell silent, in order. */
  silences(): readonly Silence[]
  /** One-off outages, newest first; of some the recent ones are findings. */
  incidents(): readonly Incident[]
  status(): FindingsStatus
  /** Makes them anew now, if calls came and the pause is over. */
  refresh(): void
  /** After this nothing is computed in the background. */
  close(): void
}

/**
 * Keeps the findings of the last `days` days (28), and makes them anew in the background when
 * somebody asks and new calls have come. The first time they are made at once, which takes a second
 * for 40,000 calls; with `background` they are begun at once and `status().computedMs` is undefined
 * until they are there.
 */
export function createFindings(
  store: CallStore,
  options: FindingsOptions & { background?: boolean | undefined },
): Findings {
  let found: FoundAll | undefined
  let refreshAt = 0
  let running = false
  let closed = false
  const pending = nothingFound(pendingStatus(options.zone), 0)

  function isStale(): boolean {
    if (!found) return true
    if (options.now() < refreshAt) return false
    const quarterIsOver = options.now() - (found.status.range?.toMs ?? 0) >= QUARTER_MS
    return quarterIsOver || store.dataVersion() !== found.version
  }

  function keep(made: FoundAll, tookMs: number): FoundAll {
    made.status.tookMs = tookMs
    refreshAt = options.now() + Math.max(MIN_PAUSE_MS, PAUSE_FACTOR * tookMs)
    found = made
    return made
  }

  function compute(): FoundAll {
    const started = performance.now()
    const made = store.snapshot((snapshot) => runToEnd(findAllSteps(snapshot, options)))
    return keep(made, performance.now() - started)
  }

  /** Nobody waits for this: a database that cannot be read now leaves the old findings, and says so. */
  async function computeAside(): Promise<void> {
    running = true
    const started = performance.now()
    try {
      const steps = findAllSteps(store, options)
      const made = await runAside(steps, { sliceMs: SLICE_MS, isCancelled: () => closed })
      if (made) keep(made, performance.now() - started)
    } catch (error) {
      refreshAt = options.now() + AFTER_FAULT_MS
      const { status } = found ?? pending
      status.problem = error instanceof Error ? error.message : String(error)
    } finally {
      running = false
    }
  }

  function latest(): FoundAll {
    if (!found && !options.background) return compute()
    // Whoever asks gets what there is; the next one gets what this starts.
    if (!running && !closed && isStale()) void computeAside()
    return found ?? pending
  }

  if (options.background) void computeAside()
  return {
    current: () => latest().findings,
    windows: () => latest().windows,
    loops: () => latest().loops,
    silences: () => latest().silences,
    incidents: () => latest().incidents,
    status: () => latest().status,
    refresh: () => {
      if (!running && isStale()) compute()
    },
    close: () => {
      closed = true
    },
  }
}
