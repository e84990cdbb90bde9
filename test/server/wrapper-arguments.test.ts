import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { z } from 'zod'
import { z as z3 } from 'zod/v3'
import { InvalidArgumentsError, type UnsilenceOptions } from '../../server/index.ts'
import { startWrapped, text, textOf } from './wrapper-harness.ts'

type Shape = z.ZodRawShape

/** Calls a tool of that schema and gives what the client read and the log kept. */
async function callWith(
  t: TestContext,
  inputSchema: unknown,
  args: unknown,
  options: UnsilenceOptions = {},
) {
  const { call, calls, logs } = await startWrapped(
    t,
    (server) => {
      server.registerTool('job', { inputSchema: inputSchema as Shape }, () => text('done'))
    },
    options,
  )
  const result = await call('job', args as Record<string, unknown>)
  const [record] = calls()
  assert.ok(record)
  assert.equal(calls().length, 1)
  const said = textOf(result)
  assert.ok(said.length <= 500 + 'done\n'.length, `${said.length} characters`)
  return { result, said, record, logs }
}

test('B1: an unknown argument is warned of after the result, with the nearest real name', async (t) => {
  const { result, record } = await callWith(
    t,
    { title: z.string(), parentFolderId: z.string().optional() },
    { title: 'x', folderId: 'F1' },
  )
  assert.equal(result.isError, undefined)
  assert.equal(result.content.length, 2)
  assert.deepEqual(result.content[0], { type: 'text', text: 'done' })
  assert.match(textOf(result), /`folderId` \(did you mean `parentFolderId`\?\)/)
  assert.deepEqual(record.dropped, ['folderId'])
  assert.equal(record.outcome, 'succeeded')
})

