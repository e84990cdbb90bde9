import type {
  ArgumentIssue,
  Attempt,
  ErrorCause,
  RecordedError,
} from '../../server/call-log/record.ts'

/**
 * What a record says beyond its columns, read with care: a line may come from a newer writer or
 * from another program, so each part is taken only where it has the expected shape.
 */
export type CallFacts = {
  error: Partial<RecordedError> | undefined
  causes: ErrorCause[]
  issues: ArgumentIssue[]
  attempts: Attempt[]
  dropped: string[]
  result: { bytes: number | undefined; blocks: number | undefined; suspect: string | undefined }
  /** Short facts in the order in which they are shown. */
  others: [string, string][]
}

type Json = Readonly<Record<string, unknown>>

export function readCallFacts(detail: Json): CallFacts {
  const error = objectAt(detail, 'error')
  const result = objectAt(detail, 'result') ?? {}
  return {
    error: error && readError(error),
    causes: error ? objectsAt(error, 'causes').map(readCause) : [],
    issues: objectsAt(detail, 'issues').map(readIssue),
    attempts: objectsAt(detail, 'attempts').map(readAttempt),
    dropped: listAt(detail, 'dropped').filter((key) => typeof key === 'string'),
    result: {
      bytes: numberAt(result, 'bytes'),
      blocks: numberAt(result, 'blocks'),
      suspect: textAt(result, 'suspect'),
    },
    others: readOthers(detail),
  }
}

function readError(error: Json): Partial<RecordedError> {
  return {
    code: textAt(error, 'code'),
    name: textAt(error, 'name'),
    message: textAt(error, 'message') ?? '',
    stack: textAt(error, 'stack'),
    upstream: textAt(error, 'upstream'),
    status: numberAt(error, 'status'),
    retry_after_s: numberAt(error, 'retry_after_s'),
    by: textAt(error, 'by') as RecordedError['by'],
  }
}

function readCause(cause: Json): ErrorCause {
  return {
    name: textAt(cause, 'name'),
    code: textAt(cause, 'code'),
    message: textAt(cause, 'message') ?? '',
  }
}

function readIssue(issue: Json): ArgumentIssue {
  return {
    path: textAt(issue, 'path') ?? '(root)',
    code: (textAt(issue, 'code') ?? 'other') as ArgumentIssue['code'],
    subtype: textAt(issue, 'subtype') as ArgumentIssue['subtype'],
    expected: textAt(issue, 'expected'),
    received: textAt(issue, 'received'),
    suggest: textAt(issue, 'suggest'),
  }
}

function readAttempt(attempt: Json): Attempt {
  return {
    ms: numberAt(attempt, 'ms') ?? 0,
    wait_ms: numberAt(attempt, 'wait_ms'),
    class: textAt(attempt, 'class') as Attempt['class'],
    code: textAt(attempt, 'code'),
    reconnected: attempt.reconnected === true ? true : undefined,
  }
}

const OTHERS: readonly [string, string][] = [
  ['request', 'Request id'],
  ['protocol', 'Protocol'],
  ['transport', 'Transport'],
  ['trace', 'Trace'],
  ['handler_ms', 'In the handler (ms)'],
  ['args_hash', 'Arguments hash'],
  ['retry_suppressed', 'Not retried because'],
]

function readOthers(detail: Json): [string, string][] {
  return OTHERS.flatMap(([key, word]): [string, string][] => {
    const value = detail[key]
    const isShown = typeof value === 'string' || typeof value === 'number'
    return isShown ? [[word, String(value)]] : []
  })
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function objectAt(from: Json, key: string): Json | undefined {
  const value = from[key]
  return isObject(value) ? value : undefined
}

function listAt(from: Json, key: string): unknown[] {
  const value = from[key]
  return Array.isArray(value) ? value : []
}

function objectsAt(from: Json, key: string): Json[] {
  return listAt(from, key).filter(isObject)
}

function textAt(from: Json, key: string): string | undefined {
  const value = from[key]
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' ? value : undefined
}

function numberAt(from: Json, key: string): number | undefined {
  const value = from[key]
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
