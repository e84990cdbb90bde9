import { resolve } from 'node:path'
import type { CrashOrigin } from '../process-end.ts'
import { FileCallLog } from './file-call-log.ts'
import type { Append } from './line-sink.ts'
import type { RetentionLimits } from './log-retention.ts'
import type { OpenJournal } from './open-journal.ts'
import type { BeatRecord, LogRecord, NameAndVersion, StartRecord } from './record.ts'

export type CallLogOptions = {
  directory: string
  server: NameAndVersion
  /** How often a `beat` is written; 0 for never. Default 30 000. */
  beatMs?: number | undefined
  /** Epoch ms: the records' time, and the age of a file. */
  now?: (() => number) | undefined
  /** A file is left before the write that would make it larger. At least 1 MiB; default 64 MiB. */
  maxFileBytes?: number | undefined
  /** A file is left when it is older. Default one day. */
  maxFileAgeMs?: number | undefined
  /** How much of old log files is kept; false to remove none. Default 14 days or 2 GiB. */
  retention?: RetentionLimits | false | undefined
  /** Asked once, when the `start` record is written. */
  tools?: (() => StartRecord['tools']) | undefined
  /** Appends to a file; for tests of full disks. */
  append?: Append | undefined
}

export type CallLog = {
  readonly directory: string
  /** Writes one record. Never throws, never waits for more than one write. */
  record(body: LogRecord): void
  /** Asked at each beat for the calls that are still running, oldest first. */
  onBeat(openCalls: () => BeatRecord['open']): void
  /**
   * Asked when an exception that nobody caught is about to end the process; gives the id of the
   * call that caused it, for the `fatal` record.
   */
  onCrash(guiltyCall: (error: unknown, origin: CrashOrigin) => string | undefined): void
  /**
   * Where calls that are still running are kept, for the case that the process is killed. A call's
   * record closes it here too.
   */
  readonly journal: Pick<OpenJournal, 'opened' | 'closed'>
  /** Called when the process ends, before the `exit` record: the last chance to close calls. */
  onExit(closeCalls: (code: number) => void): void
  /** Ends the log with an `exit` record. A record that comes later opens a new file. */
  close(): void
}

const MIB = 1024 * 1024

/** By directory. On `globalThis`, so that a second copy of this package finds the same writer. */
const REGISTRY = Symbol.for('unsilent.call-logs.1')

function openLogs(): Map<string, CallLog> {
  const holder = globalThis as { [REGISTRY]?: Map<string, CallLog> }
  holder[REGISTRY] ??= new Map()
  return holder[REGISTRY]
}

/**
 * The call log in a directory: one writer for the process, however often it is asked for. A
 * directory that cannot be used is told on stderr, and tried again: the calls go on.
 */
export function openCallLog(options: CallLogOptions): CallLog {
  const { beatMs = 30_000, maxFileBytes = 64 * MIB } = options
  if (!Number.isFinite(beatMs) || beatMs < 0) {
    throw new RangeError(`beatMs must be 0 (never) or a number of milliseconds, not ${beatMs}`)
  }
  if (!(maxFileBytes >= MIB)) {
    throw new RangeError(`maxFileBytes must be at least ${MIB} (1 MiB), not ${maxFileBytes}`)
  }
  const directory = resolve(options.directory)
  const logs = openLogs()
  const known = logs.get(directory)
  if (known) return known
  const log = new FileCallLog({ ...options, directory, beatMs, maxFileBytes }, () => {
    logs.delete(directory)
  })
  logs.set(directory, log)
  return log
}
