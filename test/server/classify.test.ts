import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import {
  type Classification,
  classify,
  classifyAbort,
  DEADLINE_REASON,
} from '../../server/wrapper/classify.ts'
import {
  ConnectionError,
  FatalError,
  InvalidArgumentsError,
  TimeoutError,
  ToolError,
} from '../../server/wrapper/errors.ts'

type Row = [what: string, error: unknown, expected: Partial<Classification>]

function table(name: string, rows: Row[]): void {
  test(name, () => {
    for (const [what, error, expected] of rows) {
      const actual: Record<string, unknown> = classify(error)
      for (const [key, value] of Object.entries(expected)) {
        assert.equal(actual[key], value, `${what}: ${key} of ${JSON.stringify(actual)}`)
      }
    }
  })
}

function coded(code: string | number, message = 'failed', more: object = {}): Error {
  return Object.assign(new Error(message), { code, ...more })
}

function fetchFailed(cause: unknown, message = 'fetch failed'): TypeError {
  return new TypeError(message, { cause })
}

function named(name: string, code?: string, message = 'failed'): Error {
  return Object.assign(new Error(message), { name, ...(code && { code }) })
}

const timeout = { class: 'timeout', transient: true } as const
const connection = { class: 'connection', transient: true } as const
const upstream = { class: 'upstream', transient: false } as const
const unexpected = { class: 'unexpected', transient: false } as const

table('the package’s own errors say their class', [
  ['fatal', new FatalError('no key'), { class: 'fatal', transient: false }],
  ['tool', new ToolError('no such invoice'), { class: 'tool_error', transient: false }],
  [
    'connection',
    new ConnectionError('gone', { code: 'E_GONE' }),
    { ...connection, code: 'E_GONE' },
  ],
  [
    'timeout',
    new TimeoutError('slow', { upstream: 'api:443' }),
    { ...timeout, upstream: 'api:443' },
  ],
  ['arguments', new InvalidArgumentsError('from > to'), { class: 'invalid_arguments' }],
  ['fatal behind another', new Error('x', { cause: new FatalError('no key') }), { class: 'fatal' }],
])

table('C3: fetch hides its code in the cause', [
  [
    'connect time-out',
    fetchFailed(named('ConnectTimeoutError', 'UND_ERR_CONNECT_TIMEOUT')),
    { ...timeout, code: 'UND_ERR_CONNECT_TIMEOUT' },
  ],
  [
    'headers time-out',
    fetchFailed(named('HeadersTimeoutError', 'UND_ERR_HEADERS_TIMEOUT')),
    { ...timeout, code: 'UND_ERR_HEADERS_TIMEOUT' },
  ],
  [
    'body time-out',
    fetchFailed(named('BodyTimeoutError', 'UND_ERR_BODY_TIMEOUT'), 'terminated'),
    { ...timeout, code: 'UND_ERR_BODY_TIMEOUT' },
  ],
  [
    'other side closed',
    fetchFailed(named('SocketError', 'UND_ERR_SOCKET', 'other side closed')),
    { ...connection, code: 'UND_ERR_SOCKET' },
  ],
  ['ECONNRESET', fetchFailed(coded('ECONNRESET')), { ...connection, code: 'ECONNRESET' }],
  ['EPIPE', fetchFailed(coded('EPIPE')), { ...connection, code: 'EPIPE' }],
  ['EAI_AGAIN', fetchFailed(coded('EAI_AGAIN')), { ...connection, code: 'EAI_AGAIN' }],
  [
    'a wrong host name is not transient',
    fetchFailed(coded('ENOTFOUND', 'getaddrinfo ENOTFOUND api.test', { hostname: 'api.test' })),
    { class: 'connection', transient: false, code: 'ENOTFOUND', upstream: 'api.test' },
  ],
  [
    'all addresses tried in vain',
    fetchFailed(coded('ERR_SOCKET_CONNECTION_TIMEOUT')),
    { ...timeout, code: 'ERR_SOCKET_CONNECTION_TIMEOUT' },
  ],
  ['no cause at all', new TypeError('fetch failed'), connection],
])

