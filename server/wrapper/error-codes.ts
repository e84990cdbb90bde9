import type { ErrorClass } from '../call-log/record.ts'

/** What a known code, name or status says about an error. */
export type Verdict = { class: ErrorClass; transient: boolean }

export const TIMEOUT: Verdict = { class: 'timeout', transient: true }
export const CONNECTION: Verdict = { class: 'connection', transient: true }
/** A host name that does not resolve stays wrong until somebody corrects it. */
export const WRONG_HOST: Verdict = { class: 'connection', transient: false }
export const RATE_LIMITED: Verdict = { class: 'rate_limited', transient: true }
export const UPSTREAM: Verdict = { class: 'upstream', transient: false }
export const UNEXPECTED: Verdict = { class: 'unexpected', transient: false }

function table(...groups: [Verdict, string][]): ReadonlyMap<string, Verdict> {
  return new Map(
    groups.flatMap(([verdict, keys]) =>
      keys
        .trim()
        .split(/\s+/)
        .map((key): [string, Verdict] => [key, verdict]),
    ),
  )
}

/** By `error.code`: Node, undici, axios, database drivers, SQLSTATE, Prisma. */
const CODES = table(
  [
    TIMEOUT,
    `ETIMEDOUT ESOCKETTIMEDOUT ETIMEOUT ERR_SOCKET_CONNECTION_TIMEOUT ERR_TLS_HANDSHAKE_TIMEOUT
     ERR_HTTP_REQUEST_TIMEOUT ERR_HTTP2_PING_TIMEOUT ECONNTIMEOUT EREQUESTTIMEOUT
     UND_ERR_CONNECT_TIMEOUT UND_ERR_HEADERS_TIMEOUT UND_ERR_BODY_TIMEOUT
     REQUEST_TIMEOUT DEADLINE_EXCEEDED TIMEOUT_ERR
     PROTOCOL_SEQUENCE_TIMEOUT ER_LOCK_WAIT_TIMEOUT ER_QUERY_TIMEOUT ER_GET_CONNECTION_TIMEOUT
     57014 55P03 25P04 P1002 P1008 P2024 HYT00 HYT01 RequestTimeout RequestTimeoutException
     MaxTimeMSExpired ExceededTimeLimit NetworkTimeout SQLITE_BUSY_TIMEOUT`,
  ],
  [
    CONNECTION,
    `ECONNREFUSED ECONNRESET ECONNABORTED EPIPE EAI_AGAIN EHOSTUNREACH EHOSTDOWN ENETUNREACH
     ENETDOWN ENETRESET ENOTCONN ESHUTDOWN ESERVFAIL EREFUSED ECONNCLOSED ENOTOPEN ESOCKET
     UND_ERR_SOCKET UND_ERR_CLOSED UND_ERR_DESTROYED ERR_NETWORK ERR_SOCKET_CLOSED
     ERR_SOCKET_CLOSED_BEFORE_CONNECTION ERR_STREAM_PREMATURE_CLOSE
     ERR_HTTP2_GOAWAY_SESSION ERR_HTTP2_STREAM_CANCEL ERR_HTTP2_SESSION_ERROR
     ERR_HTTP2_STREAM_ERROR ERR_HTTP2_INVALID_SESSION ERR_HTTP2_SOCKET_UNBOUND
     CONNECTION_CLOSED NOT_CONNECTED UNAVAILABLE
     PROTOCOL_CONNECTION_LOST PROTOCOL_ENQUEUE_AFTER_FATAL_ERROR ER_CON_COUNT_ERROR
     ER_SERVER_SHUTDOWN ER_TOO_MANY_USER_CONNECTIONS CONNECTION_ENDED CONNECTION_DESTROYED
     NR_CLOSED CONNECTION_BROKEN UNCERTAIN_STATE ClusterAllFailedError
     57P01 57P02 57P03 57P05 53300 25P03 P1001 P1017 NetworkingError
     HostUnreachable HostNotFound SocketException PrimarySteppedDown NotWritablePrimary
     NotPrimaryNoSecondaryOk InterruptedAtShutdown ShutdownInProgress`,
  ],
  [WRONG_HOST, 'ENOTFOUND ENODATA EBADNAME ENONAME EAI_NONAME EAI_NODATA EAI_FAIL EINSTANCELOOKUP'],
  [
    RATE_LIMITED,
    `slack_webapi_rate_limited_error RESOURCE_EXHAUSTED ThrottlingException Throttling
     ThrottledException TooManyRequestsException RequestLimitExceeded RequestThrottled
     RequestThrottledException ProvisionedThroughputExceededException BandwidthLimitExceeded
     LimitExceededException SlowDown rate_limit_exceeded rate_limited rateLimitExceeded
     userRateLimitExceeded too_many_requests`,
  ],
  [
    UPSTREAM,
    `EPROTO SELF_SIGNED_CERT_IN_CHAIN DEPTH_ZERO_SELF_SIGNED_CERT HOSTNAME_MISMATCH
     INVALID_PURPOSE INVALID_CA PATH_LENGTH_EXCEEDED CRL_HAS_EXPIRED CRL_NOT_YET_VALID
     ERR_FR_TOO_MANY_REDIRECTS ERR_TOO_MANY_REDIRECTS ERR_BAD_RESPONSE ERR_BAD_REQUEST
     UND_ERR_RES_CONTENT_LENGTH_MISMATCH UND_ERR_RESPONSE_STATUS_CODE
     UND_ERR_RES_EXCEEDED_MAX_SIZE ERR_HTTP_CONTENT_LENGTH_MISMATCH
     ERR_BODY_PARSE_FAILURE EBADRESP EFORMERR`,
  ],
  [
    UNEXPECTED,
    `EMFILE ENFILE ENOMEM ENOSPC EDQUOT EAGAIN EBUSY ENOENT EACCES EPERM EEXIST EISDIR ENOTDIR
     ENOTEMPTY EROFS EADDRINUSE EINVAL EBADF EFBIG EIO ELOOP ENAMETOOLONG EXDEV ENOEXEC
     ERR_CHILD_PROCESS_STDIO_MAXBUFFER`,
  ],
)

