import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { z } from 'zod'
import type { UnsilenceOptions } from '../../server/index.ts'
import { startWrapped, text, textOf } from './wrapper-harness.ts'

/** Calls a tool without arguments that returns, or throws, whatever `handler` does. */
async function outcomeOf(
  t: TestContext,
  handler: () => unknown,
  options: UnsilenceOptions & { outputSchema?: z.ZodRawShape } = {},
) {
  const { outputSchema, ...rest } = options
  const { call, calls } = await startWrapped(
    t,
    (server) => {
      server.registerTool('job', outputSchema ? { outputSchema } : {}, handler as never)
    },
    rest,
  )
  const result = await call('job')
  const records = calls()
  assert.equal(records.length, 1)
  const [record] = records
  assert.ok(record)
  return { result, said: textOf(result), record }
}

const withMessages: UnsilenceOptions = { errorText: 'message' }

test('A1: a thrown error is an error for the client, its words in the log', async (t) => {
  const { result, said, record } = await outcomeOf(t, async () => {
    throw new Error('Missing API key FOO')
  })
  assert.equal(result.isError, true)
  assert.match(said, /^Tool "job" failed: unexpected error, .* under call [0-9a-f]{12}-/)
  assert.doesNotMatch(said, /FOO/)
  assert.ok(said.includes(record.call))
  assert.equal(record.error?.class, 'unexpected')
  assert.equal(record.error?.message, 'Missing API key FOO')
})

test('A1: with errorText message the client reads it too', async (t) => {
  const { said } = await outcomeOf(
    t,
    () => {
      throw new Error('Missing API key FOO\n    at /srv/app/secret.js:1')
    },
    withMessages,
  )
  assert.match(said, /"job".*Missing API key FOO/)
  assert.doesNotMatch(said, /srv/)
})

const returned: [string, () => unknown, RegExp][] = [
  ['undefined', async () => undefined, /returned undefined, expected an object with `content`/],
  ['null', async () => null, /returned null/],
  ['a string', async () => 'plain', /returned a string/],
  ['an array', async () => [{ type: 'text', text: 'a' }], /returned an array/],
  ['undefined at once', () => undefined, /returned undefined/],
]
for (const [what, handler, words] of returned) {
  test(`A5: a tool that returns ${what} is an error that says so`, async (t) => {
    const { result, said, record } = await outcomeOf(t, handler)
    assert.equal(result.isError, true)
    assert.match(said, words)
    assert.match(said, /"job"/)
    assert.equal(record.error?.class, 'bad_result')
  })
}

test('A5: the text "null" is a sound result', async (t) => {
  for (const words of ['null', '5', '"x"']) {
    const { result, record } = await outcomeOf(t, () => text(words))
    assert.deepEqual(result, text(words))
    assert.equal(record.outcome, 'succeeded')
    assert.equal(record.result?.suspect, undefined)
  }
})

test('A6: a plain data object is no empty success', async (t) => {
  const { result, said, record } = await outcomeOf(t, async () => ({ ok: true, rows: 3 }))
  assert.equal(result.isError, true)
  assert.match(said, /no `content`.*ok, rows/)
  assert.equal(record.error?.class, 'bad_result')
})

const broken: [unknown, string][] = [
  [{ content: [{ type: 'json', json: { a: 1 } }] }, 'content[0].type'],
  [{ content: [{ type: 'text', text: JSON.stringify(undefined) }] }, 'content[0].text'],
  [{ content: [{ type: 'error', text: 'x' }] }, 'content[0].type'],
  [{ content: [{ type: 'text', text: {} }] }, 'content[0].text'],
  [
    {
      content: [
        { type: 'text', text: 'ok' },
        { type: 'image', data: 'AA' },
      ],
    },
    'content[1].mimeType',
  ],
  [{ content: [{ type: 'text', text: 'x' }], isError: 'true' }, 'isError'],
  [{ content: 'x' }, 'content'],
  [{ content: null }, 'content'],
  [{ content: [null] }, 'content[0]'],
  [{ content: [], structuredContent: [1] }, 'structuredContent'],
  [{ content: [{ type: 'resource', resource: { uri: 'a:b' } }] }, 'content[0].resource'],
]
for (const [result, spot] of broken) {
  test(`A7: a broken result is named by its spot: ${JSON.stringify(result)}`, async (t) => {
    const { result: answer, said, record } = await outcomeOf(t, () => result)
    assert.equal(answer.isError, true)
    assert.ok(said.includes(spot), said)
    assert.ok(said.length <= 500)
    assert.equal(record.error?.class, 'bad_result')
  })
}

