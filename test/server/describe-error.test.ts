import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeError, errorLine } from '../../server/wrapper/describe-error.ts'
import { ToolError } from '../../server/wrapper/errors.ts'

function throwing(): never {
  throw new Error('no')
}

const hostileProxy = new Proxy({}, { get: throwing, getPrototypeOf: throwing, ownKeys: throwing })

test('A12: whatever is thrown is described in words', () => {
  const rows: [unknown, string][] = [
    ['bad thing', 'bad thing'],
    ['', '(an empty string was thrown)'],
    [{ code: 'E42', message: 'quota' }, 'E42: quota'],
    [{ code: 'E42', reason: { left: 0 } }, '{"code":"E42","reason":{"left":0}}'],
    [null, 'null was thrown'],
    [undefined, 'undefined was thrown'],
    [0, '0 was thrown'],
    [1n, '1 was thrown'],
    [Symbol('s'), 'Symbol(s) was thrown'],
    [Object.create(null), 'object (no message)'],
    [{}, 'Object (no message)'],
    [new Error(''), 'Error (no message)'],
    [new RangeError('  '), 'RangeError (no message)'],
    [new ToolError('locked by U1'), 'locked by U1'],
    [Object.assign(new Error('x'), { message: { a: 1 } }), '{"a":1}'],
    [Object.defineProperty(new Error('x'), 'message', { get: throwing }), 'Error (no message)'],
    [hostileProxy, 'object (no message)'],
  ]
  for (const [thrown, message] of rows) {
    assert.equal(describeError(thrown).message, message)
    const named = describeError(thrown)
    assert.ok(named.name.length > 0)
  }
})

test('A12: an object that cannot be turned into JSON still has a name', () => {
  const circular: { self?: unknown; code: string } = { code: 'E_LOOP' }
  circular.self = circular
  assert.equal(describeError(circular).message, 'E_LOOP: Object (no message)')
})

test('A14: the causes are named from the outermost to the innermost', () => {
  const connect = Object.assign(new Error('connect ETIMEDOUT 10.0.0.9:5432'), { code: 'ETIMEDOUT' })
  const error = new Error('lookup failed', { cause: new Error('query failed', { cause: connect }) })
  const described = describeError(error)
  assert.equal(described.message, 'lookup failed')
  assert.deepEqual(described.causes, [
    { name: 'Error', message: 'query failed' },
    { name: 'Error', code: 'ETIMEDOUT', message: 'connect ETIMEDOUT 10.0.0.9:5432' },
  ])
  assert.match(described.stack ?? '', /describe-error\.test/)
  assert.equal(errorLine(described), 'lookup failed: query failed: connect ETIMEDOUT 10.0.0.9:5432')
})

test('A14: a cause that its wrapper has quoted is not said twice', () => {
  const inner = new Error('disk is full')
  const described = describeError(new Error('cannot save: disk is full', { cause: inner }))
  assert.equal(described.causes, undefined)
  const coded = Object.assign(new Error('disk is full'), { code: 'ENOSPC' })
  const withCode = describeError(new Error('cannot save: disk is full', { cause: coded }))
  assert.deepEqual(withCode.causes, [{ name: 'Error', code: 'ENOSPC', message: 'disk is full' }])
  assert.equal(errorLine(withCode), 'cannot save: disk is full')
})

test('A14: a deep chain is cut in the middle, keeps its innermost, and takes no time', () => {
  let deep = new Error('the root of it')
  for (let depth = 0; depth < 10_000; depth++) deep = new Error(`layer ${depth}`, { cause: deep })
  const before = performance.now()
  const described = describeError(deep)
  const tookMs = performance.now() - before
  assert.equal(described.causes?.length, 8)
  assert.equal(described.causes?.at(-1)?.message, 'the root of it')
  assert.ok(JSON.stringify(described).length < 20_000)
  // 50 ms by itself; the rest is for a machine that is busy with other tests.
  assert.ok(tookMs < 250, `${tookMs} ms`)
})

test('an error that causes itself ends', () => {
  const error = new Error('round and round') as Error & { cause: unknown }
  error.cause = error
  assert.equal(describeError(error).causes, undefined)
})

test('an aggregate without a message tells its members', () => {
  const error = new AggregateError([
    Object.assign(new Error('connect ECONNREFUSED ::1:80'), { code: 'ECONNREFUSED' }),
    Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:80'), { code: 'ECONNREFUSED' }),
  ])
  assert.equal(
    errorLine(describeError(error)),
    'AggregateError (no message): connect ECONNREFUSED ::1:80: connect ECONNREFUSED 127.0.0.1:80',
  )
})

test('a megabyte of message and stack is cut', () => {
  const error = new Error('x'.repeat(1_000_000))
  const described = describeError(error)
  assert.ok(described.message.length <= 4_000)
  assert.ok((described.stack ?? '').length <= 8_000)
  assert.ok(errorLine(described).length <= 500)
})
