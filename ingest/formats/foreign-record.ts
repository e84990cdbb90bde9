import type { ErrorClass, NameAndVersion } from '../../server/call-log/record.ts'
import { shortenResult } from '../store/call-detail.ts'
import { CALL_FLAGS } from '../store/schema.ts'
import {
  argsKeyOf,
  CLASS_IDS,
  durationUsOf,
  isObject,
  type JsonObject,
  jsonTextOf,
  nameAndVersionOf,
  OUTCOME_IDS,
  plausibleMs,
  textOf,
  valueTextOf,
  without,
} from './field-values.ts'
import type { ParseContext, ParsedLine, WriterFacts } from './parsed-line.ts'

/**
 * A JSON line of another program (pino, or any NDJSON). It is a call if it names a tool and says how
 * the call ended or how long it took, under the names that are common for these; any other object is
 * only counted.
 */
export function readForeignRecord(
  record: JsonObject,
  line: string,
  context: ParseContext,
): ParsedLine {
  const tool = toolOf(record)
  if (tool === undefined) return { fate: 'foreign' }
  const durationMs = durationMsOf(record)
  const failed = failedOf(record)
  if (durationMs === undefined && failed === undefined) return { fate: 'foreign' }

  const error = errorOf(record, failed === true)
  const outcome = failed === true ? 'failed' : isRetried(record) ? 'retried' : 'succeeded'
  const rest = without(record, IN_COLUMNS)
  if (error) rest.error = error
  const time = firstOf(record, TIME_KEYS)
  const startedMs = startOf(record, time, durationMs, context.nowMs)
  let flags = 0
  if (startedMs === undefined) {
    flags |= CALL_FLAGS.clock
    rest.clock = time ?? null
  }
  const durationUs = durationUsOf(durationMs)
  if (durationUs === undefined) flags |= CALL_FLAGS.duration
  shortenResult(rest)
  const detail = jsonTextOf(context.redactor.value(rest))
  if (detail === undefined) return { fate: 'refused', reason: 'depth' }

  const argsName = ARGS_KEYS.find((key) => record[key] !== undefined)
  return {
    fate: 'call',
    stamp: undefined,
    writer: writerOf(record, startedMs),
    call: {
      startedMs: startedMs ?? context.nowMs,
      durationUs: durationUs ?? 0,
      server: serverOf(record, context.fallbackServer),
      tool,
      client: nameAndVersionOf(record.client),
      session: textOf(firstOf(record, SESSION_KEYS)),
      outcomeId: OUTCOME_IDS.get(outcome) as number,
      classId: failed === true ? (CLASS_IDS.get(error?.class) as number) : 0,
      flags,
      argsKey: argsKeyOf(record.args_hash),
      uid: textOf(firstOf(record, ID_KEYS)) ?? '',
      args: argsName === undefined ? null : argsTextOf(record[argsName], line, argsName, context),
      detail,
      issues: [],
      protocol: undefined,
    },
  }
}

/** The exact text, unless there is a secret in it. */
function argsTextOf(
  args: unknown,
  line: string,
  key: string,
  { redactor }: ParseContext,
): string | null {
  const before = jsonTextOf(args)
  const after = jsonTextOf(redactor.value(args))
  if (before !== undefined && before === after) return valueTextOf(line, key) ?? null
  return after ?? '"[too deep]"'
}

const TIME_KEYS = ['time', 'timestamp', 'ts', '@timestamp', 'started', 'start_time', 'date']
const DURATION_KEYS = [
  'duration_ms',
  'durationMs',
  'latency_ms',
  'latencyMs',
  'elapsed_ms',
  'elapsedMs',
  'took_ms',
  'responseTime',
  'duration',
  'latency',
  'elapsed',
  'ms',
]
const SESSION_KEYS = ['session', 'sessionId', 'session_id']
const ID_KEYS = ['call', 'call_id', 'callId', 'requestId', 'request_id']
const ARGS_KEYS = ['args', 'arguments', 'params', 'input']
const IN_COLUMNS = new Set(['tool', 'client', 'session', ...ARGS_KEYS])

const GOOD = /^(ok|success|succeeded|successful|completed?|done|passed|retried)$/i
const BAD =
  /^(error|errored|fail|failed|failure|exception|timeout|timed_?out|cancell?ed|rejected)$/i

function firstOf(record: JsonObject, keys: readonly string[]): unknown {
  const key = keys.find((name) => record[name] !== undefined)
  return key === undefined ? undefined : record[key]
}

function toolOf(record: JsonObject): string | undefined {
  const direct = textOf(record.tool) ?? textOf(record.tool_name) ?? textOf(record.toolName)
  if (direct !== undefined) return direct
  if (isObject(record.tool)) return textOf(record.tool.name)
  const { action } = record
  if (isObject(action) && action.operation === 'tools/call') return textOf(action.name)
  return undefined
}

