import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { CallRecord, Envelope, LogRecord } from '../../server/call-log/record.ts'

export const samplesFolder = join(
  dirname(dirname(dirname(fileURLToPath(import.meta.url)))),
  'sample-logs',
)
export const smallFolder = join(samplesFolder, 'small')
export const hostilePath = join(samplesFolder, 'hostile.jsonl')

export type Line = Envelope & LogRecord
export type CallLine = Envelope & CallRecord

export type LogFile = { name: string; text: string; lines: Line[] }

export function readLogFiles(directory: string): LogFile[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .map((name) => {
      const text = readFileSync(join(directory, name), 'utf8')
      const lines = text
        .split('\n')
        .slice(0, -1)
        .map((line): Line => JSON.parse(line))
      return { name, text, lines }
    })
}

export function linesOf(files: readonly LogFile[]): Line[] {
  return files.flatMap(({ lines }) => lines)
}

export function callsIn(lines: readonly Line[]): CallLine[] {
  return lines.filter((line): line is CallLine => line.kind === 'call')
}

/** The calls of each session, by the time of their start. */
export function bySession(calls: readonly CallLine[]): CallLine[][] {
  const sessions = new Map<string, CallLine[]>()
  for (const call of [...calls].sort((one, other) => one.started - other.started)) {
    const session = sessions.get(call.session ?? '')
    if (session) session.push(call)
    else sessions.set(call.session ?? '', [call])
  }
  return [...sessions.values()]
}

export function countBy<T>(values: readonly T[], key: (value: T) => string | undefined) {
  const counts: Record<string, number> = {}
  for (const value of values) {
    const name = key(value)
    if (name !== undefined) counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

/** A folder that is gone when the test is. */
export function temporaryFolder(test: { after(done: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'unsilent-samples-'))
  test.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
