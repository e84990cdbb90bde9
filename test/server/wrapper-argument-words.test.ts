import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { z } from 'zod'
import { z as z3 } from 'zod/v3'
import { startWrapped, text, textOf } from './wrapper-harness.ts'

async function refusalOf(t: TestContext, inputSchema: unknown, args: object) {
  const { call, calls } = await startWrapped(t, (server) => {
    server.registerTool('job', { inputSchema: inputSchema as z.ZodRawShape }, () => text('done'))
  })
  const result = await call('job', args as Record<string, unknown>)
  const said = textOf(result)
  assert.ok(said.length <= 500, `${said.length} characters`)
  const issues = calls()[0]?.issues ?? []
  return { result, said, issues }
}

const kinds = (lib: typeof z | typeof z3) => {
  const { object, literal, number, string } = lib as typeof z
  return [
    object({ kind: literal('circle'), radius: number() }),
    object({ kind: literal('text'), words: string() }),
  ]
}

type Row = [what: string, schema: object, args: object, words: RegExp]

const sameInBoth = (lib: typeof z): Row[] => [
  ['a pattern', { n: lib.string().regex(/^[A-Z]{3}$/) }, { n: 'abc' }, /string matching \^\[A-Z\]/],
  ['a beginning', { n: lib.string().startsWith('A') }, { n: 'x' }, /starts with "A", received/],
  ['an end', { n: lib.string().endsWith('.md') }, { n: 'x' }, /string that ends with "\.md"/],
  ['a part', { n: lib.string().includes('@') }, { n: 'x' }, /string that contains "@"/],
  [
    'an exact length',
    { n: lib.string().length(3) },
    { n: 'ab' },
    /of exactly 3 characters, .*of 2/,
  ],
  ['a short list', { n: lib.array(lib.string()).min(1) }, { n: [] }, /at least 1 items, .*of 0/],
  [
    'open bounds',
    { n: lib.number().gt(3).lt(5) },
    { n: 9 },
    /number above 3 and below 5, received/,
  ],
  ['half-open ones', { n: lib.number().min(1).lt(5) }, { n: 9 }, /of at least 1 and below 5/],
  [
    'steps',
    { n: lib.number().multipleOf(5) },
    { n: 7 },
    /number, a multiple of 5, received number 7/,
  ],
  [
    'null for a choice',
    { n: lib.enum(['a', 'b']).optional() },
    { n: null },
    /optional: leave it out/,
  ],
  [
    'null for a default',
    { n: lib.number().default(4) },
    { n: null },
    /it is optional: leave it out/,
  ],
  [
    'a number in a list',
    { n: lib.array(lib.number()) },
    { n: ['7'] },
    /n\[0\].*send 7 without quotes/,
  ],
  [
    'a number for a union',
    { n: lib.union([lib.number(), lib.array(lib.number())]) },
    { n: '10' },
    /send 10 without quotes/,
  ],
  [
    'a chosen number',
    { n: lib.union([lib.literal(1), lib.literal(2)]) },
    { n: '1' },
    /send 1 without quotes/,
  ],
  [
    'a chosen text',
    { n: lib.enum(['1', '2']) },
    { n: 1 },
    /received number 1; send "1", with quotes/,
  ],
  ['choices in a list', { n: lib.array(lib.enum(['a'])) }, { n: 'x' }, /array of "a", received/],
  [
    'a nested name',
    { n: lib.object({ year: lib.number() }) },
    { n: { yaer: 1 } },
    /`n\.year` \(number\) is missing and `n\.yaer` is not an argument; did you mean `year`\?/,
  ],
  [
    "an author's words",
    { n: lib.string().regex(/^\d{5}$/, 'a ZIP code has five digits') },
    { n: '123' },
    /matching .*, received string "123"; a ZIP code has five digits/,
  ],
]