const outputs: [string, unknown, RegExp][] = [
  ['(a) nothing', { content: [] }, /no structured/i],
  [
    '(b) a string',
    { content: [], structuredContent: { n: 'x' } },
    /expected number, received string.*\bn\b|\bn\b.*expected number, received string/,
  ],
  [
    '(c) a string without content',
    { structuredContent: { n: 'x' } },
    /structuredContent\.n: expected number, received string/,
  ],
  ['(d) undefined', undefined, /returned undefined/],
]
for (const [what, value, words] of outputs) {
  test(`A8: a result that breaks the output schema is an error: ${what}`, async (t) => {
    const { result, said, record } = await outcomeOf(t, () => value, {
      outputSchema: { n: z.number() },
    })
    assert.equal(result.isError, true)
    assert.match(said, words)
    assert.equal(record.error?.class, 'bad_result')
  })
}

test('A10: a BigInt is refused at its spot', async (t) => {
  const at = await outcomeOf(t, () => ({
    content: [],
    structuredContent: { id: 9007199254740993n },
  }))
  assert.equal(at.result.isError, true)
  assert.match(at.said, /cannot be serialised: BigInt at structuredContent\.id/)
  assert.equal(at.record.error?.class, 'bad_result')
  const meta = await outcomeOf(t, () => ({ content: [], _meta: { n: 1n } }))
  assert.match(meta.said, /BigInt at _meta\.n/)
})

test('A11: a circular result and a throwing toJSON are refused at their spot', async (t) => {
  const o: Record<string, unknown> = {}
  o.self = o
  const circular = await outcomeOf(t, () => ({ content: [], structuredContent: o }))
  assert.match(circular.said, /circular at structuredContent\.self/)
  assert.equal(circular.result.isError, true)
  assert.equal(circular.record.error?.class, 'bad_result')
  const thrower = await outcomeOf(t, () => ({
    content: [],
    _meta: {
      toJSON() {
        throw new Error('x')
      },
    },
  }))
  assert.match(thrower.said, /toJSON threw at _meta/)
  const control = await outcomeOf(t, () => ({
    content: [],
    structuredContent: { d: new Date(Number.NaN) },
  }))
  assert.equal(control.result.isError, undefined)
})

test('a result above the limit is refused with its size', async (t) => {
  const { result, said, record } = await outcomeOf(t, () => text('é'.repeat(700_000)), {
    maxResultBytes: 1024 * 1024,
  })
  assert.equal(result.isError, true)
  assert.match(said, /1\.3 MiB, the limit is 1\.0 MiB/)
  assert.equal(record.error?.class, 'bad_result')
})

const thrown: [string, () => unknown, RegExp][] = [
  ['a string', () => 'bad thing', /bad thing/],
  ['an object', () => ({ code: 'E42', message: 'quota' }), /E42.*quota/],
  ['null', () => null, /null/],
  ['undefined', () => undefined, /undefined/],
  ['0', () => 0, /0/],
  ['a symbol', () => Symbol('s'), /Symbol\(s\)/],
  ['an object without a prototype', () => Object.create(null), /./],
  ['an Error without a message', () => new Error(''), /Error \(no message\)/],
  [
    'an Error whose message throws',
    () =>
      Object.defineProperty(new Error('x'), 'message', {
        get() {
          throw new Error('no')
        },
      }),
    /\(no message\)/,
  ],
  [
    'a Proxy that refuses everything',
    () =>
      new Proxy(
        {},
        {
          get() {
            throw new Error('no')
          },
          getPrototypeOf() {
            throw new Error('no')
          },
        },
      ),
    /./,
  ],
  [
    'an Error whose message is an object',
    () => Object.assign(new Error('x'), { message: { a: 1 } }),
    /a/,
  ],
]
for (const [what, make, words] of thrown) {
  for (const way of ['thrown', 'rejected']) {
    test(`A12: ${what}, ${way}, is an error with readable words`, async (t) => {
      const handler =
        way === 'thrown'
          ? () => {
              throw make()
            }
          : () => Promise.reject(make())
      const { result, said, record } = await outcomeOf(t, handler, withMessages)
      assert.equal(result.isError, true)
      assert.equal(result.content.length, 1)
      assert.match(said, words)
      assert.doesNotMatch(said, /\[object Object\]/)
      assert.equal(record.error?.class, 'unexpected')
      assert.ok((record.error?.message ?? '').length > 0)
    })
  }
}

