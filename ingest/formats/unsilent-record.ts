import {
  type ArgumentIssue,
  FORMAT_VERSION,
  ISSUE_CODES,
  type NameAndVersion,
} from '../../server/call-log/record.ts'
import { isLeftOut, protocolOf, shortenResult } from '../store/call-detail.ts'
import { CALL_FLAGS } from '../store/schema.ts'
import {
  argsKeyOf,
  CLASS_IDS,
  copyKey,
  durationUsOf,
  isObject,
  type JsonObject,
  jsonTextOf,
  nameAndVersionOf,
  OUTCOME_IDS,
  plausibleMs,
  textOf,
  valueEnd,
  valueTextOf,
  without,
} from './field-values.ts'
import type { CallFields, ParseContext, ParsedLine, Stamp, WriterFacts } from './parsed-line.ts'

/** Columns of `call` and the envelope; everything else a record has goes into detail. */
const NOT_IN_DETAIL = new Set([
  'level',
  'time',
  'pid',
  'hostname',
  'v',
  'w',
  'n',
  'kind',
  'server',
  'call',
  'tool',
  'session',
  'client',
  'started',
  'duration_ms',
  'outcome',
  'args',
])

const ENVELOPE = new Set(['level', 'time', 'pid', 'hostname', 'v', 'w', 'n', 'kind'])

const WRITER = /^[\w.:@/+-]{1,128}$/
const MAX_KIND_LENGTH = 64
const MAX_RAW_LENGTH = 16_384
const UNKNOWN_SERVER: NameAndVersion = { name: 'unknown', version: '' }

/** The (w, n) of a line, if it has a usable one. */
export function stampOf(record: JsonObject): Stamp | undefined {
  const { w, n } = record
  if (typeof w !== 'string' || !WRITER.test(w)) return undefined
  if (typeof n !== 'number' || !Number.isSafeInteger(n) || n < 1) return undefined
  return { w, n }
}

/**
 * A line with a stamp. Unknown kinds become events; fields that a newer version gave other
 * values are kept and flagged.
 */
export function readStampedRecord(
  record: JsonObject,
  stamp: Stamp,
  line: string,
  context: ParseContext,
): ParsedLine {
  const kind = textOf(record.kind)
  if (kind === undefined) return { fate: 'refused', reason: 'invalid', stamp }
  const writer = writerFactsOf(record, context.nowMs)
  if (kind === 'call') return readCall(record, stamp, writer, line, context)
  return {
    fate: 'event',
    stamp,
    writer,
    event: {
      kind: kind.slice(0, MAX_KIND_LENGTH),
      atMs: writer.timeMs ?? context.nowMs,
      record: without(record, ENVELOPE),
    },
  }
}

function readCall(
  record: JsonObject,
  stamp: Stamp,
  writer: WriterFacts,
  line: string,
  context: ParseContext,
): ParsedLine {
  const tool = textOf(record.tool)
  if (tool === undefined) return { fate: 'refused', reason: 'invalid', stamp }
  const columns = { argsKey: argsKeyOf(record.args_hash), protocol: protocolOf(record) }
  shortenResult(record)
  const detail: JsonObject = {}
  for (const key of Object.keys(record)) {
    if (!NOT_IN_DETAIL.has(key) && !isLeftOut(key, record, columns)) copyKey(record, key, detail)
  }
  let flags = flagsOf(record)
  const startedMs = plausibleMs(record.started, context.nowMs)
  if (startedMs === undefined) {
    flags |= CALL_FLAGS.clock
    detail.clock = record.started ?? null
  }
  const durationUs = durationUsOf(record.duration_ms)
  if (durationUs === undefined) flags |= CALL_FLAGS.duration

  const verdict = verdictOf(record)
  if (verdict.newer || (typeof record.v === 'number' && record.v > FORMAT_VERSION)) {
    flags |= CALL_FLAGS.newer
    // What this version cannot read a later one may, from the line as it was.
    detail.line = line.slice(0, MAX_RAW_LENGTH)
  }
  if (typeof record.request === 'number' && !Number.isSafeInteger(record.request)) {
    detail.request = valueTextOf(line, 'request') ?? record.request
  }
  const detailText = jsonTextOf(detail)
  if (detailText === undefined) return { fate: 'refused', reason: 'depth', stamp }

  const call: CallFields = {
    startedMs: startedMs ?? context.nowMs,
    durationUs: durationUs ?? 0,
    server: nameAndVersionOf(record.server) ?? UNKNOWN_SERVER,
    tool,
    client: nameAndVersionOf(record.client),
    session: textOf(record.session),
    outcomeId: verdict.outcomeId,
    classId: verdict.classId,
    flags,
    ...columns,
    uid: textOf(record.call) ?? '',
    args: argsTextOf(record, line) ?? null,
    detail: detailText,
    issues: issuesOf(record),
  }
  return { fate: 'call', stamp, writer, call }
}

