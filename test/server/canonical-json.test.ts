import assert from 'node:assert/strict'
import { test } from 'node:test'
import { argumentsHash, canonicalJson } from '../../server/call-log/canonical-json.ts'

test('keys are sorted at every level, and nothing else is', () => {
  assert.equal(
    canonicalJson({ b: [3, 1, { d: null, c: true }], a: 'x', B: {} }),
    '{"B":{},"a":"x","b":[3,1,{"c":true,"d":null}]}',
  )
})

test('keys are sorted by UTF-16 units, as RFC 8785 shows', () => {
  const value = {
    '\u20ac': 'Euro Sign',
    '\r': 'Carriage Return',
    '\ufb33': 'Hebrew Letter Dalet With Dagesh',
    '1': 'One',
    '\u{1f600}': 'Emoji: Grinning Face',
    '\u0080': 'Control',
    '\u00f6': 'Latin Small Letter O With Diaeresis',
  }
  const order = [...canonicalJson(value).matchAll(/:"([^"]+)"/g)].map((match) => match[1])
  assert.deepEqual(order, [
    'Carriage Return',
    'One',
    'Control',
    'Latin Small Letter O With Diaeresis',
    'Euro Sign',
    'Emoji: Grinning Face',
    'Hebrew Letter Dalet With Dagesh',
  ])
})

test('numbers and texts are spelt as ECMAScript spells them', () => {
  assert.equal(
    canonicalJson([
      Number('333333333.33333329'),
      1e30,
      4.5,
      2e-3,
      1e-27,
      -0,
      '€$\u000f\nA\'B"\\"/',
    ]),
    '[333333333.3333333,1e+30,4.5,0.002,1e-27,0,"€$\\u000f\\nA\'B\\"\\\\\\"/"]',
  )
})

test('what JSON cannot say is null in a list and absent in an object', () => {
  assert.equal(canonicalJson({ a: undefined, b: [undefined] }), '{"b":[null]}')
  assert.equal(canonicalJson(undefined), 'null')
})

test('equal arguments have equal hashes, whatever the order of their keys', () => {
  assert.equal(argumentsHash({ a: 1, b: 2 }), argumentsHash({ b: 2, a: 1 }))
  assert.notEqual(argumentsHash({ a: 1 }), argumentsHash({ a: '1' }))
  // printf '{"a":1}' | sha256sum
  assert.equal(argumentsHash({ a: 1 }), '015abd7f5cc57a2d')
})
