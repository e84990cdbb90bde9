/**
 * The call log's record. This file owns the format; docs/log-format.md describes it for other
 * languages and test/server/record.test.ts pins a golden line.
 *
 * A log is NDJSON: UTF-8, one JSON object a line, each line ended by `\n`, appended with one
 * write(2), never rewritten. Keys stand in this order:
 *
 *   level time pid hostname   pino's own: level number, epoch ms of writing, process, host
 *   v                         format version, 1
 *   w                         writer: 128 random bits in hex, new for each process and directory
 *   n                         sequence number in that writer: 1, 2, 3 … without holes, across files
 *   kind                      which of the record types below
 *   …                         the record's own keys, user data nested under one key each
 *   args                      only in `call`, and always the last key of its line
 *
 * (w, n) names a record for ever: a reader that sees it twice keeps one, and a hole in n is a
 * record that was lost. `args` stands last so that a reader may keep its text exactly as it is
 * (integers beyond 2^53 survive) by cutting the line at the first `,"args":`. That cut is sound
 * because inside a JSON string the quotes would be escaped, and no nested object before it has a
 * key named `args`: keep it so.
 *
 * Readers must accept unknown keys and unknown kinds. Add fields; never rename or reuse one.
 * All durations are milliseconds (fractions allowed) unless the name says otherwise.
 */

export const FORMAT_VERSION = 1

/** How a call ended. `deferred`: answered with an input request, a task or a URL elicitation. */
export const OUTCOMES = ['succeeded', 'retried', 'failed', 'deferred'] as const
export type Outcome = (typeof OUTCOMES)[number]

/** Why a call failed. The order is stable: the database numbers classes by it. Append only. */
export const ERROR_CLASSES = [
  'invalid_arguments',
  'timeout',
  'connection',
  'rate_limited',
  'upstream',
  'tool_error',
  'bad_result',
  'unknown_tool',
  'cancelled',
  'crashed',
  'unexpected',
  'fatal',
] as const
export type ErrorClass = (typeof ERROR_CLASSES)[number]

/** Who ended a call that did not end by itself. */
export type EndedBy = 'client' | 'deadline' | 'self' | 'other' | 'shutdown'

export type NameAndVersion = { name: string; version: string }

/** One run of the handler. A call that was never retried has exactly one, or none if it never ran. */
export type Attempt = {
  /** Time inside the handler. */
  ms: number
  /** Time slept before this attempt; absent for the first. */
  wait_ms?: number | undefined
  /** Why the attempt failed; absent where it succeeded. */
  class?: ErrorClass | undefined
  code?: string | undefined
  /** The attempt was made on a client opened anew after a connection failure. */
  reconnected?: boolean | undefined
}

export type ErrorCause = {
  name?: string | undefined
  code?: string | undefined
  message: string
}

export type RecordedError = {
  class: ErrorClass
  /** The library's own code: ECONNREFUSED, UND_ERR_HEADERS_TIMEOUT, 57014 … */
  code?: string | undefined
  name?: string | undefined
  message: string
  stack?: string | undefined
  /** The chain of causes, outermost first, cut at a bound. */
  causes?: ErrorCause[] | undefined
  /** Host (and port) of the upstream that failed, where the error names it. */
  upstream?: string | undefined
  /** HTTP status of the upstream's answer. */
  status?: number | undefined
  retry_after_s?: number | undefined
  by?: EndedBy | undefined
}

/** What was wrong with one argument. No values: `received` is a type, never the data. */
export const ISSUE_CODES = [
  'missing_required',
  'unknown_key',
  'wrong_type',
  'not_in_enum',
  'out_of_range',
  'bad_format',
  'too_long',
  'too_short',
  'union_no_match',
  'malformed_json',
  'other',
] as const
export type IssueCode = (typeof ISSUE_CODES)[number]

export type IssueSubtype =
  | 'stringified_json'
  | 'stringified_number'
  | 'stringified_boolean'
  | 'null_for_optional'
  | 'wrapped_args'
  | 'case_mismatch'

export type ArgumentIssue = {
  /** `items[1].id`; `(root)` for the arguments as a whole. */
  path: string
  code: IssueCode
  subtype?: IssueSubtype | undefined
  /** In words: `integer`, `one of "ASC", "DESC"`, `string (date-time)`. */
  expected?: string | undefined
  /** The JSON type received: string, number, boolean, null, array, object; absent if missing. */
  received?: string | undefined
  /** The real parameter's name that was probably meant. */
  suggest?: string | undefined
}

