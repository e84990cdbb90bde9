import { randomBytes } from 'node:crypto'
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { type CrashOrigin, watchProcessEnd } from '../process-end.ts'
import { tellOperator } from '../stderr.ts'
import type { BeatRecord, LogRecord, NameAndVersion, StartRecord } from './record.ts'
import { createRecordLogger } from './record-logger.ts'

export type CallLogOptions = {
  directory: string
  server: NameAndVersion
  /** How often a `beat` is written; 0 for never. Default 30 000. */
  beatMs?: number | undefined
  /** Epoch ms. */
  now?: (() => number) | undefined
  /** Default 64 MiB. */
  maxFileBytes?: number | undefined
  /** Asked once, when the `start` record is written. */
  tools?: (() => StartRecord['tools']) | undefined
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
  /** Called when the process ends, before the `exit` record: the last chance to close calls. */
  onExit(closeCalls: (code: number) => void): void
  /** Ends the log. A record that comes later opens a new file. */
  close(): void
}

export function openCallLog(options: CallLogOptions): CallLog {
  const directory = resolve(options.directory)
  const now = options.now ?? Date.now
  let fd: number | undefined
  const logger = createRecordLogger({
    now,
    pid: process.pid,
    hostname: hostname(),
    writer: randomBytes(16).toString('hex'),
    write(line) {
      if (fd === undefined) {
        mkdirSync(directory, { recursive: true, mode: 0o700 })
        fd = openSync(join(directory, `${options.server.name}.${process.pid}.jsonl`), 'a', 0o600)
      }
      writeSync(fd, line)
    },
  })
  let exits: ((code: number) => void)[] = []
  watchProcessEnd({
    onExit(code) {
      for (const each of exits) each(code)
    },
  })
  return {
    directory,
    record(body) {
      try {
        logger.log(body)
      } catch (error) {
        tellOperator(`cannot write the call log: ${String(error)}`)
      }
    },
    onBeat() {
      return
    },
    onCrash() {
      return
    },
    onExit(closeCalls) {
      exits = [...exits, closeCalls]
    },
    close() {
      if (fd !== undefined) closeSync(fd)
      fd = undefined
    },
  }
}
