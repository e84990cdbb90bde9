import { cutText } from './limits.ts'
import type {
  ArgumentIssue,
  CallRecord,
  ErrorCause,
  LogRecord,
  NameAndVersion,
  RecordedError,
} from './record.ts'
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
  const sealed = record
  sealed.server = nameAndVersion(record.server)
  sealed.tool = name(record.tool)
  if (typeof record.request === 'string') sealed.request = name(record.request)
  if (record.session !== undefined) sealed.session = name(record.session)
  if (record.client) sealed.client = nameAndVersion(record.client)
  if (record.protocol !== undefined) sealed.protocol = name(record.protocol)
  if (record.trace !== undefined) sealed.trace = name(record.trace)
  if (record.dropped) sealed.dropped = record.dropped.slice(0, MAX_DROPPED).map(name)
  if (record.attempts.length > MAX_ATTEMPTS)
    sealed.attempts = record.attempts.slice(0, MAX_ATTEMPTS)
  if (record.error) sealed.error = sealError(record.error)
  if (record.issues) sealed.issues = record.issues.slice(0, MAX_ISSUES).map(sealIssue)
  return { ...sealed, args: redact(args) ?? null }
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
