import type { ArgumentIssue } from '../call-log/record.ts'
import { readProperty } from '../safe-read.ts'
import { endProcessOnFatal } from './fatal-exit.ts'

/**
 * A server may hold two copies of this package, and then `instanceof` says no to the other copy's
 * errors. The kind is therefore kept under a symbol that all copies share.
 */
const KIND = Symbol.for('unsilent.error.kind')

type ErrorKind = 'fatal' | 'tool' | 'connection' | 'timeout' | 'invalid_arguments'

/**
 * Every later request is certain to fail: a missing variable, a corrupt configuration. Never
 * caught: the process ends with exit code 78 and one readable line on stderr.
 */
export class FatalError extends Error {
  // On the prototype, as with Error itself: an own field would be printed after each stack.
  static {
    FatalError.prototype.name = 'FatalError'
  }

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    endProcessOnFatal()
  }

  get [KIND](): ErrorKind {
    return 'fatal'
  }
}

/** What the tool wants to say to the model: its message reaches the client word for word. */
export class ToolError extends Error {
  static {
    ToolError.prototype.name = 'ToolError'
  }

  get [KIND](): ErrorKind {
    return 'tool'
  }
}

export type UpstreamErrorOptions = ErrorOptions & {
  /** The library's own code, such as ECONNREFUSED. */
  code?: string
  /** Host, or host:port, of the upstream that failed. */
  upstream?: string
}

/** What both kinds of upstream failure know. Not published: they are told apart by their kind. */
class UpstreamFailure extends Error {
  readonly code?: string
  readonly upstream?: string

  constructor(message: string, { code, upstream, ...options }: UpstreamErrorOptions = {}) {
    super(message, options)
    if (code !== undefined) this.code = code
    if (upstream !== undefined) this.upstream = upstream
  }
}

/** The upstream could not be reached, or the connection to it broke. Transient: it is retried. */
export class ConnectionError extends UpstreamFailure {
  static {
    ConnectionError.prototype.name = 'ConnectionError'
  }

  get [KIND](): ErrorKind {
    return 'connection'
  }
}

/** The upstream did not answer in time. Transient: it is retried. */
export class TimeoutError extends UpstreamFailure {
  static {
    TimeoutError.prototype.name = 'TimeoutError'
  }

  get [KIND](): ErrorKind {
    return 'timeout'
  }
}

export type InvalidArgumentsOptions = ErrorOptions & { issues?: ArgumentIssue[] }

/** The arguments are at fault in a way that the schema cannot express. The model is told. */
export class InvalidArgumentsError extends Error {
  static {
    InvalidArgumentsError.prototype.name = 'InvalidArgumentsError'
  }
  readonly issues: ArgumentIssue[]

  constructor(message: string, { issues = [], ...options }: InvalidArgumentsOptions = {}) {
    super(message, options)
    this.issues = issues
  }

  get [KIND](): ErrorKind {
    return 'invalid_arguments'
  }
}

export function isFatalError(error: unknown): error is FatalError {
  return readProperty(error, KIND) === 'fatal'
}

export function isToolError(error: unknown): error is ToolError {
  return readProperty(error, KIND) === 'tool'
}

export function isConnectionError(error: unknown): error is ConnectionError {
  return readProperty(error, KIND) === 'connection'
}

export function isTimeoutError(error: unknown): error is TimeoutError {
  return readProperty(error, KIND) === 'timeout'
}

export function isInvalidArgumentsError(error: unknown): error is InvalidArgumentsError {
  return readProperty(error, KIND) === 'invalid_arguments'
}
