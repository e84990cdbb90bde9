import { type EndedBy, ERROR_CLASSES, type ErrorClass } from '../call-log/record.ts'
import { readProperty, readString } from '../safe-read.ts'
import { tellOperator } from '../stderr.ts'
import { errorsWithin } from './error-chain.ts'
import {
  CONNECTION,
  GRPC_CODE_NAMES,
  TIMEOUT,
  UNEXPECTED,
  type Verdict,
  verdictOfCode,
  verdictOfName,
  verdictOfStatus,
  verdictOfText,
} from './error-codes.ts'
import {
  isConnectionError,
  isFatalError,
  isInvalidArgumentsError,
  isTimeoutError,
  isToolError,
} from './errors.ts'
import { retryAfterSeconds, statusOf, upstreamOf } from './http-facts.ts'

export type Classification = {
  class: ErrorClass
  /** Whether the same call may succeed in a moment. */
  transient: boolean
  code?: string | undefined
  /** HTTP status of the upstream's answer. */
  status?: number | undefined
  /** Seconds the upstream asked to wait. */
  retryAfterS?: number | undefined
  /** Host, or host:port, of the upstream. */
  upstream?: string | undefined
  by?: EndedBy | undefined
}

export type ClassifyOptions = {
  /** The first word; undefined leaves it to the built-in rules. One that throws is left out. */
  custom?: ((error: unknown) => Classification | undefined) | undefined
  /** The call's own signal: once it has aborted, the call was ended from outside. */
  signal?: AbortSignal | undefined
  /** Epoch ms, for a Retry-After given as a date. */
  now?: (() => number) | undefined
}

/** The abort reason by which the wrapper's own deadline is known again. */
export const DEADLINE_REASON = 'unsilent: the deadline of this call has passed'

const MAX_TEXT_LENGTH = 2_000
const MAX_CODE_LENGTH = 64

/** Never throws, whatever the value is. Facts first, through causes; wording last. */
export function classify(error: unknown, options: ClassifyOptions = {}): Classification {
  const chain = errorsWithin(error)
  if (chain.some(isFatalError)) return { class: 'fatal', transient: false }
  const custom = askCustom(error, options.custom)
  if (custom) return custom
  const ended = endedFromOutside(options.signal)
  if (ended) return ended
  return byFacts(chain, options) ?? byWording(chain, options) ?? unexpected(chain)
}

/** What an abort reason says: a client that gave up waiting, our own deadline, or a change of mind. */
export function classifyAbort(reason: unknown): Classification {
  const text = textOf(reason)
  if (text === DEADLINE_REASON) return { class: 'timeout', transient: false, by: 'deadline' }
  const timedOut =
    isTimeoutError(reason) ||
    readString(reason, 'name') === 'TimeoutError' ||
    text.includes('-32001') ||
    /\btimed? ?-?out\b|timeout/i.test(text)
  if (timedOut) return { class: 'timeout', transient: false, by: 'client' }
  return { class: 'cancelled', transient: false, by: 'client' }
}

function endedFromOutside(signal: AbortSignal | undefined): Classification | undefined {
  if (readProperty(signal, 'aborted') !== true) return undefined
  return classifyAbort(readProperty(signal, 'reason'))
}

type Found = Verdict & {
  code?: string | undefined
  status?: number | undefined
  by?: EndedBy | undefined
}

function byFacts(chain: unknown[], options: ClassifyOptions): Classification | undefined {
  let unexpected: Found | undefined
  for (const error of chain) {
    const found = factOf(error)
    if (found && found.class !== 'unexpected') return withDetails(found, chain, options)
    unexpected ??= found
  }
  return unexpected && withDetails(unexpected, chain, options)
}

/** What this one error says by itself, its causes left aside. */
function factOf(error: unknown): Found | undefined {
  if (typeof error === 'string') return factOfString(error)
  const code = codeOf(error)
  if (isToolError(error)) return { class: 'tool_error', transient: false, code }
  if (isInvalidArgumentsError(error)) return { class: 'invalid_arguments', transient: false, code }
  if (isTimeoutError(error)) return { ...TIMEOUT, code }
  if (isConnectionError(error)) return { ...CONNECTION, code }
  const status = statusOf(error)
  const named = factOfCode(error, code) ?? factOfName(error, code)
  if (status === undefined) return named
  const byStatus: Found = { ...verdictOfStatus(status), code, status }
  // Some services answer a throttled request with a plain 400 and say the rest by a name.
  const nameSaysMore = byStatus.class === 'upstream' && named && named.class !== 'unexpected'
  return nameSaysMore ? { ...named, status } : byStatus
}

function factOfCode(error: unknown, code: string | undefined): Found | undefined {
  if (code === undefined) return undefined
  if (code === 'ECONNABORTED' && /timeout/i.test(textOf(error))) return { ...TIMEOUT, code }
  if (code === 'ENOENT' && readString(error, 'syscall') === 'connect')
    return { ...CONNECTION, code }
  const verdict = verdictOfCode(code)
  return verdict && { ...verdict, code }
}