const ARGS_KEY = ',"args":'

/**
 * The exact text of `args`. In our own records it is the last key, so that only its value is looked
 * through: one that ends where the record does is a key of the record itself, and its last one.
 * (Inside a string the quotes would be escaped.) Otherwise it is looked for.
 */
function argsTextOf(record: JsonObject, line: string): string | undefined {
  if (record.args === undefined) return undefined
  const at = line.indexOf(ARGS_KEY)
  const start = at + ARGS_KEY.length
  const end = line.length - 1
  const isLast = at >= 0 && line.endsWith('}') && valueEnd(line, start) === end
  return isLast ? line.slice(start, end) : valueTextOf(line, 'args')
}

const FAILED = OUTCOME_IDS.get('failed') as number
const SUCCEEDED = OUTCOME_IDS.get('succeeded') as number
const UNEXPECTED = CLASS_IDS.get('unexpected') as number

/** Outcome and class by number. `newer`: a word this version does not know was read as the nearest. */
function verdictOf(record: JsonObject): { outcomeId: number; classId: number; newer: boolean } {
  const error = isObject(record.error) ? record.error : undefined
  const outcomeId = OUTCOME_IDS.get(record.outcome)
  if (outcomeId !== undefined && outcomeId !== FAILED) {
    return { outcomeId, classId: 0, newer: false }
  }
  if (outcomeId === undefined && !error) {
    return { outcomeId: SUCCEEDED, classId: 0, newer: true }
  }
  const classId = CLASS_IDS.get(error?.class)
  return {
    outcomeId: FAILED,
    classId: classId ?? UNEXPECTED,
    newer: outcomeId === undefined || (classId === undefined && error?.class !== undefined),
  }
}

function flagsOf(record: JsonObject): number {
  let flags = 0
  const { result } = record
  if (isObject(result)) {
    if (result.empty === true) flags |= CALL_FLAGS.empty
    if (result.suspect !== undefined) flags |= CALL_FLAGS.suspect
  }
  if (Array.isArray(record.dropped) && record.dropped.length > 0) flags |= CALL_FLAGS.dropped
  if (record.retry_suppressed !== undefined) flags |= CALL_FLAGS.retrySuppressed
  if (record.delivered === false) flags |= CALL_FLAGS.undelivered
  return flags
}

const NO_ISSUES: readonly ArgumentIssue[] = []
const CODES: ReadonlySet<unknown> = new Set(ISSUE_CODES)

/** The issues that can be grouped; names of dropped arguments count as unknown keys. */
function issuesOf(record: JsonObject): readonly ArgumentIssue[] {
  if (Array.isArray(record.issues)) {
    const issues = record.issues.filter(isObject).filter((issue) => typeof issue.path === 'string')
    return issues.map((issue) => ({
      path: issue.path as string,
      code: (CODES.has(issue.code) ? issue.code : 'other') as ArgumentIssue['code'],
      subtype: textOf(issue.subtype) as ArgumentIssue['subtype'],
      expected: textOf(issue.expected),
      received: textOf(issue.received),
      suggest: textOf(issue.suggest),
    }))
  }
  if (!Array.isArray(record.dropped)) return NO_ISSUES
  return record.dropped
    .filter((key) => typeof key === 'string')
    .map((key) => ({ path: key, code: 'unknown_key' }))
}

function writerFactsOf(record: JsonObject, nowMs: number): WriterFacts {
  const { pid } = record
  return {
    pid: typeof pid === 'number' && Number.isSafeInteger(pid) ? pid : undefined,
    hostname: textOf(record.hostname),
    timeMs: plausibleMs(record.time, nowMs),
  }
}
