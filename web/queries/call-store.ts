import type { ErrorClass, Outcome } from '../../server/call-log/record.ts'
import type { Interval } from '../analysis/statistics.ts'
import type { Filter } from './filter.ts'

/**
 * The questions that pages, commands and MCP answers ask. Each takes one filter value and returns
 * plain rows; SQL stays behind this type, so that another store can stand in for SQLite.
 *
 * Every number comes from here, once. `calls(filter)` lists exactly the calls that the counts under
 * the same filter counted: ranges and times of day are snapped to quarter hours for that reason.
 * All times are epoch ms, durations ms, and `undefined` means "not known", never zero.
 */
export type CallStore = {
  /** Totals under the filter, and how many calls the filter hides. */
  keyFigures(filter: Filter): KeyFigures
  /** How many calls, in how many sessions: cheaper than keyFigures. */
  impact(filter: Filter): { calls: number; sessions: number }
  /** Counts a bucket of `bucketMs` (a multiple of 15 minutes), by outcome, buckets in order, none left out. */
  callsOverTime(filter: Filter): TimeBucket[]
  /** One row a tool, most failures first. */
  tools(filter: Filter): ToolRow[]
  /** Hour by weekday in the filter's zone: 168 cells, Monday 00:00 first. */
  heatmap(filter: Filter): HeatmapCell[]
  /** Values of each dimension with their counts, each counted without its own part of the filter. */
  facets(filter: Filter): Facets
  /**
   * Newest first; `limit` from 1 to 500. `cursor` is the `next` of the page before; another one
   * throws InvalidCursorError.
   */
  calls(filter: Filter, page: { limit: number; cursor?: string | undefined }): CallPage
  /** One call in full, with its neighbours in the session; undefined if there is none. */
  call(id: number): CallDetail | undefined
  /** Counts a quarter hour for each tool × class: what the timeout scan reads. */
  quarterSeries(filter: Filter): QuarterSeries[]
  /** Recurring malformed arguments, most sessions first. */
  signatures(filter: Filter): SignatureRow[]
  /**
   * Which wrong names came in the same calls as which missing parameters: "sent X where Y was
   * required", even where the names have nothing in common. Most sessions first.
   */
  wrongNames(filter: Filter): WrongNameRow[]
  /**
   * Every call of the sessions in which one tool failed at least three times with the same
   * arguments, session by session, in order; an hour more than the range on each side. Of the
   * filter only the range counts.
   */
  repeatingSessions(filter: Filter): SessionCall[]
  /** Calls that succeeded, a row for each tool and UTC day: how many were empty, or look like errors. */
  resultDays(filter: Filter): ResultDay[]
  /** Processes that wrote a log and were seen in the range, in order of their start. */
  processes(range: { fromMs: number; toMs: number }): ProcessRow[]
  /** Handlers that ended after their call was closed, by the time of their end, in order. */
  lateEndings(range: { fromMs: number; toMs: number }): LateEnding[]
  /** Start times of the newest calls under the filter, at most `limit`, newest first. */
  startTimes(filter: Filter, limit: number): number[]
  /** What has been read, what was refused, and how old the newest is. */
  ingestHealth(): IngestHealth
  /** Grows whenever rows, refused lines or events came or went. Only comparable within one store. */
  dataVersion(): number
  /** Started time of the first and of the last call, to the quarter hour where it is only counted. */
  extent(): { firstMs: number; lastMs: number } | undefined
  /** Several questions about one state of the data, so that the numbers of a page fit together. */
  snapshot<Answer>(questions: (store: CallStore) => Answer): Answer
  close(): void
}

export type OutcomeCounts = Record<Outcome, number>

export type KeyFigures = {
  calls: number
  byOutcome: OutcomeCounts
  /** Calls the filter hides: all calls of the range less `calls`. */
  hidden: number
  /** Calls that count for the rate: without deferred and cancelled ones. */
  rated: number
  failures: number
  /** failures ÷ rated with its Wilson 95 % interval; undefined where rated is 0. */
  failureRate: { rate: number; interval: Interval } | undefined
  p50Ms: number | undefined
  p95Ms: number | undefined
  /** Distinct sessions; where the transport has none (stdio), a server's process stands for one. */
  sessions: number
  /**
   * Of `calls`, those whose rows were removed for their age or for space: durations and sessions
   * are of the others. Under a narrow filter (session, signature, text, marks) `calls` are of rows
   * alone, and this says how many might have been among them.
   */
  removed: number
}

export type TimeBucket = {
  startMs: number
  /** Exclusive. Days of 23 and 25 hours are real days. */
  endMs: number
  byOutcome: OutcomeCounts
  byClass: Partial<Record<ErrorClass, number>>
  /** True for the bucket that is still filling; leave it out of rates. */
  unfinished: boolean
}

export type ToolRow = {
  server: string
  tool: string
  calls: number
  byOutcome: OutcomeCounts
  rated: number
  failures: number
  failureRate: { rate: number; interval: Interval } | undefined
  p50Ms: number | undefined
  p95Ms: number | undefined
  p99Ms: number | undefined
  /** The class with most failures; undefined where there are none. */
  topClass: ErrorClass | undefined
  /** Where no row of it is left, the start of the quarter hour. */
  lastMs: number
}

export type HeatmapCell = {
  /** 1 = Monday … 7 = Sunday (ISO 8601), in the filter's zone. */
  weekday: number
  hour: number
  rated: number
  failures: number
}

export type FacetValue = {
  value: string
  calls: number
  selected: 'include' | 'exclude' | undefined
}

export type Facets = {
  server: FacetValue[]
  version: FacetValue[]
  tool: FacetValue[]
  class: FacetValue[]
  outcome: FacetValue[]
  client: FacetValue[]
}

