import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { argumentsHash } from '../../server/call-log/canonical-json.ts'
import { nothingToRedact } from '../../server/call-log/nothing-to-redact.ts'
import { redact } from '../../server/call-log/redact.ts'
import { isRedacted, redactArguments } from '../../server/call-log/redacted-arguments.ts'

const SECRETS = [
  'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD',
  'Bearer abc123def456',
  'postgres://app:hunter2@db/app',
  'password=hunter2',
  '4111 1111 1111 1111',
  '{"password":"hunter2"}',
]

const word = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(...SECRETS, 'password', 'api_key', 'token', 'toJSON', '__proto__', 'query'),
)
const value = fc.letrec((tie) => ({
  node: fc.oneof(
    { maxDepth: 5 },
    word,
    fc.double(),
    fc.integer(),
    fc.boolean(),
    fc.constantFrom<unknown>(null, undefined, 4111111111111111, new Date(0), new Map([['a', 1]])),
    fc.array(tie('node'), { maxLength: 4 }),
    fc.dictionary(word, tie('node'), { maxKeys: 4 }),
  ),
})).node

test('what is taken for clean is what its redacted copy would be', () => {
  let clean = 0
  fc.assert(
    fc.property(value, (input) => {
      if (!nothingToRedact(input)) return
      clean += 1
      assert.equal(JSON.stringify(input), JSON.stringify(redact(input)))
    }),
    { seed: 11, numRuns: 3_000 },
  )
  assert.ok(clean > 500, `only ${clean} of the values were clean`)
})

test('arguments are the JSON of their redacted copy, with its hash, however they are made', () => {
  fc.assert(
    fc.property(value, (input) => {
      const { json, hash } = redactArguments(input)
      assert.equal(json, JSON.stringify(redact(input)) ?? 'null')
      assert.equal(hash, argumentsHash(redact(input)))
    }),
    { seed: 12, numRuns: 1_000 },
  )
})

test('no secret is taken for clean, wherever it stands', () => {
  for (const secret of SECRETS) {
    assert.equal(nothingToRedact({ list: [{ note: secret }] }), false, secret)
    assert.equal(nothingToRedact({ [secret]: 1 }), false, secret)
  }
  assert.equal(nothingToRedact({ password: 'x' }), false)
})

test('what is large, deep or no plain data is left to the copy', () => {
  assert.equal(nothingToRedact({ text: 'x'.repeat(10_000) }), false)
  assert.equal(nothingToRedact(Array.from({ length: 300 }, () => 1)), false)
  assert.equal(nothingToRedact([[[[[[[[[1]]]]]]]]]), false)
  assert.equal(nothingToRedact({ at: new Date(0) }), false)
  assert.equal(nothingToRedact({ toJSON: () => 'other' }), false)
  assert.equal(nothingToRedact(new Map()), false)
  assert.equal(nothingToRedact({ query: 'open invoices of March', limit: 10 }), true)
})

test('redacted arguments are not redacted again', () => {
  const once = redactArguments({ password: 'hunter2' })
  assert.ok(isRedacted(once))
  assert.equal(redactArguments(once), once)
})

test('a change that the tool makes later does not show', () => {
  const given = { list: [1] }
  const kept = redactArguments(given)
  given.list.push(2)
  assert.equal(kept.json, '{"list":[1]}')
})

test('arguments that throw when they are looked at are written as unreadable', () => {
  const fail = () => {
    throw new Error('do not look')
  }
  const traps = { has: fail, get: fail, ownKeys: fail, getPrototypeOf: fail }
  assert.equal(redactArguments(new Proxy({}, traps)).json, '"[unreadable]"')
})