table('C4: a DOMException’s number is no errno', [
  ['TimeoutError', new DOMException('timed out', 'TimeoutError'), { ...timeout, code: undefined }],
  ['AbortError', new DOMException('aborted', 'AbortError'), { ...connection, code: 'ABORT_ERR' }],
  ['a plain 20', { code: 20, message: 'x' }, { ...unexpected, code: undefined }],
])

test('C4: an AbortError cancels only where the call’s own signal has aborted', () => {
  const error = new DOMException('This operation was aborted', 'AbortError')
  const call = new AbortController()
  assert.equal(classify(error, { signal: call.signal }).class, 'connection')
  call.abort('user pressed esc')
  const ended = classify(error, { signal: call.signal })
  assert.deepEqual(ended, { class: 'cancelled', transient: false, by: 'client' })
})

table('C6: pg errors, with and without codes', [
  ['terminated', new Error('Connection terminated unexpectedly'), connection],
  ['pool', new Error('timeout exceeded when trying to connect'), timeout],
  ['both', new Error('Connection terminated due to connection timeout'), timeout],
  [
    'statement time-out',
    coded('57014', 'canceling statement due to statement timeout'),
    { ...timeout, code: '57014' },
  ],
  ['shutdown', coded('57P01'), connection],
  ['connection_failure', coded('08006'), connection],
  ['duplicate key', coded('23505', 'duplicate key'), { ...unexpected, code: '23505' }],
  ['bad byte', coded('22021', 'invalid byte sequence'), { ...unexpected, code: '22021' }],
])

table('C7: client libraries that gave up', [
  [
    'ioredis',
    { name: 'MaxRetriesPerRequestError', message: 'Reached the max retries per request limit' },
    connection,
  ],
  [
    'mysql',
    { code: 'PROTOCOL_CONNECTION_LOST' },
    { ...connection, code: 'PROTOCOL_CONNECTION_LOST' },
  ],
  ['gRPC 4', { code: 4, details: 'Deadline exceeded' }, { ...timeout, code: 'DEADLINE_EXCEEDED' }],
  ['gRPC 14', { code: 14, details: 'no route' }, { ...connection, code: 'UNAVAILABLE' }],
  ['gRPC 8', { code: 8, details: 'quota' }, { class: 'rate_limited' }],
  ['gRPC 3', { code: 3, details: 'bad' }, { ...unexpected, code: 'INVALID_ARGUMENT' }],
  ['a 4 without details', { code: 4 }, unexpected],
  ['mongodb', named('MongoNetworkError'), connection],
  ['mongodb time-out', named('MongoNetworkTimeoutError'), timeout],
  ['mongodb maxTimeMS', { code: 50, codeName: 'MaxTimeMSExpired', message: 'x' }, timeout],
  ['mysql2 connect', coded('ETIMEDOUT', 'connect ETIMEDOUT'), timeout],
  ['redis', new Error('Connection is closed.'), connection],
  ['redis still loading', new Error('LOADING Redis is loading the dataset in memory'), connection],
  ['knex', named('KnexTimeoutError'), timeout],
  ['prisma', named('PrismaClientInitializationError', 'P1001'), connection],
  [
    'sequelize keeps it in parent',
    Object.assign(new Error('x'), { parent: coded('ECONNREFUSED') }),
    { ...connection, code: 'ECONNREFUSED' },
  ],
])