/** Families of codes that are too many to list: TLS faults, HTTP parsing, SQLSTATE 08. */
const CODE_FAMILIES: [RegExp, Verdict][] = [
  [/^(CERT_|ERR_TLS_|ERR_SSL_|ERR_OSSL_|UNABLE_TO_)/, UPSTREAM],
  [/^(HPE_|Z_)/, UPSTREAM],
  [/^08[0-9A-Z]{3}$/, CONNECTION],
]

/** By `error.name`, for libraries whose errors carry no code. */
const NAMES = table(
  [
    TIMEOUT,
    `TimeoutError ConnectTimeoutError HeadersTimeoutError BodyTimeoutError
     MongoNetworkTimeoutError MongoWaitQueueTimeoutError
     MongoOperationTimeoutError KnexTimeoutError SequelizeConnectionTimedOutError
     SequelizeConnectionAcquireTimeoutError ConnectionTimeoutError SocketTimeoutError
     CommandTimeoutError APIConnectionTimeoutError ResourceRequestTimeoutError
     PoolTimeoutError RequestTimeoutError StatementTimeoutError`,
  ],
  [
    CONNECTION,
    `SocketError ConnectionError MongoNetworkError MongoServerSelectionError
     MongoTopologyClosedError MongoPoolClearedError PoolClearedError MongoNotConnectedError MaxRetriesPerRequestError
     SequelizeConnectionError SequelizeConnectionRefusedError SequelizeHostNotReachableError
     SequelizeHostNotFoundError ClientClosedError ClientOfflineError
     SocketClosedUnexpectedlyError DisconnectsClientError ReconnectStrategyError
     ClusterAllFailedError APIConnectionError ConnectionClosedError ConnectionLostError
     DisconnectedError ClientDestroyedError`,
  ],
  [
    RATE_LIMITED,
    `ThrottlingException ThrottledException TooManyRequestsException RequestLimitExceeded
     ProvisionedThroughputExceededException RequestThrottledException RateLimitError
     LimitExceededException SlowDown TooManyRequestsError`,
  ],
)

