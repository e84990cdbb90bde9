import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Envelope, LogRecord } from '../../server/call-log/record.ts'

export type LoggedRecord = Envelope & LogRecord

/** The files of a log directory, in the order of their numbers. */
export function logFiles(directory: string): string[] {
  const number = (name: string) => Number(name.split('.').at(-2))
  return readdirSync(directory)
    .filter((name) => name.endsWith('.jsonl'))
    .sort((a, b) => number(a) - number(b))
}

/** Every line of every file, parsed; a line that is no JSON fails the test. */
export function readLog(directory: string): LoggedRecord[] {
  return logFiles(directory).flatMap((name) => linesOf(join(directory, name)))
}

export function linesOf(path: string): LoggedRecord[] {
  const text = readFileSync(path, 'utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LoggedRecord)
}

export function ofKind<K extends LogRecord['kind']>(
  records: LoggedRecord[],
  kind: K,
): (Envelope & Extract<LogRecord, { kind: K }>)[] {
  return records.filter(
    (record): record is Envelope & Extract<LogRecord, { kind: K }> => record.kind === kind,
  )
}

/** The numbers that neither a record has nor a `drop` record accounts for. */
export function unexplainedHoles(records: LoggedRecord[]): number[] {
  const numbers = new Set(records.map(({ n }) => n))
  for (const drop of ofKind(records, 'drop')) {
    for (let n = drop.from_n; n <= drop.to_n; n++) numbers.add(n)
  }
  const last = Math.max(0, ...numbers)
  return Array.from({ length: last }, (_, index) => index + 1).filter((n) => !numbers.has(n))
}
