import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFormQuery } from '../../web/pages/form-query.ts'
import {
  formatAge,
  formatBytes,
  formatCount,
  formatDuration,
  formatInstant,
  formatRate,
} from '../../web/pages/format.ts'
import { escapeForScript } from '../../web/pages/json-island.tsx'
import { layOutJson, parentPath } from '../../web/pages/json-text.ts'
import { shortened, visiblePieces, visibleText } from '../../web/pages/visible-text.tsx'

const plain = (text: string) => text.replaceAll('\u00a0', ' ')

test('S13: bidi, zero-width and control characters are shown as escapes', () => {
  const cases: [string, string][] = [
    ['abc\u202egnp.exe', 'abc\\u{202E}gnp.exe'],
    ['zero\u200bwidth', 'zero\\u{200B}width'],
    ['\u0000\u001b[31m', '\\u{0}\\u{1B}[31m'],
    ['a\r\n\tb', 'a\\r\\n\\tb'],
    ['\u2066x\u2069\ufeff\u00ad', '\\u{2066}x\\u{2069}\\u{FEFF}\\u{AD}'],
    ['\u2028\u2029', '\\u{2028}\\u{2029}'],
    ['\ud800', '\\u{D800}'],
    ['\u{e0041}', '\\u{E0041}'],
    ['\u3164', '\\u{3164}'],
    ['Zürich 東京 عربي ❤️', 'Zürich 東京 عربي ❤️'],
  ]
  for (const [text, shown] of cases) assert.equal(visibleText(text), shown)
})

test('a text of many lines keeps its line breaks and loses nothing else', () => {
  const pieces = visiblePieces('one\n\ttwo\u202e', true)
  assert.deepEqual(pieces, [
    { text: 'one\n\ttwo', escaped: false },
    { text: '\\u{202E}', escaped: true },
  ])
})

test('a text is never cut inside a character', () => {
  assert.equal(shortened('ab😀cd', 3), 'ab…')
  assert.equal(shortened('abc', 3), 'abc')
})

test('S14: JSON in a page cannot end its element', () => {
  const json = escapeForScript(JSON.stringify({ a: '</script><!--\u2028\u2029&' }))
  assert.doesNotMatch(json, /[<>&\u2028\u2029]/)
  assert.deepEqual(JSON.parse(json), { a: '</script><!--\u2028\u2029&' })
})

test('G3: what is no number reads as a dash, what is not zero never as zero', () => {
  assert.equal(formatRate(undefined), '–')
  assert.equal(formatRate(Number.NaN), '–')
  assert.equal(formatDuration(Number.POSITIVE_INFINITY), '–')
  assert.equal(formatCount(Number.NaN), '–')
  const rates: [number, string][] = [
    [0, '0 %'],
    [0.0004, '< 0.1 %'],
    [0.005, '0.5 %'],
    [0.0996, '10 %'],
    [0.125, '13 %'],
    [0.9995, '> 99 %'],
    [1, '100 %'],
  ]
  for (const [rate, words] of rates) assert.equal(plain(formatRate(rate)), words)
})

test('durations, sizes and ages use the unit that fits', () => {
  const durations: [number, string][] = [
    [0.04, '0 ms'],
    [9.96, '10 ms'],
    [999.4, '999 ms'],
    [999.6, '1 s'],
    [59_949, '59.9 s'],
    [59_951, '1 min'],
    [125_000, '2 min 5 s'],
    [11_400_000, '3 h 10 min'],
    [90_000_000, '1 d 1 h'],
  ]
  for (const [ms, words] of durations) assert.equal(plain(formatDuration(ms)), words)
  assert.equal(plain(formatBytes(999)), '999 B')
  assert.equal(plain(formatBytes(1_234_000)), '1.2 MB')
  assert.equal(plain(formatAge(0, 59_999)), '59 s ago')
  assert.equal(plain(formatAge(7_200_000, 0)), 'in 2 h')
})

test('a moment is written in the zone that is asked for', () => {
  const ms = Date.UTC(2026, 2, 29, 1, 30)
  assert.equal(formatInstant(ms, 'UTC', 'minute'), 'Sun 29 Mar, 01:30')
  assert.equal(formatInstant(ms, 'Europe/Berlin', 'minute'), 'Sun 29 Mar, 03:30')
})

const linesOf = (text: string) =>
  layOutJson(text)?.map(
    ({ depth, tokens }) => '  '.repeat(depth) + tokens.map((t) => t.text).join(''),
  )

test('JSON is laid out as it was written, numbers and escapes untouched', () => {
  const text = '{"id":9007199254740993,"a":[1.0,{"b":"\\u202e"}],"e":{},"a":null}'
  assert.deepEqual(linesOf(text), [
    '{',
    '  "id": 9007199254740993,',
    '  "a": [',
    '    1.0,',
    '    {',
    '      "b": "\\u202e"',
    '    }',
    '  ],',
    '  "e": {},',
    '  "a": null',
    '}',
  ])
})

test('each line of JSON knows the path of its value', () => {
  const lines = layOutJson('{"items":[{"id":1},{"id":"x"}]}')
  assert.deepEqual(
    lines?.map(({ path }) => path),
    [
      '(root)',
      'items',
      'items[0]',
      'items[0].id',
      undefined,
      'items[1]',
      'items[1].id',
      undefined,
      undefined,
      undefined,
    ],
  )
  assert.equal(parentPath('items[1].id'), 'items[1]')
  assert.equal(parentPath('items[1]'), 'items')
  assert.equal(parentPath('items'), '(root)')
})

test('what is not JSON is not laid out, and depth is no danger', () => {
  for (const text of ['', '{', '{"a":}', 'undefined', '[1,]', '{"a":1} x']) {
    assert.equal(layOutJson(text), undefined, text)
  }
  const deep = 5000
  assert.equal(layOutJson('['.repeat(deep) + ']'.repeat(deep))?.length, 2 * deep - 1)
})

test('what a plain form sends becomes the filter’s own parameters', () => {
  const read = (query: string) => readFormQuery(new URLSearchParams(query)).toString()
  assert.equal(read('tool=&from=&class=timeout'), 'class=timeout')
  assert.equal(read('tod_from=22:00&tod_to=02:00'), 'tod=22%3A00-02%3A00')
  assert.equal(read('tod_from=22:00&tod_to='), 'tod=22%3A00-24%3A00')
  assert.equal(read('tod_from=&tod_to=06:00'), 'tod=00%3A00-06%3A00')
  assert.equal(read('dow=mon&dow=fri&tool=a&tool=b'), 'tool=a&tool=b&dow=mon%2Cfri')
})
