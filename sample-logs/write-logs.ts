import { closeSync, mkdirSync, openSync, readdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { LogRecord } from '../server/call-log/record.ts'
import { createRecordLogger } from '../server/call-log/record-logger.ts'

/** A file is left for the next one at about this size, as the live writer does. */
const ROTATE_BYTES = 64 * 1024 * 1024

/** A file's lines are gathered up to here, then written in one go. */
const BUFFER_BYTES = 256 * 1024

export class SampleLogError extends Error {
  override readonly name = 'SampleLogError'
}

export type LogIdentity = {
  server: string
  startMs: number
  pid: number
  hostname: string
  writer: string
}

/** The log of one process: one writer, one file after the other. */
export type ProcessLog = {
  /** Returns the record's number in the writer. */
  log(record: LogRecord, atMs: number): number
  /** Leaves the file for a new one, with a close and an open record. */
  rotate(atMs: number): void
  /** Spends a number on a record that is not written: as if the disk were full. */
  lose(): number
  /** Writes what is gathered and closes the file; nothing may come after it. */
  end(): void
  fileNames(): string[]
}

export type LogDirectory = {
  openLog(identity: LogIdentity): ProcessLog
  files(): string[]
  lines(): number
}

/**
 * Refuses a directory with anything in it: samples mixed with other logs could not be told apart.
 * All writing is synchronous, so a slow disk slows the generator down instead of filling memory.
 */
export function openLogDirectory(directory: string): LogDirectory {
  makeEmpty(directory)
  const paths: string[] = []
  let lines = 0
  return {
    openLog: (identity) =>
      openProcessLog(identity, (name) => {
        const path = join(directory, name)
        paths.push(path)
        const file = openLogFile(path)
        return {
          ...file,
          append(line) {
            lines += 1
            file.append(line)
          },
        }
      }),
    files: () => [...paths],
    lines: () => lines,
  }
}

type LogFile = { append(line: string): void; bytes(): number; close(): void }

function openLogFile(path: string): LogFile {
  const fd = openSync(path, 'wx', 0o600)
  const buffer = Buffer.allocUnsafe(BUFFER_BYTES)
  let used = 0
  let written = 0
  const flush = (): void => {
    writeWhole(fd, buffer.subarray(0, used))
    written += used
    used = 0
  }
  return {
    append(line) {
      // In UTF-8 a UTF-16 unit takes three bytes at most.
      if (line.length * 3 > BUFFER_BYTES - used) flush()
      used += buffer.write(line, used)
    },
    bytes: () => written + used,
    close() {
      flush()
      closeSync(fd)
    },
  }
}

function writeWhole(fd: number, bytes: Buffer): void {
  let done = 0
  while (done < bytes.length) done += writeSync(fd, bytes, done)
}

function openProcessLog(identity: LogIdentity, createFile: (name: string) => LogFile): ProcessLog {
  const names = [fileName(identity, 1)]
  let file = createFile(fileName(identity, 1))
  let nowMs = identity.startMs

  const logger = createRecordLogger({
    now: () => Math.floor(nowMs),
    pid: identity.pid,
    hostname: identity.hostname,
    writer: identity.writer,
    write: (line) => file.append(line),
  })
  const log = (record: LogRecord, atMs: number): number => {
    nowMs = atMs
    return logger.log(record)
  }
  const rotate = (atMs: number): void => {
    const previous = names.at(-1) ?? ''
    const next = fileName(identity, names.length + 1)
    log({ kind: 'close', next_file: next }, atMs)
    file.close()
    file = createFile(next)
    names.push(next)
    log({ kind: 'open', previous_file: previous }, atMs)
  }

  return {
    log(record, atMs) {
      if (file.bytes() >= ROTATE_BYTES) rotate(atMs)
      return log(record, atMs)
    },
    rotate,
    lose: () => logger.skip(),
    end: () => file.close(),
    fileNames: () => [...names],
  }
}

function makeEmpty(directory: string): void {
  let found: string[]
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    found = readdirSync(directory)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new SampleLogError(
      `${directory} cannot be used (${why}): name a directory that can be written.`,
    )
  }
  if (found.length > 0) {
    throw new SampleLogError(
      `${directory} is not empty: name a new or an empty directory, so that nothing is overwritten.`,
    )
  }
}

/** `billing.20260315T000000Z.4121.9f3a1c22.1.jsonl` */
function fileName({ server, startMs, pid, writer }: LogIdentity, number: number): string {
  const stamp = new Date(startMs).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  return `${server}.${stamp}.${pid}.${writer.slice(0, 8)}.${number}.jsonl`
}
