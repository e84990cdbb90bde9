import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createHostileFile, DEFAULT_HUGE_LINE_BYTES } from '../../sample-logs/hostile.ts'
import { hostilePath, samplesFolder } from './read-logs.ts'

const committed = createHostileFile({ hugeLineBytes: 0 })

/** Bytes between line breaks, cut without looking at what they mean. */
function piecesOf(bytes: Buffer): Buffer[] {
  const pieces: Buffer[] = []
  let start = 0
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
    pieces.push(bytes.subarray(start, end))
    start = end + 1
  }
  return [...pieces, bytes.subarray(start)]
}

function isUtf8(bytes: Buffer): boolean {
  return Buffer.from(bytes.toString('utf8'), 'utf8').equals(bytes)
}

/** A reader as plain as can be: what each piece is, by the README's words. */
function classify(piece: Buffer): string {
  if (piece[0] === 0) return 'nul_run'
  if (!isUtf8(piece)) return 'utf8'
  const text = piece
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trim()
  if (text === '') return 'blank'
  const value = parsed(text)
  if (value === undefined) {
    const last = text.lastIndexOf('{"level":')
    if (last > 0 && parsed(text.slice(last)) !== undefined) {
      return parsed(text.slice(0, last)) === undefined ? 'torn' : 'two'
    }
    return text.startsWith('{') ? 'json' : 'not_json'
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'shape'
  if (!('w' in value)) return 'foreign'
  if (!('kind' in value) || value.kind !== 'call') return 'event'
  return 'tool' in value ? 'call' : 'invalid'
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

test('the committed hostile file is what the generator makes', () => {
  assert.ok(readFileSync(hostilePath).equals(committed.bytes))
})

test('its parts are as many as it says', () => {
  const pieces = piecesOf(committed.bytes)
  const unfinished = pieces.pop() ?? Buffer.alloc(0)
  assert.equal(unfinished.length, committed.facts.unfinishedBytes)

  const counts: Record<string, number> = {}
  for (const kind of pieces.map(classify)) counts[kind] = (counts[kind] ?? 0) + 1
  const { calls, events, duplicates, foreign, blank, refused } = committed.facts
  assert.equal(counts.event, events)
  assert.equal(counts.foreign, foreign)
  assert.equal(counts.blank, blank)
  for (const [reason, count] of Object.entries(refused)) {
    assert.equal(counts[reason], count, reason)
  }
  // A call stands at the end of each torn line and behind the zero bytes, too, and two on one line.
  const hidden = (counts.torn ?? 0) + (counts.nul_run ?? 0) + 2 * (counts.two ?? 0)
  const inAll = (counts.call ?? 0) + hidden
  assert.equal(inAll, calls + duplicates)
})

test('each number of its writer occurs', () => {
  const text = committed.bytes.toString('utf8')
  const seen = new Set([...text.matchAll(/"n":(\d+),/g)].map(([, n]) => Number(n)))
  assert.deepEqual(
    [...seen].sort((one, other) => one - other),
    range(seen.size),
  )
})

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1)
}

test('the huge line is longer than a reader has to bear, and has a good line after it', () => {
  const { bytes, facts } = createHostileFile({ hugeLineBytes: DEFAULT_HUGE_LINE_BYTES })
  const pieces = piecesOf(bytes)
  const huge = pieces.findIndex((piece) => piece.length > 1024 * 1024)
  assert.equal(pieces[huge]?.length, DEFAULT_HUGE_LINE_BYTES)
  assert.equal(classify(pieces[huge + 1] ?? Buffer.alloc(0)), 'call')
  assert.equal(facts.refused.too_long, 1)
  assert.equal(facts.calls, committed.facts.calls + 1)
})

test('the README says how many lines are good and why the others are refused', () => {
  const readme = readFileSync(join(samplesFolder, 'README.md'), 'utf8').replace(/ +/g, ' ')
  for (const [reason, count] of Object.entries(committed.facts.refused)) {
    assert.match(readme, new RegExp(`\\| \`${reason}\` \\| ${count} \\|`))
  }
  assert.match(readme, new RegExp(`\\| calls \\| ${committed.facts.calls} \\|`))
})