test('A14: the innermost cause decides the class, and both messages are told once', async (t) => {
  const inner = Object.assign(new Error('connect ETIMEDOUT 10.0.0.9:5432'), { code: 'ETIMEDOUT' })
  const middle = new Error('query failed', { cause: inner })
  const { said, record } = await outcomeOf(
    t,
    () => {
      throw new Error('lookup failed', { cause: middle })
    },
    { ...withMessages, retry: false },
  )
  assert.equal(record.error?.class, 'timeout')
  assert.equal(record.error?.code, 'ETIMEDOUT')
  assert.match(said, /lookup failed.*connect ETIMEDOUT 10\.0\.0\.9:5432/)
  assert.equal(said.split('lookup failed').length, 2)
  assert.deepEqual(
    record.error?.causes?.map(({ message }) => message),
    ['query failed', 'connect ETIMEDOUT 10.0.0.9:5432'],
  )
})

test('A14: a cause that is itself and a chain of 10,000 end soon', async (t) => {
  const self = new Error('round')
  self.cause = self
  let deep = new Error('bottom')
  for (let depth = 0; depth < 10_000; depth += 1)
    deep = new Error(`level ${depth}`, { cause: deep })
  for (const error of [self, deep]) {
    const since = performance.now()
    const { result, said } = await outcomeOf(t, () => Promise.reject(error), withMessages)
    assert.ok(performance.now() - since < 2_000)
    assert.equal(result.isError, true)
    assert.ok(said.length <= 500)
  }
})

test('A15: arguments that cannot be read change nothing for the client', async (t) => {
  const { call, calls } = await startWrapped(t, (server) => {
    server.registerTool('job', { inputSchema: z.looseObject({}) }, () => text('fine'))
  })
  const hostile = {
    get x() {
      throw new Error('no')
    },
  }
  const throwing = () => hostile.x
  const result = await call('job', { nested: hostile, other: { toJSON: throwing }, n: 1 })
  assert.deepEqual(result, text('fine'))
  assert.equal(calls().length, 1)
  assert.deepEqual(calls()[0]?.args, { nested: { x: '[unreadable]' }, other: '[unreadable]', n: 1 })
})

test('A15: an error with throwing properties is recorded with words', async (t) => {
  const error = Object.defineProperty(new Error('visible'), 'details', {
    enumerable: true,
    get() {
      throw new Error('no')
    },
  })
  const { result, record } = await outcomeOf(t, () => Promise.reject(error))
  assert.equal(result.isError, true)
  assert.equal(record.error?.message, 'visible')
})

test('A2: a failure in disguise passes unchanged and is flagged', async (t) => {
  const words = '{"is_valid":false,"errors":["All connection attempts failed"]}'
  const { result, record } = await outcomeOf(t, () => text(words))
  assert.deepEqual(result, text(words))
  assert.equal(record.outcome, 'succeeded')
  assert.equal(record.result?.suspect, 'json_denied')
})

test('A4: structured error data without isError is flagged, or promoted with its words', async (t) => {
  const value = { content: [], structuredContent: { code: 'E_QUOTA', message: 'quota used up' } }
  const flagged = await outcomeOf(t, () => value)
  assert.equal(flagged.result.isError, undefined)
  assert.equal(flagged.record.result?.suspect, 'structured_code')
  const promoted = await outcomeOf(t, () => value, { suspect: 'error' })
  assert.equal(promoted.result.isError, true)
  assert.match(promoted.said, /E_QUOTA.*quota used up/)
  assert.equal(promoted.record.outcome, 'failed')
  assert.equal(promoted.record.error?.class, 'tool_error')
})

test('suspect can be an error for one tool only', async (t) => {
  const { call } = await startWrapped(
    t,
    (server) => {
      server.registerTool('strict', {}, () => text('Error: API rate limit exceeded'))
      server.registerTool('lax', {}, () => text('Error: API rate limit exceeded'))
    },
    { tools: { strict: { suspect: 'error' } } },
  )
  assert.equal((await call('strict')).isError, true)
  assert.equal((await call('lax')).isError, undefined)
})

test('A20: a success without words is flagged empty, its data untouched', async (t) => {
  const data = { content: [], structuredContent: { n: 1 } }
  const withData = await outcomeOf(t, () => data)
  assert.deepEqual(withData.result, data)
  assert.equal(withData.record.result?.empty, true)
  const nothing = await outcomeOf(t, () => ({ content: [] }))
  assert.equal(nothing.result.isError, undefined)
  assert.equal(nothing.record.result?.empty, true)
})

test('A20: a text that is no more than an absent value is flagged empty', async (t) => {
  for (const words of ['[]', ' {} ', 'null', 'undefined', '""', 'NaN']) {
    const { result, record } = await outcomeOf(t, () => text(words))
    assert.deepEqual(result, text(words))
    assert.equal(record.result?.empty, true, words)
  }
  for (const words of ['0', 'false', '[0]', 'none', 'No results found.', 'nullable']) {
    assert.equal((await outcomeOf(t, () => text(words))).record.result?.empty, undefined, words)
  }
})