for (const [version, lib] of [
  ['zod 4', z],
  ['zod 3', z3 as unknown as typeof z],
] as const) {
  for (const [what, schema, args, words] of sameInBoth(lib)) {
    test(`what is expected is said in full: ${what} (${version})`, async (t) => {
      const { result, said, issues } = await refusalOf(t, schema, args)
      assert.equal(result.isError, true)
      assert.match(said, words)
      assert.ok(issues.length > 0)
    })
  }

  test(`the kinds of a union are all named, and only the chosen one is checked (${version})`, async (t) => {
    const shape = lib.discriminatedUnion('kind', kinds(lib) as never)
    const wrongKind = await refusalOf(t, { shape }, { shape: { kind: 'Circle' } })
    assert.match(wrongKind.said, /`shape\.kind`: expected one of "circle", "text".*send "circle"/)
    assert.equal(wrongKind.issues[0]?.subtype, 'case_mismatch')
    const wrongField = await refusalOf(t, { shape }, { shape: { kind: 'circle', radius: 'x' } })
    assert.match(wrongField.said, /`shape\.radius`: expected number, received string "x"/)
  })
}

test('two unknown names and the two they were meant for are two sentences', async (t) => {
  const { said } = await refusalOf(
    t,
    { path: z.string(), limit: z.number() },
    { file: 'a.txt', max: 3 },
  )
  assert.equal(
    said,
    'Invalid arguments for "job": `path` (string) is missing and `file` is not an argument; did you ' +
      'mean `path`? `limit` (number) is missing and `max` is not an argument; did you mean `limit`?',
  )
})

test('a name that is wrong in each of many items is one mistake with a count', async (t) => {
  const items = Array.from({ length: 300 }, (_, n) => ({ ident: n }))
  const { said, issues } = await refusalOf(
    t,
    { items: z.array(z.object({ id: z.number() })) },
    { items },
  )
  assert.match(
    said,
    /`items\[0\]\.id` \(number\) is missing and `items\[0\]\.ident` .*\(and 299 more/,
  )
  assert.equal(issues.length, 2)
})

test('long lists of choices are cut with a count, and leave room for the next fault', async (t) => {
  const names = Array.from({ length: 30 }, (_, n) => `choice number ${n} ${'x'.repeat(80)}`)
  const { said, issues } = await refusalOf(
    t,
    { one: z.enum(names as [string]), two: z.number() },
    { one: 'q', two: 'q' },
  )
  assert.match(said, /`one`: expected one of "choice number 0 .* and 2\d more, received string "q"/)
  assert.match(said, /`two`: expected number/)
  assert.ok((issues[0]?.expected?.length ?? 0) < 250)
})

test('one sentence that is too long by itself is cut, and the rest is counted', async (t) => {
  const long = z.string().refine(() => false, 'w'.repeat(119))
  const deep = 'k'.repeat(50)
  const nested = z.object({
    [deep]: z.object({
      [deep]: z.object({
        [deep]: z.object({
          [deep]: z.object({ [deep]: z.object({ [deep]: z.object({ [deep]: long }) }) }),
        }),
      }),
    }),
  })
  const value = [deep, deep, deep, deep, deep, deep, deep].reduceRight<unknown>(
    (inner, key) => ({ [key]: inner }),
    'v',
  )
  const { said } = await refusalOf(t, { a: nested, b: z.number() }, { a: value, b: 'x' })
  assert.match(said, /…; and 1 more\.$/)
})

test('a value is never cut inside a character', async (t) => {
  const { said } = await refusalOf(t, { n: z.number() }, { n: `${'a'.repeat(38)}😀😀` })
  assert.doesNotMatch(said, /\p{Cs}/u)
  assert.match(said, /received string "a{38}…"/)
})

test('a value that is a secret is not told back', async (t) => {
  const { said } = await refusalOf(
    t,
    { token: z.number(), q: z.number() },
    { token: 'hunter2', q: `ghp_${'a1'.repeat(18)}` },
  )
  assert.doesNotMatch(said, /hunter2|ghp_/)
  assert.match(said, /`token`: expected number, received string "\[redacted/)
})
