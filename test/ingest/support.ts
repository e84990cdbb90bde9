import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { resolveRoots } from '../../ingest/discovery.ts'
import { type FilePort, realFiles } from '../../ingest/file-port.ts'
import type { Poll } from '../../ingest/poll.ts'
import { type IngestSummary, runIngest } from '../../ingest/run-ingest.ts'
import { checkInvariants } from '../../ingest/store/check-invariants.ts'
import type { Database } from '../../ingest/store/load-sqlite.ts'
import { openReader, openWriter } from '../../ingest/store/open-database.ts'
import { Tailer } from '../../ingest/tail.ts'
import type { TailLimits } from '../../ingest/tail-limits.ts'
import type { Host } from '../../ingest/writer-liveness.ts'
import type { CallRecord, LogRecord } from '../../server/call-log/record.ts'
import { createRecordLogger } from '../../server/call-log/record-logger.ts'

// The redactor's key must not be made in the home of whoever runs the tests.
process.env.UNSILENT_HOME ??= mkdtempSync(join(tmpdir(), 'unsilent-home-'))

/** A moment all tests share: 2026-03-10T12:00:00Z. */
export const NOON = Date.UTC(2026, 2, 10, 12)

export type World = {
  directory: string
  logs: string
  databasePath: string
  /** A path in the log directory. */
  log(name: string): string
}

export function createWorld(): World {
  const directory = mkdtempSync(join(tmpdir(), 'unsilent-ingest-'))
  const logs = join(directory, 'logs')
  mkdirSync(logs)
  return {
    directory,
    logs,
    databasePath: join(directory, 'unsilent.db'),
    log: (name) => join(logs, name),
  }
}

export function callRecord(changes: Partial<CallRecord> = {}): CallRecord {
  return {
    kind: 'call',
    server: { name: 'invoices', version: '1.0.0' },
    call: 'c-1',
    tool: 'get_invoice',
    request: 1,
    started: NOON,
    duration_ms: 12.5,
    outcome: 'succeeded',
    attempts: [{ ms: 12 }],
    args: { id: 7 },
    ...changes,
  }
}

/** Makes lines as a server would write them. */
export function createLines(writer = 'a'.repeat(32), timeMs = NOON) {
  let last = ''
  const logger = createRecordLogger({
    write: (line) => {
      last = line
    },
    now: () => timeMs,
    pid: 4711,
    hostname: 'host-a',
    writer,
  })
  return {
    line(record: LogRecord): string {
      logger.log(record)
      return last
    },
    /** A call whose id is its sequence number's text. */
    call(changes: Partial<CallRecord> = {}): string {
      const n = logger.log({ kind: 'exit', code: 0 })
      const stamped = createStampedLine(
        writer,
        n,
        timeMs,
        callRecord({ call: `c-${n}`, ...changes }),
      )
      return stamped
    },
  }
}

/** One line with a chosen number. */
export function createStampedLine(
  writer: string,
  n: number,
  timeMs: number,
  record: LogRecord,
): string {
  const envelope = { level: 30, time: timeMs, pid: 4711, hostname: 'host-a', v: 1, w: writer, n }
  return `${JSON.stringify({ ...envelope, ...record })}\n`
}

/** An unstamped line of a program that uses pino, each with its own id. */
export function foreignCall(id: string, changes: Record<string, unknown> = {}): string {
  return `${JSON.stringify({
    level: 30,
    time: NOON,
    tool: 'search',
    call_id: id,
    duration_ms: 3,
    outcome: 'ok',
    ...changes,
  })}\n`
}

export async function ingestOnce(
  world: World,
  options: { limits?: Partial<TailLimits>; now?: () => number; roots?: string[] } = {},
): Promise<IngestSummary> {
  return runIngest({
    roots: options.roots ?? [world.logs],
    databasePath: world.databasePath,
    once: true,
    now: options.now ?? (() => NOON + 60_000),
    ...(options.limits ? { limits: options.limits } : {}),
  })
}

export type TestTailer = {
  clock: { nowMs: number }
  database: Database
  poll(): Poll
  /** Polls until nothing changes any more. */
  settle(): void
  /** The same, compressed files included. */
  settleArchives(): Promise<void>
  /** As a killed process would leave it: nothing is flushed or said. */
  stop(): void
}

/** A tailer whose looks and clock the test decides. */
export function createTailer(
  world: World,
  options: {
    files?: FilePort
    rootFiles?: FilePort
    limits?: Partial<TailLimits>
    roots?: string[]
    host?: Host
  } = {},
): TestTailer {
  const files = options.files ?? realFiles
  const clock = { nowMs: NOON + 60_000 }
  const database = openWriter(world.databasePath)
  const tailer = new Tailer({
    files,
    roots: resolveRoots(options.roots ?? [world.logs], options.rootFiles ?? files),
    now: () => clock.nowMs,
    unpackDirectory: world.directory,
    redactor: { text: (text) => text, value: (value) => value },
    limits: { pollBudgetMs: 60_000, ...options.limits },
    ...(options.host ? { host: options.host } : {}),
  })
  tailer.attach(database)
  return {
    clock,
    database,
    poll(): Poll {
      clock.nowMs += 500
      return tailer.poll()
    },
    settle(): void {
      for (let looks = 0; looks < 5; looks += 1) this.poll()
    },
    async settleArchives(): Promise<void> {
      for (let looks = 0; looks < 30; looks += 1) {
        const { caughtUp } = this.poll()
        if (caughtUp && looks > 3) return
        await tailer.unpackNext()
      }
    },
    stop(): void {
      tailer.close()
      database.close()
    },
  }
}

export function withReader<T>(world: World, read: (database: Database) => T): T {
  const database = openReader(world.databasePath)
  try {
    return read(database)
  } finally {
    database.close()
  }
}

/** Ids of all stored calls, sorted. */
export function storedCalls(database: Database): string[] {
  return database.prepare('SELECT uid FROM call_text ORDER BY uid').pluck().all() as string[]
}

export function quarantined(
  database: Database,
): { reason: string; lines: number; bytes: number }[] {
  return database
    .prepare(
      'SELECT reason, lines, length_bytes AS bytes FROM quarantine ORDER BY stream_id, line_offset',
    )
    .all() as { reason: string; lines: number; bytes: number }[]
}

export function assertSound(database: Database): void {
  assert.deepEqual(checkInvariants(database), [])
}

export function assertWorldSound(world: World): void {
  withReader(world, assertSound)
}

export function append(path: string, ...parts: (string | Buffer)[]): void {
  for (const part of parts) appendFileSync(path, part)
}