/** The gRPC codes, by number. Their errors carry `code` as a number and `details`. */
export const GRPC_CODE_NAMES = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const

export function verdictOfCode(code: string): Verdict | undefined {
  return CODES.get(code) ?? CODE_FAMILIES.find(([family]) => family.test(code))?.[1]
}

export function verdictOfName(name: string): Verdict | undefined {
  return NAMES.get(name)
}

/** An HTTP status of 400 or more. */
export function verdictOfStatus(status: number): Verdict {
  if (status === 408 || status === 504 || status === 522 || status === 524) return TIMEOUT
  if (status === 502 || status === 503 || status === 521 || status === 523) return CONNECTION
  if (status === 429 || status === 529) return RATE_LIMITED
  return UPSTREAM
}

/** Texts of errors that carry neither code nor name. Each names a failure, not a topic. */
const TEXTS: [RegExp, Verdict][] = [
  [/\btimed out\b|\bdeadline exceeded\b/i, TIMEOUT],
  [
    /\btimeout (of \d+ ?ms )?exceeded\b|\b(connection|connect|request|socket|read) timeout\b/i,
    TIMEOUT,
  ],
  [/^[A-Z_]*TIME_?OUT[A-Z_]*$/, TIMEOUT],
  [
    /\bcertificate\b.*\b(verif|expired|invalid|self.signed|trust)|\bself.signed certificate\b/i,
    UPSTREAM,
  ],
  [/\bConnection terminated\b|^Connection (is )?closed\b|\bconnection lost\b/i, CONNECTION],
  [/: Connection closed$/, CONNECTION],
  [
    /\bsocket hang up\b|\bother side closed\b|\bconnection refused\b|\bconnection reset\b/i,
    CONNECTION,
  ],
  [/^(TypeError: )?(fetch failed|failed to fetch|network error|terminated)$/i, CONNECTION],
  [/^All connection attempts failed$/i, CONNECTION],
  [/^Server (has )?closed the connection/i, CONNECTION],
  [/^(too many requests|rate limit(ed| exceeded)?)\b/i, RATE_LIMITED],
  [/^(LOADING|CLUSTERDOWN|MASTERDOWN) /, CONNECTION],
]

/** `<` where JSON should start: an error page, a login page, a proxy's greeting. */
const HTML_FOR_JSON = /^Unexpected token '?<'?[ ,]/

const STATUS_IN_TEXT =
  /\b(?:status(?: code)?:?|HTTP(?:\/\d(?:\.\d)?)?(?: error)?:?) (4\d\d|5\d\d)\b/i

const CODE_IN_TEXT = /\b(E[A-Z]{4,}|EAI_[A-Z]+|UND_ERR_[A-Z_]+)\b/

export type TextVerdict = Verdict & { code?: string; status?: number }

/** The last resort. Codes and statuses quoted in the text come before its wording. */
export function verdictOfText(text: string): TextVerdict | undefined {
  if (HTML_FOR_JSON.test(text)) return UPSTREAM
  const code = CODE_IN_TEXT.exec(text)?.[1]
  const byCode = code === undefined ? undefined : CODES.get(code)
  if (code !== undefined && byCode && byCode !== UNEXPECTED) return { ...byCode, code }
  const status = Number(STATUS_IN_TEXT.exec(text)?.[1])
  if (status) return { ...verdictOfStatus(status), status }
  return TEXTS.find(([pattern]) => pattern.test(text))?.[1]
}