function durationMsOf(record: JsonObject): number | undefined {
  const value = firstOf(record, DURATION_KEYS)
  if (typeof value === 'number') return value
  if (typeof value === 'string' && /^\d+(\.\d+)?(ms)?$/.test(value)) return Number.parseFloat(value)
  const { outcome } = record
  return isObject(outcome) ? durationMsOf(outcome) : undefined
}

/** Undefined where the line does not say how the call ended. */
function failedOf(record: JsonObject): boolean | undefined {
  for (const key of ['outcome', 'status', 'result']) {
    const value = record[key]
    const word = isObject(value) ? value.status : value
    if (typeof word === 'string' && GOOD.test(word)) return false
    if (typeof word === 'string' && BAD.test(word)) return true
  }
  for (const key of ['success', 'ok']) if (typeof record[key] === 'boolean') return !record[key]
  for (const holder of [record, record.result]) {
    if (!isObject(holder)) continue
    for (const key of ['isError', 'is_error']) {
      if (typeof holder[key] === 'boolean') return holder[key]
    }
  }
  if (statusOf(record) !== undefined) return (statusOf(record) as number) >= 400
  if (record.err || record.error || record.exception_type) return true
  return undefined
}

function statusOf(record: JsonObject): number | undefined {
  const status = firstOf(record, ['status_code', 'statusCode', 'status'])
  return typeof status === 'number' ? status : undefined
}

function isRetried(record: JsonObject): boolean {
  if (record.outcome === 'retried' || record.retried === true) return true
  const retries = firstOf(record, ['retries', 'retry_count', 'retryCount'])
  return typeof retries === 'number' && retries > 0
}

type ForeignError = { class: ErrorClass; code?: string; name?: string; message: string }

function errorOf(record: JsonObject, failed: boolean): ForeignError | undefined {
  if (!failed) return undefined
  const source = record.error ?? record.err ?? record.exception
  const object = isObject(source) ? source : {}
  const name = textOf(object.type) ?? textOf(object.name) ?? textOf(record.exception_type)
  const code = textOf(object.code) ?? textOf(record.error_code)
  const message =
    textOf(object.message) ??
    textOf(source) ??
    textOf(record.root_cause) ??
    textOf(record.msg) ??
    textOf(record.message) ??
    ''
  const named = record.error_class ?? record.errorClass ?? object.class
  return {
    class: CLASS_IDS.has(named)
      ? (named as ErrorClass)
      : guessClass(
          `${code ?? ''} ${name ?? ''} ${message} ${textOf(record.outcome) ?? ''}`,
          record,
        ),
    ...(code === undefined ? {} : { code }),
    ...(name === undefined ? {} : { name }),
    message,
  }
}

/** By the words programs use; anything else is `unexpected`. */
const CLASS_WORDS: readonly [RegExp, ErrorClass][] = [
  [/time[d_ -]?\s?out|TIMEOUT|ETIMEDOUT|deadline/i, 'timeout'],
  [
    /ECONN|ENOTFOUND|EAI_AGAIN|EPIPE|EHOSTUNREACH|ENETUNREACH|socket hang up|fetch failed/,
    'connection',
  ],
  [/\b429\b|rate.?limit|too many requests/i, 'rate_limited'],
  [/cancell?ed|AbortError/i, 'cancelled'],
  [
    /-32602|invalid.?arg|validation.?error|ZodError|missing_argument|invalid_arguments/i,
    'invalid_arguments',
  ],
  [/unknown tool|tool not found|no such tool/i, 'unknown_tool'],
]

function guessClass(words: string, record: JsonObject): ErrorClass {
  for (const [pattern, name] of CLASS_WORDS) if (pattern.test(words)) return name
  const status = statusOf(record)
  if (status === 429) return 'rate_limited'
  if (status !== undefined && status >= 500) return 'upstream'
  return 'unexpected'
}

function startOf(
  record: JsonObject,
  time: unknown,
  durationMs: number | undefined,
  nowMs: number,
): number | undefined {
  const occurred = isObject(time) ? (time.occurredAt ?? time.recordedAt) : time
  const writtenMs = plausibleMs(occurred, nowMs)
  if (writtenMs === undefined) return undefined
  const startsThere = record.time === undefined && record.started !== undefined
  // A log line is written when the call has ended.
  const took = durationUsOf(durationMs)
  return startsThere || took === undefined ? writtenMs : Math.round(writtenMs - took / 1000)
}

function serverOf(record: JsonObject, fallback: string): NameAndVersion {
  const whole = nameAndVersionOf(record.server)
  if (whole) return whole
  const name = textOf(firstOf(record, ['server', 'server_name', 'service', 'logger', 'name']))
  return { name: name ?? fallback, version: textOf(record.version) ?? '' }
}

function writerOf(record: JsonObject, timeMs: number | undefined): WriterFacts {
  return {
    pid: Number.isSafeInteger(record.pid) ? (record.pid as number) : undefined,
    hostname: textOf(record.hostname),
    timeMs,
  }
}