test('B1: unknownArguments report only records, reject refuses', async (t) => {
  const schema = { title: z.string(), parentFolderId: z.string().optional() }
  const args = { title: 'x', folderId: 'F1' }
  const reported = await callWith(t, schema, args, { unknownArguments: 'report' })
  assert.equal(reported.said, 'done')
  assert.deepEqual(reported.record.dropped, ['folderId'])
  const refused = await callWith(t, schema, args, { unknownArguments: 'reject' })
  assert.equal(refused.result.isError, true)
  assert.match(
    refused.said,
    /^Invalid arguments for "job": it does not have this argument: `folderId` \(did you mean `parentFolderId`/,
  )
  assert.doesNotMatch(refused.said, /done/)
  assert.equal(refused.record.error?.class, 'invalid_arguments')
  assert.deepEqual(refused.record.issues, [
    { path: 'folderId', code: 'unknown_key', suggest: 'parentFolderId' },
  ])
})

test('B1: keys that a nested object strips are recorded by path', async (t) => {
  const { record } = await callWith(
    t,
    { filter: z.object({ a: z.number() }), rows: z.array(z.object({ id: z.number() })) },
    {
      filter: { a: 1, b: 2 },
      rows: [
        { id: 1, x: 1 },
        { id: 2, x: 2 },
      ],
    },
  )
  assert.deepEqual(record.dropped, ['filter.b', 'rows[*].x'])
})

test('keys that the schema keeps are not reported', async (t) => {
  const { said, record } = await callWith(t, z.looseObject({ a: z.number() }), { a: 1, b: 2 })
  assert.equal(said, 'done')
  assert.equal(record.dropped, undefined)
})

test('B1: a name that a nested object strips gets the nearest real one', async (t) => {
  const { said, record } = await callWith(
    t,
    { filter: z.object({ startDate: z.string().optional() }) },
    { filter: { start_date: 'x' } },
  )
  assert.match(said, /`filter\.start_date` \(did you mean `startDate`\?\)/)
  assert.equal(record.issues?.[0]?.suggest, 'startDate')
  const row = z.object({ id: z.number(), title: z.string().optional() })
  const rows = await callWith(t, { rows: z.array(row) }, { rows: [{ id: 1, titel: 'x' }] })
  assert.match(rows.said, /`rows\[\*\]\.titel` \(did you mean `title`\?\)/)
})

test('arguments that are wrapped and so ignored are told as such', async (t) => {
  const schema = { query: z.string().optional() }
  const args = { params: { query: 'x' } }
  const warned = await callWith(t, schema, args)
  assert.equal(warned.result.isError, undefined)
  assert.match(
    warned.said,
    /^done\n"job" ignored all arguments: they are wrapped in `params`\. Send/,
  )
  assert.equal(warned.record.issues?.[0]?.subtype, 'wrapped_args')
  const refused = await callWith(t, schema, args, { unknownArguments: 'reject' })
  assert.equal(refused.result.isError, true)
  assert.match(refused.said, /the arguments are wrapped in `params`: send its fields directly/)
})

test('a tool that takes nothing is not warned of the dummies that clients send', async (t) => {
  const { call, calls } = await startWrapped(t, (server) => {
    server.registerTool('ping', {}, () => text('pong'))
  })
  assert.equal(textOf(await call('ping', { random_string: 'dummy' })), 'pong')
  assert.match(textOf(await call('ping', { city: 'Berlin' })), /^pong\n"ping" ignored.*`city`/)
  assert.deepEqual(calls()[0]?.dropped, ['random_string'])
})

const encoded: [unknown, Shape, RegExp, RegExp | undefined][] = [
  [
    { actions: '[{"get":{}}]' },
    { actions: z.array(z.object({ get: z.object({}) })) },
    /`actions`: expected array of objects, received string/,
    /send a JSON array, not a JSON-encoded string/,
  ],
  [
    { actions: '[1,2' },
    { actions: z.array(z.number()) },
    /expected array of numbers, received string/,
    undefined,
  ],
  [
    { actions: 'a,b' },
    { actions: z.array(z.string()) },
    /expected array of strings, received string "a,b"/,
    undefined,
  ],
  [
    { filter: '{"a":1}' },
    { filter: z.object({ a: z.number() }) },
    /`filter`: expected object, received string/,
    /send a JSON object, not a JSON-encoded string/,
  ],
  [
    { filter: '' },
    { filter: z.object({}) },
    /received an empty string/,
    /send \{\} or leave it out/,
  ],
]
for (const [args, schema, words, advice] of encoded) {
  test(`B3, B4: ${JSON.stringify(args)} is explained`, async (t) => {
    const { result, said } = await callWith(t, schema, args)
    assert.equal(result.isError, true)
    assert.match(said, words)
    if (advice) assert.match(said, advice)
    else assert.doesNotMatch(said, /JSON-encoded/)
  })
}

test('B3: JSON in a string is stringified_json, broken JSON is malformed_json', async (t) => {
  const whole = await callWith(t, { a: z.array(z.number()) }, { a: '[1]' })
  assert.deepEqual(whole.record.issues, [
    {
      path: 'a',
      code: 'wrong_type',
      subtype: 'stringified_json',
      expected: 'array of numbers',
      received: 'string',
    },
  ])
  const cut = await callWith(t, { a: z.array(z.number()) }, { a: '[1' })
  assert.equal(cut.record.issues?.[0]?.code, 'malformed_json')
})

for (const [args, received] of [
  ['{"q":1}', 'string'],
  [null, 'null'],
  [[], 'array'],
  ['', 'string'],
] as const) {
  test(`B5: arguments that are ${JSON.stringify(args)} are explained, and the next call works`, async (t) => {
    const { call, calls, client } = await startWrapped(t, (server) => {
      server.registerTool('job', { inputSchema: { q: z.number() } }, () => text('done'))
    })
    const result = await client.request(
      { method: 'tools/call', params: { name: 'job', arguments: args as never } },
      z.looseObject({}),
    )
    assert.equal(result.isError, true)
    assert.match(
      textOf(result as never),
      new RegExp(`arguments must be an object, received ${received}`),
    )
    assert.deepEqual(calls()[0]?.issues?.[0]?.path, '(root)')
    assert.equal(calls()[0]?.error?.class, 'invalid_arguments')
    assert.equal(textOf(await call('job', { q: 1 })), 'done')
  })
}

test('B6: absent arguments are an empty object, and one message names all that is missing', async (t) => {
  const optional = await callWith(t, { q: z.string().optional() }, undefined)
  assert.equal(optional.said, 'done')
  const { said, record } = await callWith(t, { q: z.string(), n: z.number() }, undefined)
  assert.match(said, /`q` is missing \(required, string\); `n` is missing \(required, number\)/)
  assert.deepEqual(
    record.issues?.map(({ path, code }) => [path, code]),
    [
      ['q', 'missing_required'],
      ['n', 'missing_required'],
    ],
  )
})

test('B7: numbers and booleans as strings each get their hint', async (t) => {
  const { said, record } = await callWith(
    t,
    { limit: z.number().int(), compact: z.boolean() },
    { limit: '10', compact: 'false' },
  )
  assert.match(said, /`limit`: expected integer, received string "10"; send 10 without quotes/)
  assert.match(said, /`compact`: expected boolean, received string "false"; send false without/)
  assert.deepEqual(
    record.issues?.map(({ subtype }) => subtype),
    ['stringified_number', 'stringified_boolean'],
  )
})

test('B8: null for an optional field says to leave it out', async (t) => {
  const schema = { start_date: z.string().optional(), tags: z.array(z.string()).optional() }
  const { said, record } = await callWith(t, schema, { start_date: null })
  assert.match(said, /`start_date`: expected string, received null; it is optional: leave it out/)
  assert.equal(record.issues?.[0]?.subtype, 'null_for_optional')
  assert.equal((await callWith(t, schema, { start_date: 'null' })).said, 'done')
  assert.equal((await callWith(t, schema, { tags: ['null'] })).said, 'done')
})

test('B10: array items are named by index', async (t) => {
  const { said, record } = await callWith(
    t,
    { items: z.array(z.object({ id: z.number().int() })) },
    { items: [{ id: 1 }, { id: '2' }, {}] },
  )
  assert.match(said, /`items\[1\]\.id`: expected integer, received string "2"/)
  assert.match(said, /`items\[2\]\.id` is missing/)
  assert.equal(record.issues?.length, 2)
})

test('B10: 5,000 bad items are one mistake with a count', async (t) => {
  const items = Array.from({ length: 5_000 }, () => ({ id: 'x' }))
  const { said, record } = await callWith(
    t,
    { items: z.array(z.object({ id: z.number() })) },
    { items },
  )
  assert.match(said, /`items\[0\]\.id`: .*\(and 4,999 more like it\)/)
  assert.equal(record.issues?.length, 1)
  assert.ok(JSON.stringify(record).length < 256 * 1024)
})

test('many different mistakes are cut with a count', async (t) => {
  const shape = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [`field_number_${i}`, z.number()]),
  )
  const { said, record } = await callWith(t, shape, {})
  assert.match(said, /; and \d\d more\.$/)
  assert.equal(record.issues?.length, 20)
})

