import { readFileSync } from 'node:fs'
import { hostname, uptime } from 'node:os'
import { bootId, pidNamespace } from '../server/call-log/host.ts'
import type { OpenJournalHeader } from '../server/call-log/open-journal.ts'

/** What is known here of processes. A test brings its own. */
export type Host = {
  name: string
  bootId: string | undefined
  pidNamespace: string | undefined
  /** Epoch ms. */
  bootedMs(): number
  /** Epoch ms at which it began; 'unknown' where only its life is known, undefined if it is gone. */
  startOf(pid: number): number | 'unknown' | undefined
}

/** What a writer has left behind. */
export type WriterTraces = {
  header: OpenJournalHeader
  /** As its records have it. */
  hostname: string | undefined
  /** 0 or undefined: it shows no regular sign of life. */
  beatMs: number | undefined
  /** Its newest record is `exit`. */
  exited: boolean
  /** Epoch ms: the newest record, or the newest write to its files by their clock. */
  lastSignMs: number
}

export type Death = 'exited' | 'rebooted' | 'gone' | 'silent'

const QUIET_BEATS = 3
const QUIET_MS = 90_000
/** Where nothing but silence can tell: it may be a laptop that sleeps. */
const LONG_QUIET_BEATS = 20
const LONG_QUIET_MS = 10 * 60_000
const DAY_MS = 24 * 3600_000

/**
 * Whether a writer is gone, and how that is known; undefined while it may be alive. In doubt it is
 * alive: a call that waits to be closed costs less than one that is closed while it runs.
 */
export function deathOf(traces: WriterTraces, host: Host, nowMs: number): Death | undefined {
  const { header, exited } = traces
  if (exited) return 'exited'
  switch (placeOf(traces, host)) {
    case 'here': {
      const startMs = host.startOf(header.pid)
      if (startMs === undefined) return 'gone'
      return isOther(startMs, header) && isQuiet(traces, nowMs) ? 'gone' : undefined
    }
    // Perhaps in a container that goes by the host's name: its pids would mean nothing here.
    case 'probably_here': {
      const startMs = host.startOf(header.pid)
      if (startMs !== undefined && !isOther(startMs, header)) return undefined
      return isQuiet(traces, nowMs) ? 'gone' : undefined
    }
    case 'earlier_boot':
      return traces.lastSignMs < host.bootedMs() ? 'rebooted' : undefined
    case 'elsewhere':
      return isLongQuiet(traces, nowMs) ? 'silent' : undefined
  }
}

function placeOf(
  { header, hostname }: WriterTraces,
  host: Host,
): 'here' | 'probably_here' | 'earlier_boot' | 'elsewhere' {
  const bootsKnown = header.boot_id !== undefined && host.bootId !== undefined
  const namespacesKnown = header.pid_ns !== undefined && host.pidNamespace !== undefined
  if (bootsKnown && header.boot_id !== host.bootId) {
    return hostname === host.name ? 'earlier_boot' : 'elsewhere'
  }
  if (bootsKnown && namespacesKnown) {
    return header.pid_ns === host.pidNamespace ? 'here' : 'elsewhere'
  }
  return hostname === host.name ? 'probably_here' : 'elsewhere'
}

const SLACK_MS = 2_000

/** The pid belongs to a process that began after the writer had begun. */
function isOther(startMs: number | 'unknown', { started }: OpenJournalHeader): boolean {
  return startMs !== 'unknown' && startMs > started + SLACK_MS
}

function isQuiet({ beatMs, lastSignMs }: WriterTraces, nowMs: number): boolean {
  return nowMs - lastSignMs > Math.max(QUIET_MS, (beatMs ?? 0) * QUIET_BEATS)
}

function isLongQuiet({ beatMs, lastSignMs }: WriterTraces, nowMs: number): boolean {
  const quietMs = beatMs ? Math.max(LONG_QUIET_MS, beatMs * LONG_QUIET_BEATS) : DAY_MS
  return nowMs - lastSignMs > quietMs
}

export const realHost: Host = {
  name: hostname(),
  bootId: bootId(),
  pidNamespace: pidNamespace(),
  bootedMs: () => Date.now() - uptime() * 1000,
  startOf(pid) {
    if (!Number.isSafeInteger(pid) || pid < 1) return 'unknown'
    return process.platform === 'linux' ? startOnLinux(pid) : lifeOf(pid)
  },
}

function lifeOf(pid: number): 'unknown' | undefined {
  try {
    process.kill(pid, 0)
    return 'unknown'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH' ? undefined : 'unknown'
  }
}

/** Linux counts them so for every program, whatever its own clock does. */
const TICKS_A_SECOND = 100

function startOnLinux(pid: number): number | 'unknown' | undefined {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    // /proc may hide other users' processes.
    return lifeOf(pid)
  }
  // The name in parentheses may hold anything; the state is the third field, the start the 22nd.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  // Ended, and only waits to be collected by its parent.
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined
  const ticks = Number(fields[19])
  return Number.isFinite(ticks)
    ? Date.now() - uptime() * 1000 + (ticks / TICKS_A_SECOND) * 1000
    : 'unknown'
}
