import { cutText } from './limits.ts'
import type { CallRecord, ErrorCause, LogRecord, NameAndVersion, RecordedError } from './record.ts'
import { redact, redactText } from './redact.ts'

const MAX_NAME_LENGTH = 200
const MAX_MESSAGE_LENGTH = 8 * 1024
const MAX_STACK_LENGTH = 16 * 1024
const MAX_CAUSE_LENGTH = 2 * 1024
const MAX_CAUSES = 10
const MAX_DROPPED = 50
const MAX_ISSUES = 50
const MAX_ATTEMPTS = 50

/**
 * The last gate before the file: nothing that a client or a tool had a say in goes through it
 * unredacted or unbounded, whoever made the record. What is redacted already stays as it is.
 */
export function sealRecord(record: LogRecord): LogRecord {
  switch (record.kind) {
    case 'call':
      return sealCall(record)
    case 'late':
      return { ...record, tool: name(record.tool) }
    case 'fatal':
      return { ...record, error: sealError(record.error) }
    case 'beat':
      return { ...record, open: record.open.map((call) => ({ ...call, tool: name(call.tool) })) }
    case 'exit':
      return record.reason === undefined ? record : { ...record, reason: name(record.reason) }
    default:
      return record
  }
}

/** Keeps the order of the record's keys, but for `args`, which is the last. */
function sealCall({ args, ...record }: CallRecord): CallRecord {
  return {
    ...record,
    server: nameAndVersion(record.server),
    tool: name(record.tool),
    request: typeof record.request === 'string' ? name(record.request) : record.request,
    session: record.session && name(record.session),
    client: record.client && nameAndVersion(record.client),
    protocol: record.protocol && name(record.protocol),
    trace: record.trace && name(record.trace),
    dropped: record.dropped?.slice(0, MAX_DROPPED).map(name),
    attempts: record.attempts.slice(0, MAX_ATTEMPTS),
    error: record.error && sealError(record.error),
    issues: record.issues?.slice(0, MAX_ISSUES).map((issue) => ({
      ...issue,
      path: name(issue.path),
      expected: issue.expected && redactText(issue.expected, MAX_CAUSE_LENGTH),
      suggest: issue.suggest && name(issue.suggest),
    })),
    args: redact(args) ?? null,
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

/** For what is normally a word: long ones are cut before they are searched. */
function name(text: string): string {
  return redactText(cutText(text, MAX_NAME_LENGTH), MAX_NAME_LENGTH)
}