const unions: [string, unknown][] = [
  ['zod 4', { when: z.union([z.string(), z.array(z.number())]) }],
  ['zod 3', { when: z3.union([z3.string(), z3.array(z3.number())]) }],
  [
    'zod 3, nested',
    { when: z3.union([z3.string(), z3.union([z3.string(), z3.array(z3.number())])]) },
  ],
  ['zod 4, nested', { when: z.union([z.string(), z.union([z.string(), z.array(z.number())])]) }],
]
for (const [version, schema] of unions) {
  test(`B11: a union names all its types (${version})`, async (t) => {
    const { said, record } = await callWith(t, schema, { when: 5 })
    assert.match(said, /`when`: expected string or array of numbers, received number 5/)
    assert.equal(record.issues?.[0]?.path, 'when')
  })
}

for (const [version, schema] of [
  ['zod 4', { target: z.union([z.object({ id: z.number() }), z.object({ name: z.string() })]) }],
  [
    'zod 3',
    { target: z3.union([z3.object({ id: z3.number() }), z3.object({ name: z3.string() })]) },
  ],
] as const) {
  test(`B11: paths inside a union are absolute once (${version})`, async (t) => {
    const { record } = await callWith(t, schema, { target: { id: '7' } })
    assert.deepEqual(record.issues?.[0]?.path, 'target.id')
  })
}