export type CallRow = {
  id: number
  uid: string
  startedMs: number
  durationMs: number
  server: string
  serverVersion: string
  tool: string
  client: string | undefined
  session: string | undefined
  outcome: Outcome
  class: ErrorClass | undefined
  errorMessage: string | undefined
  attempts: number
  flags: { empty: boolean; suspect: boolean; dropped: boolean; undelivered: boolean }
  /** The exact JSON text of the arguments. */
  args: string | undefined
}

export type CallPage = {
  rows: CallRow[]
  total: number
  /** As in KeyFigures: of `total`, or under a narrow filter beside it. */
  removed: number
  next: string | undefined
  /** Where a text was searched for: how far back, in how many of the rows of the other filters. */
  search: { fromMs: number; searched: number; calls: number } | undefined
}

export type CallDetail = CallRow & {
  clientVersion: string | undefined
  /** The rest of the record, parsed: see call_text.detail in ingest/store/schema.ts. */
  detail: Record<string, unknown>
  file: string
  lineOffset: number
  writer: string
  n: number
  /** What became of its handler after the call was closed: none for nearly all calls. */
  late: Pick<LateEnding, 'ms' | 'outcome'>[]
  /** Up to 5 calls before and 5 after in the same session, in order. */
  neighbours: CallRow[]
}

export type QuarterSeries = {
  server: string
  tool: string
  class: ErrorClass
  /** In order; quarters without a call of the tool are left out. */
  quarters: { quarter: number; calls: number; failures: number }[]
}

export type SignatureRow = {
  fingerprint: string
  server: string
  tool: string
  code: string
  path: string
  subtype: string | undefined
  expected: string | undefined
  received: string | undefined
  suggest: string | undefined
  calls: number
  /** Of `calls`, those that failed. The others succeeded without the argument that was dropped. */
  failures: number
  /** Distinct sessions, as in KeyFigures. */
  sessions: number
  clients: string[]
  /** Of all calls of the tool in the range; from 100,000 calls on an estimate by the newest ones. */
  toolCalls: number
  /** Sessions that called the tool in the range, estimated likewise: what `sessions` is measured by. */
  toolSessions: number
  firstMs: number
  lastMs: number
  /** A recent call to look at. */
  sampleCallId: number
  sampleArgs: string | undefined
}

export type ResultDay = {
  server: string
  tool: string
  /** Days since 1970-01-01 UTC. */
  day: number
  calls: number
  empty: number
  suspect: number
}

/** One process of a server, as its own records tell. */
export type ProcessRow = {
  /** `w` of its records. */
  writer: string
  /** Empty where no record names it. */
  server: string
  version: string
  pid: number | undefined
  hostname: string | undefined
  /** Changes with each start of the machine. */
  bootId: string | undefined
  /** How often it shows a sign of life; 0: never. */
  beatMs: number | undefined
  startedMs: number | undefined
  /** Its newest record of any kind. */
  lastSeenMs: number
  exit: { atMs: number; code: number | undefined; reason: string | undefined } | undefined
  /** Message of its last `fatal` record. */
  fatal: string | undefined
  /** Calls that its last beat found running. */
  openCalls: { call: string; tool: string; ms: number }[]
  /** Times of more than two and a half intervals without a beat, after which it went on. */
  pauses: { fromMs: number; toMs: number; loopDelayMs: number | undefined }[]
}

/**
 * A handler that ended after its call was closed (deadline, cancellation), or an answer that turned
 * out to have come too late for its client.
 */
export type LateEnding = {
  /** The id that its record gives the call. */
  call: string
  /** Empty where no record names it. */
  server: string
  tool: string
  atMs: number
  /** From the call's start. */
  ms: number
  outcome: Extract<Outcome, 'succeeded' | 'failed'>
}

/** A call as a step of its session. */
export type SessionCall = {
  id: number
  /** Stands for the session, or for the process where the transport has none. */
  session: number
  startedMs: number
  durationMs: number
  server: string
  tool: string
  /** Equal for equal arguments; undefined where the log has no hash of them. */
  argsKey: number | undefined
  outcome: Outcome
  class: ErrorClass | undefined
  /** The JSON-RPC id. */
  request: string | number | undefined
}

/** Of calls with exactly one unknown key and one missing parameter. */
export type WrongNameRow = {
  server: string
  tool: string
  unknown: { fingerprint: string; path: string }
  missing: { fingerprint: string; path: string }
  calls: number
  sessions: number
}

export type IngestHealth = {
  streams: {
    path: string
    state: string
    committedOffset: number
    rows: number
    duplicateRows: number
    quarantinedLines: number
    lastGrowthMs: number
  }[]
  quarantine: { reason: string; lines: number; bytes: number }[]
  quarantined: {
    path: string
    lineNumber: number
    lineOffset: number
    lengthBytes: number
    lines: number
    reason: string
    /** A short printable sample. */
    sample: string
  }[]
  /** Records that a writer wrote and no file had: holes in n. */
  gaps: {
    writer: string
    server: string | undefined
    firstN: number
    lastN: number
    /** Why the writer could not write them, where it said so. */
    reason: string | undefined
    /** It has said that it ends: what is missing now was written to a file that nobody has read. */
    exited: boolean
  }[]
  /** What was taken out again, a row for `age`, `size` and `forget` each; `newestMs`: of the calls. */
  removals: {
    reason: string
    calls: number
    events: number
    refusedLines: number
    lastMs: number
    newestMs: number | undefined
  }[]
  ingester:
    | { pid: number; lastPollMs: number; lagBytes: number; roots: string[]; problems: string[] }
    | undefined
  databaseBytes: number
}