table('HTTP statuses, in the shapes of the usual clients', [
  [
    'axios',
    coded('ERR_BAD_RESPONSE', 'x', { response: { status: 503 } }),
    { ...connection, status: 503 },
  ],
  [
    'axios 404',
    coded('ERR_BAD_REQUEST', 'x', { response: { status: 404 } }),
    { ...upstream, status: 404 },
  ],
  ['axios time-out', coded('ECONNABORTED', 'timeout of 1000ms exceeded'), timeout],
  ['aborted connection', coded('ECONNABORTED', 'aborted'), connection],
  ['axios network', coded('ERR_NETWORK', 'Network Error'), connection],
  [
    'got',
    Object.assign(named('HTTPError'), { response: { statusCode: 504 } }),
    { ...timeout, status: 504 },
  ],
  [
    'ky',
    Object.assign(named('HTTPError'), { response: { status: 408 } }),
    { ...timeout, status: 408 },
  ],
  [
    'AWS',
    { name: 'InternalError', $metadata: { httpStatusCode: 500 } },
    { ...upstream, status: 500 },
  ],
  [
    'AWS throttling says 400',
    { name: 'ThrottlingException', message: 'slow', $metadata: { httpStatusCode: 400 } },
    { class: 'rate_limited', transient: true },
  ],
  ['status as text', { message: 'x', statusCode: '502' }, { ...connection, status: 502 }],
  [
    'only in the message',
    new Error('Request failed with status code 503'),
    { ...connection, status: 503 },
  ],
  ['an exit status', { message: 'x', status: 1 }, { ...unexpected, status: undefined }],
])