for (const [version, schema] of [
  [
    'zod 4',
    {
      n: z.number().int().min(1).max(5),
      s: z.enum(['ASC', 'DESC']),
      d: z.iso.datetime(),
      t: z.string().max(3),
    },
  ],
  [
    'zod 3',
    {
      n: z3.number().int().min(1).max(5),
      s: z3.enum(['ASC', 'DESC']),
      d: z3.string().datetime(),
      t: z3.string().max(3),
    },
  ],
] as const) {
  test(`bounds, choices and formats are said in words (${version})`, async (t) => {
    const { said, record } = await callWith(t, schema, { n: 9, s: 'asc', d: 'today', t: 'long' })
    assert.match(said, /`n`: expected integer from 1 to 5, received number 9/)
    assert.match(said, /`s`: expected one of "ASC", "DESC", received string "asc"; send "ASC"/)
    assert.match(said, /`d`: expected string \(date-time\), received string "today"/)
    assert.match(said, /`t`: expected string of at most 3 characters, received string "long"/)
    assert.deepEqual(
      record.issues?.map(({ code }) => code),
      ['out_of_range', 'not_in_enum', 'bad_format', 'too_long'],
    )
    assert.equal(record.issues?.[1]?.subtype, 'case_mismatch')
    assert.equal(record.issues?.[1]?.suggest, 'ASC')
  })
}

test('a strict schema names the unknown key and the name that was meant', async (t) => {
  const { said, record } = await callWith(t, z.strictObject({ query: z.string() }), {
    query: 'x',
    queyr: 1,
  })
  assert.match(said, /`queyr` is not an argument/)
  assert.deepEqual(
    record.issues?.map(({ code }) => code),
    ['unknown_key'],
  )
})

test('one unknown name and one missing parameter are merged, even without likeness', async (t) => {
  const { said, record } = await callWith(
    t,
    { memberId: z.string(), limit: z.number().optional() },
    { xyzzy: 'm1' },
  )
  assert.match(
    said,
    /`memberId` \(string\) is missing and `xyzzy` is not an argument; did you mean `memberId`\?/,
  )
  assert.deepEqual(
    record.issues?.map(({ path, code, suggest }) => [path, code, suggest]),
    [
      ['memberId', 'missing_required', undefined],
      ['xyzzy', 'unknown_key', 'memberId'],
    ],
  )
})

test('a pair whose types do not fit is not merged', async (t) => {
  const { said } = await callWith(t, { count: z.number() }, { flavour: 'x' })
  assert.doesNotMatch(said, /did you mean/)
  assert.match(said, /it takes `count`/)
})

for (const args of [{ params: { query: 'x' } }, { arguments: '{"query":"x"}' }]) {
  test(`wrapped arguments are named as such: ${JSON.stringify(args)}`, async (t) => {
    const { said, record } = await callWith(t, { query: z.string() }, args)
    assert.match(
      said,
      /the arguments are wrapped in `(params|arguments)`: send its fields directly/,
    )
    assert.equal(record.issues?.[0]?.subtype, 'wrapped_args')
  })
}

test('B17: refined fields keep the words of the schema author', async (t) => {
  const { result, said } = await callWith(
    t,
    { code: z.string().refine((value) => value.startsWith('A'), 'must start with A') },
    { code: 'B' },
  )
  assert.equal(result.isError, true)
  assert.match(said, /`code`: must start with A/)
})

test('InvalidArgumentsError thrown by a handler is invalid_arguments with its issues', async (t) => {
  const { call, calls } = await startWrapped(t, (server) => {
    server.registerTool('job', {}, () => {
      throw new InvalidArgumentsError('`to` lies before `from`', {
        issues: [{ path: 'to', code: 'out_of_range' }],
      })
    })
  })
  assert.equal(textOf(await call('job')), 'Invalid arguments for "job": `to` lies before `from`')
  assert.equal(calls()[0]?.error?.class, 'invalid_arguments')
  assert.deepEqual(calls()[0]?.issues, [{ path: 'to', code: 'out_of_range' }])
})

test('B15: NUL and lone surrogates leave one valid line and a whole answer', async (t) => {
  const { call, calls } = await startWrapped(t, (server) => {
    server.registerTool('job', { inputSchema: { q: z.string() } }, () => {
      throw Object.assign(new Error('invalid byte sequence for encoding "UTF8": 0x00'), {
        code: '22021',
      })
    })
  })
  const nul = await call('job', { q: 'a\u0000b' })
  assert.match(textOf(nul), /unexpected error.* The argument `q` contains a NUL character: try/)
  const half = await call('job', { q: '\ud800' })
  assert.match(textOf(half), /The argument `q` contains half of a surrogate pair: try without\./)
  assert.doesNotMatch(textOf(await call('job', { q: 'a😀' })), /argument/)
  assert.deepEqual(
    calls().map(({ error, args }) => [error?.class, error?.code, args]),
    [
      ['unexpected', '22021', { q: 'a\u0000b' }],
      ['unexpected', '22021', { q: '\ud800' }],
      ['unexpected', '22021', { q: 'a😀' }],
    ],
  )
})

