import type { ArgumentIssue, NameAndVersion } from '../../server/call-log/record.ts'

/** Names a record for ever. */
export type Stamp = { w: string; n: number }

/** Who wrote a stamped line, as far as the line says. */
export type WriterFacts = {
  pid: number | undefined
  hostname: string | undefined
  timeMs: number | undefined
}

/** A call, checked and in the units of the table, names not yet replaced by their numbers. */
export type CallFields = {
  startedMs: number
  durationUs: number
  server: NameAndVersion
  tool: string
  client: NameAndVersion | undefined
  session: string | undefined
  outcomeId: number
  classId: number
  flags: number
  argsKey: number | null
  uid: string
  args: string | null
  detail: string
  issues: readonly ArgumentIssue[]
  /** Version and transport; undefined where they are not known or in the detail. */
  protocol: readonly [version: string, transport: string] | undefined
}

/** start, exit, beat … and kinds this version does not know. */
export type EventFields = {
  kind: string
  atMs: number
  /** The record without its envelope. */
  record: Record<string, unknown>
}

/** Why a line was refused. Shown to people; stored as it is. */
export type RefusalReason =
  /** Longer than the limit for a line. */
  | 'too_long'
  /** A hole of zero bytes. */
  | 'nul_run'
  /** UTF-16, or other text that is not UTF-8 from the first byte on. */
  | 'encoding'
  | 'utf8'
  /** Begins like a JSON object and is none. */
  | 'json'
  /** The beginning of a record that another one was written over. */
  | 'torn'
  /** Text of another kind: stack traces, banners. */
  | 'not_json'
  /** JSON, but not an object. */
  | 'shape'
  /** A record of ours without what a record needs. */
  | 'invalid'
  /** Nested too deeply to be stored. */
  | 'depth'
  /** The last line of a closed file, broken off. */
  | 'unterminated'
  /** The database would not take it. */
  | 'unstorable'

export type ParsedLine =
  | { fate: 'call'; stamp: Stamp | undefined; writer: WriterFacts; call: CallFields }
  | { fate: 'event'; stamp: Stamp; writer: WriterFacts; event: EventFields }
  /** A JSON object of another program that is not a call. */
  | { fate: 'foreign' }
  | { fate: 'refused'; reason: RefusalReason; stamp?: Stamp }

/** Takes out secrets, from text by their looks, from data by their keys as well. */
export type LineRedactor = {
  text(text: string): string
  value(value: unknown): unknown
}

export type ParseContext = {
  nowMs: number
  redactor: LineRedactor
  /** Stands in for a server's name in lines that have none. */
  fallbackServer: string
}
