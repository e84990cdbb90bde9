import { cutText } from './limits.ts'
import type {
  ArgumentIssue,
  CallRecord,
  ErrorCause,
  LogRecord,
  NameAndVersion,
  RecordedError,
} from './record.ts'
import { redactText } from './redact.ts'
import { redactArguments } from './redacted-arguments.ts'

const MAX_NAME_LENGTH = 200
const MAX_MESSAGE_LENGTH = 8 * 1024
const MAX_STACK_LENGTH = 16 * 1024
const MAX_CAUSE_LENGTH = 2 * 1024
const MAX_CAUSES = 10
const MAX_DROPPED = 50
const MAX_ISSUES = 50
const MAX_ATTEMPTS = 50

/** A record that may be written. A call's arguments are JSON by now, and absent from the record. */
export type SealedRecord = { record: LogRecord; argumentsJson?: string }

/**
 * The last gate before the file: nothing that a client or a tool had a say in goes through it
 * unredacted or unbounded, whoever made the record. What is redacted already stays as it is.
 */
export function sealRecord(record: LogRecord): SealedRecord {
  switch (record.kind) {
    case 'call':
      return { record: sealCall(record), argumentsJson: redactArguments(record.args).json }
    case 'late':
      return { record: { ...record, tool: name(record.tool) } }
    case 'fatal':
      return { record: { ...record, error: sealError(record.error) } }
    case 'beat':
      return {
        record: {
          ...record,
          open: record.open.map((call) => ({ ...call, tool: name(call.tool) })),
        },
      }
    case 'exit':
      return {
        record: record.reason === undefined ? record : { ...record, reason: name(record.reason) },
      }
    default:
      return { record }
  }
}

/** Every key of the type is there, so that one which is added cannot be forgotten here. */
type WholeCall = { [K in keyof Required<CallRecord>]: CallRecord[K] }

/**
 * Each key is written out, in the order of the format: a copy by spread of so many keys becomes a
 * dictionary, and takes several times as long here and in JSON.stringify.
 */
function sealCall(record: CallRecord): CallRecord {
  const { session, client, protocol, trace, dropped, attempts, error, issues } = record
  const sealed: WholeCall = {
    kind: record.kind,
    server: nameAndVersion(record.server),
    call: record.call,
    tool: name(record.tool),
    request: typeof record.request === 'string' ? name(record.request) : record.request,
    session: session && name(session),
    client: client && nameAndVersion(client),
    protocol: protocol && name(protocol),
    transport: record.transport,
    trace: trace && name(trace),
    started: record.started,
    duration_ms: record.duration_ms,
    handler_ms: record.handler_ms,
    args_hash: record.args_hash,
    dropped: dropped?.slice(0, MAX_DROPPED).map(name),
    outcome: record.outcome,
    attempts: attempts.length > MAX_ATTEMPTS ? attempts.slice(0, MAX_ATTEMPTS) : attempts,
    error: error && sealError(error),
    issues: issues?.slice(0, MAX_ISSUES).map(sealIssue),
    result: record.result,
    delivered: record.delivered,
    retry_suppressed: record.retry_suppressed,
    stray_stdout: record.stray_stdout,
    args: undefined,
  }
  return sealed
}

function sealIssue(issue: ArgumentIssue): ArgumentIssue {
  return {
    ...issue,
    path: name(issue.path),
    expected: issue.expected && redactText(issue.expected, MAX_CAUSE_LENGTH),
    suggest: issue.suggest && name(issue.suggest),
  }
}

function sealError(error: RecordedError): RecordedError {
  return {
    ...error,
    code: error.code && name(error.code),
    name: error.name && name(error.name),
    message: redactText(error.message, MAX_MESSAGE_LENGTH),
    stack: error.stack && redactText(error.stack, MAX_STACK_LENGTH),
    causes: error.causes?.slice(0, MAX_CAUSES).map(sealCause),
    upstream: error.upstream && name(error.upstream),
  }
}

function sealCause(cause: ErrorCause): ErrorCause {
  return {
    ...cause,
    code: cause.code && name(cause.code),
    name: cause.name && name(cause.name),
    message: redactText(cause.message, MAX_CAUSE_LENGTH),
  }
}

function nameAndVersion({ name: own, version }: NameAndVersion): NameAndVersion {
  return { name: name(own), version: name(version) }
}

const MAX_REMEMBERED = 1_000
const remembered = new Map<string, string>()

/**
 * For what is normally a word: long ones are cut before they are searched. The same few names of
 * servers, clients and tools come with every call.
 */
function name(text: string): string {
  const known = remembered.get(text)
  if (known !== undefined) return known
  const safe = redactText(cutText(text, MAX_NAME_LENGTH), MAX_NAME_LENGTH)
  if (text.length > MAX_NAME_LENGTH) return safe
  if (remembered.size >= MAX_REMEMBERED) remembered.clear()
  remembered.set(text, safe)
  return safe
}
