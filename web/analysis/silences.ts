import type { ProcessRow } from '../queries/call-store.ts'

/** Signs of life that may be missing before a process is called silent. */
const MISSED_BEATS = 2.5
/** A process without beats, or with fast ones, is given this long at least. */
const MIN_PATIENCE_MS = 60_000
/** Share of a pause that the event loop must have stood still to be called hung. */
const HUNG_SHARE = 0.5
const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGBREAK', 'SIGQUIT']

export type SilenceKind =
  /** The process ended without a last record; another one of its server came later. */
  | 'killed'
  /** The same, and the machine had been started anew in between. */
  | 'machine_restarted'
  /** No last record and no successor: dead, or its log is no longer read. */
  | 'gone'
  /** It ended with an error of its own. */
  | 'crashed'
  /** It refused to go on: a fatal configuration error. */
  | 'refused'
  /** Beats stopped, and when they came again the event loop had stood still. */
  | 'hung'
  /** Beats stopped and came again, and the event loop had noticed nothing: asleep or stopped. */
  | 'asleep'

export type Silence = {
  kind: SilenceKind
  server: string
  process: ProcessRow
  /** The last sign of life. */
  fromMs: number
  /** The next one of any process of the server; undefined while there is none. */
  toMs: number | undefined
  /** Another process of the server was alive when this one ended: clients of that one noticed nothing. */
  othersAlive: boolean
}

const FATAL_EXIT = 78

/** When servers stopped answering, in order; processes that ended as they were told to are none. */
export function findSilences(processes: readonly ProcessRow[], nowMs: number): Silence[] {
  const silences = processes.flatMap((process) => {
    const siblings = processes.filter(
      (other) => other.server === process.server && other !== process,
    )
    return [...pausesOf(process, siblings), ...endOf(process, siblings, nowMs)]
  })
  return silences.sort((a, b) => a.fromMs - b.fromMs)
}

function pausesOf(process: ProcessRow, siblings: readonly ProcessRow[]): Silence[] {
  return process.pauses.map(({ fromMs, toMs, loopDelayMs }) => {
    const stoodStill = (loopDelayMs ?? 0) >= HUNG_SHARE * (toMs - fromMs)
    return {
      kind: stoodStill ? 'hung' : 'asleep',
      server: process.server,
      process,
      fromMs,
      toMs,
      othersAlive: isAlive(siblings, fromMs),
    }
  })
}

function endOf(process: ProcessRow, siblings: readonly ProcessRow[], nowMs: number): Silence[] {
  const kind = endKind(process, siblings, nowMs)
  if (!kind) return []
  const fromMs = process.exit?.atMs ?? process.lastSeenMs
  const toMs = successor(siblings, fromMs)?.startedMs
  const othersAlive = isAlive(siblings, fromMs)
  return [{ kind, server: process.server, process, fromMs, toMs, othersAlive }]
}

function endKind(
  process: ProcessRow,
  siblings: readonly ProcessRow[],
  nowMs: number,
): SilenceKind | undefined {
  if (process.exit) {
    const { code, reason } = process.exit
    if (code === FATAL_EXIT) return 'refused'
    const wasTold = code === 0 || code === undefined || STOP_SIGNALS.includes(reason ?? '')
    return wasTold ? undefined : 'crashed'
  }
  // A process that never shows signs of life may be alive for all we know.
  if (!process.beatMs) return undefined
  if (nowMs - process.lastSeenMs <= patienceMs(process)) return undefined
  const next = successor(siblings, process.lastSeenMs)
  if (!next) return 'gone'
  const sameHost = next.hostname !== undefined && next.hostname === process.hostname
  const bothKnown = next.bootId !== undefined && process.bootId !== undefined
  return sameHost && bothKnown && next.bootId !== process.bootId ? 'machine_restarted' : 'killed'
}

function patienceMs({ beatMs }: ProcessRow): number {
  return Math.max(MIN_PATIENCE_MS, MISSED_BEATS * (beatMs ?? 0))
}

function successor(siblings: readonly ProcessRow[], afterMs: number): ProcessRow | undefined {
  return siblings
    .filter((other) => other.startedMs !== undefined && other.startedMs >= afterMs)
    .sort((a, b) => (a.startedMs ?? 0) - (b.startedMs ?? 0))[0]
}

/** Some process had begun before and was seen after. */
function isAlive(siblings: readonly ProcessRow[], atMs: number): boolean {
  return siblings.some(
    (other) => (other.startedMs ?? other.lastSeenMs) < atMs && other.lastSeenMs > atMs,
  )
}