const ABORT_CODES = new Set(['ABORT_ERR', 'UND_ERR_ABORTED', 'ERR_CANCELED', 'ERR_ABORTED'])

function factOfName(error: unknown, code: string | undefined): Found | undefined {
  const name = readString(error, 'name') ?? ''
  // The tool broke off its own request (the call's own signal was looked at before): most often a
  // time limit made by hand. Nothing came back, so it counts as a connection that was cut.
  if (name === 'AbortError' || (code !== undefined && ABORT_CODES.has(code))) {
    return /time-?d? ?-?out/i.test(textOf(error))
      ? { ...TIMEOUT, code: 'ABORT_ERR' }
      : { ...CONNECTION, code: 'ABORT_ERR' }
  }
  // child_process kills a command that exceeds its `timeout`, and gives no code.
  if (code === undefined && readProperty(error, 'killed') === true && readString(error, 'signal')) {
    return { ...TIMEOUT, code: readString(error, 'signal') }
  }
  const verdict = verdictOfName(name)
  return verdict && { ...verdict, code }
}

/** A thrown string is mostly an abort reason that `fetch` passed on. */
function factOfString(text: string): Found | undefined {
  if (text === DEADLINE_REASON) return { class: 'timeout', transient: false, by: 'deadline' }
  if (text.includes('-32001')) return { class: 'timeout', transient: false, by: 'client' }
  return undefined
}

function byWording(chain: unknown[], options: ClassifyOptions): Classification | undefined {
  for (const error of chain) {
    const found = verdictOfText(textOf(error))
    if (found) return withDetails({ code: codeOf(error), ...found }, chain, options)
  }
  return undefined
}

function unexpected(chain: unknown[]): Classification {
  const code = firstDefined(chain, codeOf)
  return { ...UNEXPECTED, ...(code !== undefined && { code }) }
}

function withDetails(found: Found, chain: unknown[], options: ClassifyOptions): Classification {
  const nowMs = (options.now ?? Date.now)()
  const status = found.status ?? firstDefined(chain, statusOf)
  const code = found.code ?? firstDefined(chain, codeOf)
  const retryAfterS = firstDefined(chain, (error) => retryAfterSeconds(error, nowMs))
  const upstream = firstDefined(chain, upstreamOf)
  return {
    class: found.class,
    transient: found.transient,
    ...(code !== undefined && { code }),
    ...(status !== undefined && { status }),
    ...(retryAfterS !== undefined && { retryAfterS }),
    ...(upstream !== undefined && { upstream }),
    ...(found.by !== undefined && { by: found.by }),
  }
}

function firstDefined<T>(chain: unknown[], read: (error: unknown) => T | undefined): T | undefined {
  for (const error of chain) {
    const value = read(error)
    if (value !== undefined) return value
  }
  return undefined
}

/**
 * The error's own code as a short word. Numbers are left out, because a DOMException's 20 is no
 * errno; the exceptions are gRPC, known by its `details`, and JSON-RPC's codes below -32000.
 */
function codeOf(error: unknown): string | undefined {
  const code = readProperty(error, 'code')
  if (typeof code === 'string') {
    return /^[\w.:-]+$/.test(code) ? code.slice(0, MAX_CODE_LENGTH) : undefined
  }
  if (typeof code === 'number') {
    if (readString(error, 'details') !== undefined) return GRPC_CODE_NAMES[code]
    if (code === -32001) return 'REQUEST_TIMEOUT'
    if (code === -32000 && /closed/i.test(textOf(error))) return 'CONNECTION_CLOSED'
  }
  return readString(error, 'codeName')?.slice(0, MAX_CODE_LENGTH)
}

function textOf(error: unknown): string {
  const text = typeof error === 'string' ? error : (readString(error, 'message') ?? '')
  return text.slice(0, MAX_TEXT_LENGTH)
}

let toldOfCustom = false

function askCustom(error: unknown, custom: ClassifyOptions['custom']): Classification | undefined {
  if (!custom) return undefined
  let fault: string
  try {
    const answer = custom(error)
    if (answer === undefined) return undefined
    if (isClassification(answer)) return answer
    fault = 'gave something that is no classification'
  } catch (thrown) {
    fault = `threw ${textOf(thrown) || 'an error'}`
  }
  if (!toldOfCustom) {
    toldOfCustom = true
    tellOperator(
      `the \`classify\` option ${fault}; the built-in rules are used. It should return undefined or { class, transient }, class being one of ${ERROR_CLASSES.join(', ')}`,
    )
  }
  return undefined
}

function isClassification(value: unknown): value is Classification {
  return (
    (ERROR_CLASSES as readonly unknown[]).includes(readProperty(value, 'class')) &&
    typeof readProperty(value, 'transient') === 'boolean'
  )
}