test('empty as an error refuses nothing at all, and lets data pass', async (t) => {
  for (const words of ['  ', '[]', 'null']) {
    const nothing = await outcomeOf(t, () => text(words), { empty: 'error' })
    assert.equal(nothing.result.isError, true, words)
    assert.match(nothing.said, /empty result/)
    assert.equal(nothing.record.outcome, 'failed')
    assert.equal(nothing.record.error?.class, 'bad_result')
    assert.equal(nothing.record.result?.empty, true)
  }
  const data = await outcomeOf(t, () => ({ content: [], structuredContent: { n: 1 } }), {
    empty: 'error',
  })
  assert.equal(data.result.isError, undefined)
})

test('where suspects are errors, an empty success passes with a note after it', async (t) => {
  for (const words of ['', '\n \n', '[]', '{}', 'null', 'undefined']) {
    const { result, record } = await outcomeOf(t, () => text(words), { suspect: 'error' })
    assert.equal(result.isError, undefined)
    assert.deepEqual(result.content[0], { type: 'text', text: words })
    assert.equal(result.content.length, 2)
    const answer = words.trim() === '' ? 'an empty answer' : `only \`${words}\``
    assert.ok(textOf(result).includes(`"job" gave ${answer}: it has nothing to say, or it failed`))
    assert.equal(record.outcome, 'succeeded')
    assert.equal(record.result?.empty, true)
  }
  const none = await outcomeOf(t, () => ({ content: [] }), { suspect: 'error' })
  assert.match(none.said, /^Tool "job" gave an empty answer: /)
})

test('where suspects are errors, an answer of data, a picture or few words has no note', async (t) => {
  for (const result of [
    { content: [], structuredContent: { rows: [] } },
    { content: [{ type: 'image', data: 'AA==', mimeType: 'image/png' }] },
    text('0'),
    text('No invoices found.'),
  ]) {
    const { result: answer, record } = await outcomeOf(t, () => result, { suspect: 'error' })
    assert.deepEqual(answer, result)
    assert.equal(record.outcome, 'succeeded')
  }
})

test('a tool whose empty answers are sound keeps them, however strict the rest is', async (t) => {
  const { call } = await startWrapped(
    t,
    (server) => {
      server.registerTool('read', {}, () => text(''))
      server.registerTool('find', {}, () => text('[]'))
      server.registerTool('strict', {}, () => text('[]'))
    },
    {
      suspect: 'error',
      tools: { read: { empty: 'flag' }, find: { suspect: 'flag' }, strict: { empty: 'error' } },
    },
  )
  assert.deepEqual(await call('read'), text(''))
  assert.deepEqual(await call('find'), text('[]'))
  assert.equal((await call('strict')).isError, true)
})

test('C9: a rate limit is told with the time to wait', async (t) => {
  const { said, record } = await outcomeOf(t, () =>
    Promise.reject(
      Object.assign(new Error('slow down'), {
        response: { status: 429, headers: { 'retry-after': '60' } },
      }),
    ),
  )
  assert.match(said, /429.*60 s/)
  assert.equal(record.error?.class, 'rate_limited')
  assert.equal(record.error?.retry_after_s, 60)
})

test('C11: a refused certificate is told as such, and not retried', async (t) => {
  const { said, record } = await outcomeOf(t, () =>
    Promise.reject(
      Object.assign(new Error('certificate has expired'), { code: 'CERT_HAS_EXPIRED' }),
    ),
  )
  assert.match(said, /TLS certificate.*CERT_HAS_EXPIRED/)
  assert.equal(record.error?.class, 'upstream')
  assert.equal(record.attempts.length, 1)
})

test('a result that cannot be read is an error', async (t) => {
  const hostile = new Proxy(
    {},
    {
      get() {
        throw new Error('no entry')
      },
      has() {
        throw new Error('no entry')
      },
    },
  )
  const { result, said, record } = await outcomeOf(t, () => ({
    content: [
      {
        type: 'text',
        get text() {
          throw new Error('no entry')
        },
      },
    ],
  }))
  assert.equal(result.isError, true)
  assert.match(said, /cannot be read: no entry/)
  assert.equal(record.error?.class, 'bad_result')
  // A Proxy with a `then` that throws rejects before it is a result.
  const refused = await outcomeOf(t, () => hostile)
  assert.equal(refused.result.isError, true)
})

test('an input schema whose own code throws still gives an answer', async (t) => {
  const { call, calls } = await startWrapped(t, (server) => {
    const broken = z.number().refine(() => {
      throw new Error('schema bug')
    })
    server.registerTool('job', { inputSchema: { n: broken } }, () => text('ok'))
  })
  assert.equal((await call('job', { n: 1 })).isError, true)
  assert.equal(calls().length, 1)
  assert.equal(calls()[0]?.outcome, 'failed')
})