export type ResultFacts = {
  /** Sum of the text lengths in the result, in UTF-16 units; structured content is not counted. */
  bytes: number
  /** Number of content blocks. */
  blocks: number
  /** The result said nothing: no content, or only empty text. */
  empty?: true | undefined
  /** Id of the rule that takes this success for a failure in disguise. */
  suspect?: string | undefined
}

export type Transport = 'stdio' | 'http' | 'memory' | 'other'

/** Written once for each `tools/call` that arrived, when its fate is known. */
export type CallRecord = {
  kind: 'call'
  server: NameAndVersion
  /** Unique id of the call; the client is told it where the cause is kept in the log. */
  call: string
  tool: string
  /** The JSON-RPC request's id: unique only within one connection. */
  request: string | number
  /** A keyed hash of the session's id; absent where the transport has no session. */
  session?: string | undefined
  client?: NameAndVersion | undefined
  protocol?: string | undefined
  transport?: Transport | undefined
  /** W3C traceparent, where the client sent a valid one. */
  trace?: string | undefined
  /** Epoch ms when the request arrived. `started + duration_ms` is when the answer left. */
  started: number
  duration_ms: number
  /** Time inside the tool's own handler, all attempts; absent where it never ran. */
  handler_ms?: number | undefined
  /** SHA-256 of the canonical JSON (RFC 8785) of the redacted arguments, first 16 hex digits. */
  args_hash?: string | undefined
  /** Argument keys the schema does not have, which the SDK would have dropped in silence. */
  dropped?: string[] | undefined
  outcome: Outcome
  attempts: Attempt[]
  error?: RecordedError | undefined
  issues?: ArgumentIssue[] | undefined
  result?: ResultFacts | undefined
  /** False where the client was gone before the answer; absent otherwise. */
  delivered?: false | undefined
  /** Why a transient failure was not retried: `unsafe`, `budget`, `deadline`. */
  retry_suppressed?: string | undefined
  /** How often the tool wrote to stdout, which belongs to the protocol; it went to stderr. */
  stray_stdout?: number | undefined
  /** The arguments as they arrived, redacted. */
  args: unknown
}

/**
 * What ended after its call had been closed: a handler (deadline, cancellation), or the task that
 * the call was answered with.
 */
export type LateRecord = {
  kind: 'late'
  call: string
  tool: string
  /** From the call's start to the handler's end. */
  ms: number
  outcome: 'succeeded' | 'failed'
}

/** First record of a writer. */
export type StartRecord = {
  kind: 'start'
  server: NameAndVersion
  /** Changes with each boot of the machine; tells a lost process from a lost host. */
  boot_id?: string | undefined
  node: string
  /** How often `beat` records follow; 0 if never. */
  beat_ms: number
  tools?: { name: string; schema_hash: string }[] | undefined
}

/** Sign of life. A missing beat means dead, hung or asleep. */
export type BeatRecord = {
  kind: 'beat'
  server: NameAndVersion
  beat_ms: number
  /** Calls still running, oldest first, cut at 20. */
  open: { call: string; tool: string; ms: number }[]
  /** Largest delay of the event loop since the last beat. */
  loop_delay_ms: number
  rss_bytes: number
}

export type ExitRecord = { kind: 'exit'; code: number; reason?: string | undefined }

export type FatalRecord = { kind: 'fatal'; error: RecordedError; call?: string | undefined }

/** First record of each file of a writer but its first. */
export type OpenRecord = { kind: 'open'; previous_file: string }

/** Last record of a file that was rotated away. */
export type CloseRecord = { kind: 'close'; next_file: string }

/** Records that could not be written (full disk): their numbers are spent, their content is gone. */
export type DropRecord = {
  kind: 'drop'
  reason: string
  records: number
  from_n: number
  to_n: number
}

export type LogRecord =
  | CallRecord
  | LateRecord
  | StartRecord
  | BeatRecord
  | ExitRecord
  | FatalRecord
  | OpenRecord
  | CloseRecord
  | DropRecord

/** What stands before the record's own keys on each line. */
export type Envelope = {
  level: number
  time: number
  pid: number
  hostname: string
  v: number
  w: string
  n: number
}
