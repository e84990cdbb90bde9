import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CallRecord, Envelope, LogRecord } from '../../server/call-log/record.ts'

export type LoggedRecord = LogRecord & Envelope
export type LoggedCall = CallRecord & Envelope

/** All records in a log directory, file by file; none where it was not made yet. */
export function readRecords(directory: string): LoggedRecord[] {
  if (!existsSync(directory)) return []
  return readdirSync(directory)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .flatMap((name) => readFileSync(join(directory, name), 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

export function readCalls(directory: string): LoggedCall[] {
  return readRecords(directory).filter((record): record is LoggedCall => record.kind === 'call')
}