test('C9: a rate limit and how long it lasts, in every common shape', () => {
  const limited = { class: 'rate_limited', transient: true, status: 429, retryAfterS: 60 }
  const shapes: unknown[] = [
    { response: { status: 429, headers: { 'retry-after': '60' } } },
    { response: { status: 429, headers: new Headers({ 'Retry-After': '60' }) } },
    { response: { status: 429, headers: { 'RETRY-AFTER': '60' } } },
    { response: { status: 429, headers: new Map([['retry-after', '60']]) } },
    { status: 429, headers: { 'retry-after': 60 } },
    { statusCode: '429', headers: { 'retry-after': ['60'] } },
    { status: 429, headers: { 'retry-after-ms': '60000' } },
    { status: 429, retryAfter: 60 },
    { status: 429, headers: { 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT' } },
    new Error('x', { cause: { status: 429, headers: { 'retry-after': '60' } } }),
  ]
  for (const shape of shapes) {
    assert.deepEqual(classify(shape, { now: () => Date.UTC(2026, 0, 1) }), limited)
  }
})

test('C9: a malformed Retry-After is left out, a date that has passed means now', () => {
  const seconds = (value: unknown) =>
    classify(
      { status: 429, headers: { 'retry-after': value } },
      { now: () => Date.UTC(2026, 0, 1) },
    ).retryAfterS
  for (const bad of ['soon', '-5', '1e3', '', '  ', 'NaN', '0x10', {}, null, '12 34']) {
    assert.equal(seconds(bad), undefined, JSON.stringify(bad))
  }
  assert.equal(seconds('Wed, 31 Dec 2025 23:59:00 GMT'), 0)
  assert.equal(seconds('99999999999'), 31 * 24 * 3600)
})

table('C11: certificate and TLS faults are not transient', [
  ...(
    [
      'CERT_HAS_EXPIRED',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'ERR_TLS_CERT_ALTNAME_INVALID',
      'ERR_SSL_WRONG_VERSION_NUMBER',
      'EPROTO',
    ] as const
  ).map((code): Row => [code, fetchFailed(coded(code)), { ...upstream, code }]),
  ['without a code', new Error('unknown certificate verification error'), upstream],
  [
    'a connection that broke before TLS was up',
    coded(
      'ECONNRESET',
      'Client network socket disconnected before secure TLS connection was established',
    ),
    connection,
  ],
])

table('C12: the SDK’s own errors', [
  [
    'closed',
    coded(-32000, 'MCP error -32000: Connection closed'),
    { ...connection, code: 'CONNECTION_CLOSED' },
  ],
  ['time-out of a server behind', coded(-32001, 'MCP error -32001: Request timed out'), timeout],
  ['invalid params is no proof', coded(-32602, 'MCP error -32602: x'), unexpected],
  ['a business error', new Error('Internal Server Error'), unexpected],
])

table('C18: faults of this machine are not the upstream’s', [
  ...(
    [
      ['EMFILE', 'open'],
      ['ENOMEM', 'spawn'],
      ['ENOSPC', 'write'],
      ['ENOSPC', 'watch'],
      ['EAGAIN', 'spawn'],
      ['EBUSY', 'spawn'],
      ['ENOENT', 'open'],
      ['EACCES', 'open'],
    ] as const
  ).map(([code, syscall]): Row => [code, { code, syscall, message: 'x' }, { ...unexpected, code }]),
  [
    'a socket file that is not there',
    coded('ENOENT', 'connect', { syscall: 'connect' }),
    connection,
  ],
  [
    'a command killed at its time limit',
    { killed: true, signal: 'SIGTERM', message: 'x' },
    timeout,
  ],
  [
    'with a code behind it',
    new Error('x', { cause: coded('ENOENT') }),
    { ...unexpected, code: 'ENOENT' },
  ],
  [
    'a cause says more than the file system',
    coded('EACCES', 'x', { cause: coded('ECONNREFUSED') }),
    { ...connection, code: 'ECONNREFUSED' },
  ],
])

test('A14: the innermost cause decides, whatever is wrapped round it', () => {
  const refused = coded('ETIMEDOUT', 'connect ETIMEDOUT 10.0.0.9:5432')
  const query = new Error('query failed', { cause: refused })
  assert.equal(classify(new Error('lookup failed', { cause: query })).class, 'timeout')
  assert.equal(classify(new AggregateError([new Error('x'), refused])).code, 'ETIMEDOUT')
})

test('A14: a cause that is itself and a very deep chain end quickly', () => {
  const self = new Error('round and round') as Error & { cause: unknown }
  self.cause = self
  let deep: Error = coded('ECONNREFUSED')
  for (let depth = 0; depth < 10_000; depth++) deep = new Error('wrapped', { cause: deep })
  const before = process.cpuUsage()
  assert.equal(classify(self).class, 'unexpected')
  assert.equal(classify(deep).class, 'connection')
  assert.ok(process.cpuUsage(before).user < 500_000)
})

table('texts are the last resort, and only where they name a failure', [
  [
    'HTML for JSON',
    new SyntaxError(`Unexpected token '<', "<!DOCTYPE "... is not valid JSON`),
    upstream,
  ],
  [
    'a code in the text',
    new Error('Upload failed: connect ECONNREFUSED 127.0.0.1:1'),
    { ...connection, code: 'ECONNREFUSED' },
  ],
  ['hang up', new Error('socket hang up'), connection],
  ['a business sentence', new Error('validation of the timeout field failed'), unexpected],
  ['another', new Error('The connection between the two invoices is unclear'), unexpected],
  ['an invalid option', new RangeError('timeout must be a positive number'), unexpected],
  ['a certificate of a course', new Error('no certificate for this course'), unexpected],
])

test('C1: a client’s time-out is told from a change of mind by its reason', () => {
  const mcp = 'McpError: MCP error -32001: Request timed out'
  assert.deepEqual(classifyAbort(mcp), { class: 'timeout', transient: false, by: 'client' })
  assert.deepEqual(classifyAbort('user pressed esc'), {
    class: 'cancelled',
    transient: false,
    by: 'client',
  })
  assert.equal(classifyAbort(DEADLINE_REASON).by, 'deadline')
  assert.equal(classifyAbort(undefined).class, 'cancelled')
})

test('C2: what fetch throws after the client aborted the call', async (t) => {
  const server = createServer(() => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  assert.ok(typeof address === 'object' && address)
  const thrownAfter = async (controller: AbortController, reason: unknown) => {
    const request = fetch(`http://127.0.0.1:${address.port}/`, { signal: controller.signal })
    controller.abort(reason)
    return request.then(
      () => assert.fail('the request should have been aborted'),
      (error: unknown) => error,
    )
  }
  const gaveUp = new AbortController()
  const gaveUpError = await thrownAfter(gaveUp, 'McpError: MCP error -32001: Request timed out')
  assert.equal(typeof gaveUpError, 'string')
  const byClient = { class: 'timeout', transient: false, by: 'client' }
  assert.deepEqual(classify(gaveUpError, { signal: gaveUp.signal }), byClient)
  assert.deepEqual(classify(gaveUpError), byClient)

  const own = await thrownAfter(new AbortController(), 'FETCH_TIMEOUT')
  assert.equal(classify(own).class, 'timeout')

  const cancelled = new AbortController()
  const cancelledError = await thrownAfter(cancelled, 'user pressed esc')
  assert.equal(classify(cancelledError, { signal: cancelled.signal }).class, 'cancelled')

  const limited = await fetch(`http://127.0.0.1:${address.port}/`, {
    signal: AbortSignal.timeout(20),
  }).catch((error: unknown) => error)
  assert.deepEqual(classify(limited), { class: 'timeout', transient: true })
})

test('an aborted call is over: a broken connection afterwards is no connection failure', () => {
  const controller = new AbortController()
  controller.abort('user pressed esc')
  const { class: kind } = classify(coded('ECONNRESET'), { signal: controller.signal })
  assert.equal(kind, 'cancelled')
  assert.equal(classify(new FatalError('x'), { signal: controller.signal }).class, 'fatal')
})

test('a refused connection names its upstream', async () => {
  const error = await fetch('http://127.0.0.1:1/x?token=abc').catch((thrown: unknown) => thrown)
  const { class: kind, code, upstream: host } = classify(error)
  assert.ok(kind === 'connection' || kind === 'unexpected')
  if (code === 'ECONNREFUSED') assert.equal(host, '127.0.0.1:1')
  const axios = coded('ECONNREFUSED', 'x', { config: { url: 'https://u:pw@api.test:8443/v1?k=1' } })
  assert.equal(classify(axios).upstream, 'api.test:8443')
})

test('a custom classifier has the first word, and a broken one is left out', (t) => {
  const rate: Classification = { class: 'rate_limited', transient: true, retryAfterS: 2 }
  const custom = (error: unknown) => (error === 'quota' ? rate : undefined)
  assert.deepEqual(classify('quota', { custom }), rate)
  assert.equal(classify(coded('ECONNRESET'), { custom }).class, 'connection')
  t.diagnostic('one warning on stderr is expected here')
  const broken = () => {
    throw new Error('oops')
  }
  assert.equal(classify(coded('ECONNRESET'), { custom: broken }).class, 'connection')
  const nonsense = () => ({ class: 'sad' }) as unknown as Classification
  assert.equal(classify(coded('ECONNRESET'), { custom: nonsense }).class, 'connection')
})

test('A12: hostile values are unexpected, and nothing escapes', () => {
  const hostile = new Proxy(
    {},
    {
      get() {
        throw new Error('no')
      },
      getPrototypeOf() {
        throw new Error('no')
      },
      ownKeys() {
        throw new Error('no')
      },
    },
  )
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  const getter = Object.defineProperty(new Error('x'), 'code', {
    get() {
      throw new Error('no')
    },
  })
  const endless = {
    get cause(): unknown {
      return Object.create(endless)
    },
  }
  const values = [
    hostile,
    proxy,
    getter,
    endless,
    new Error('x', { cause: hostile }),
    new AggregateError([hostile, proxy]),
    { errors: hostile, response: hostile, headers: proxy },
    Object.create(null),
    null,
    undefined,
    0,
    1n,
    Symbol('s'),
    'bad thing',
    () => undefined,
    [],
  ]
  for (const value of values) assert.equal(classify(value).class, 'unexpected')
})