test('B19: secrets in refused arguments reach neither the client nor the log', async (t) => {
  const { said, logs, record } = await callWith(
    t,
    { api_token: z.number(), q: z.string(), headers: z.looseObject({}), url: z.number() },
    {
      api_token: 'sk-ant-api03-TESTTESTTESTTESTTEST',
      q: 1,
      headers: { Authorization: 'Bearer TESTTESTTESTTEST' },
      url: 'https://u:pw123456@h/',
      Config: { PassWord: 'xyzzy-secret' },
      'sk-ant-api03-KEYKEYKEYKEYKEYKEY': 1,
    },
  )
  const everything =
    said +
    readdirSync(logs)
      .map((name) => readFileSync(join(logs, name), 'utf8'))
      .join('')
  for (const secret of ['TESTTEST', 'pw123456', 'xyzzy-secret', 'KEYKEY']) {
    assert.ok(!everything.includes(secret), secret)
  }
  assert.match(said, /`q`: expected string, received number 1/)
  assert.ok(record.issues?.some(({ path, received }) => path === 'q' && received === 'number'))
})

test('B19: the secrets of the case are in no line of the log, nor told back', async (t) => {
  const { said, logs } = await callWith(
    t,
    { q: z.string() },
    {
      api_token: 'sk-TEST-1',
      q: 1,
      headers: { Authorization: 'Bearer TEST' },
      url: 'https://u:pw@h/',
      Config: { PassWord: 'x' },
      'sk-TEST-2': true,
    },
  )
  const lines = readdirSync(logs).map((name) => readFileSync(join(logs, name), 'utf8'))
  for (const secret of ['sk-TEST-1', 'sk-TEST-2', 'Bearer TEST', 'pw@', '"PassWord":"x"']) {
    assert.ok(!`${said}${lines.join('')}`.includes(secret), secret)
  }
})

test('B19: an address with a password in an error is masked for client and log', async (t) => {
  const { call, logs } = await startWrapped(
    t,
    (server) => {
      server.registerTool('job', {}, () => {
        throw new Error('cannot open https://u:pw123456@h/ for reading')
      })
    },
    { errorText: 'message' },
  )
  const said = textOf(await call('job'))
  assert.match(said, /cannot open https:/)
  const lines = readdirSync(logs).map((name) => readFileSync(join(logs, name), 'utf8'))
  assert.doesNotMatch(`${said}${lines.join('')}`, /pw123456/)
})

const wrongArguments: unknown[] = [
  {},
  { q: 'x', actions: '[{}]' },
  { q: 'x', filter: '' },
  { q: 'x', limit: '10' },
  { q: 'x', note: null },
  { q: 'x', items: [{ id: 1 }, {}] },
  { q: 'x', when: 5 },
  null,
  [],
  '{"q":"x"}',
]
for (const args of wrongArguments) {
  test(`B17: an McpServer refuses ${JSON.stringify(args)} with a result, not with an error code`, async (t) => {
    const { client } = await startWrapped(t, (server) => {
      const inputSchema = {
        q: z.string(),
        actions: z.array(z.object({})).optional(),
        filter: z.object({}).optional(),
        limit: z.number().int().optional(),
        note: z.string().optional(),
        items: z.array(z.object({ id: z.number() })).optional(),
        when: z.union([z.string(), z.array(z.number())]).optional(),
      }
      server.registerTool('job', { inputSchema }, () => text('done'))
    })
    const result = await client.request(
      { method: 'tools/call', params: { name: 'job', arguments: args as never } },
      z.looseObject({}),
    )
    assert.equal(result.isError, true)
    assert.match(textOf(result as never), /^Invalid arguments for "job": /)
  })
}

test('requests whose _meta is null are answered', async (t) => {
  const { server } = await startWrapped(t, (wrapped) => {
    wrapped.registerTool('ping', {}, () => text('pong'))
  })
  await server.close()
  const [near, far] = InMemoryTransport.createLinkedPair()
  const answer = new Promise((resolve) => {
    near.onmessage = resolve
  })
  await server.connect(far)
  await near.start()
  await near.send({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'ping', _meta: null },
  } as never)
  assert.deepEqual(await answer, { jsonrpc: '2.0', id: 1, result: text('pong') })
})
