import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Piece, type SplitOptions, splitLines } from '../../ingest/line-reader.ts'

const OPTIONS: SplitOptions = {
  atFileStart: true,
  atFileEnd: true,
  skipping: false,
  maxLineBytes: 1024,
  maxPieces: 1_000_000,
}

function split(bytes: Buffer | string, options: Partial<SplitOptions> = {}) {
  return splitLines(Buffer.from(bytes), { ...OPTIONS, ...options })
}

function texts(bytes: Buffer, pieces: readonly Piece[]): string[] {
  return pieces.flatMap((piece) =>
    piece.kind === 'line' ? [bytes.toString('utf8', piece.textStart, piece.textEnd)] : [],
  )
}

/** Reads a file chunk by chunk as the tailer does: what was not used is read again. */
function readInChunks(bytes: Buffer, cuts: readonly number[], options: Partial<SplitOptions> = {}) {
  const pieces: { kind: Piece['kind']; text: string; bytes: number; begins: boolean }[] = []
  let offset = 0
  let skipping = false
  for (const cut of [...cuts, bytes.length]) {
    const chunk = bytes.subarray(offset, cut)
    const result = split(chunk, {
      atFileStart: offset === 0,
      atFileEnd: cut === bytes.length,
      skipping,
      ...options,
    })
    for (const piece of result.pieces) {
      const text =
        piece.kind === 'line' ? chunk.toString('utf8', piece.textStart, piece.textEnd) : ''
      const begins = piece.kind !== 'too_long' || piece.begins
      pieces.push({ kind: piece.kind, text, bytes: piece.next - piece.start, begins })
    }
    offset += result.used
    skipping = result.skipping
  }
  return { pieces, offset }
}

test('a line without its break is left for later', () => {
  const { pieces, used } = split('{"a":1}\n{"a":')
  assert.equal(pieces.length, 1)
  assert.equal(used, 8)
})

test('E8: a character that is cut by a chunk stays whole, at every cut', () => {
  const bytes = Buffer.from('7b226d223a22c3a9e4b8adf09f9982227d0a', 'hex')
  assert.equal(bytes.length, 18)
  for (let cut = 1; cut < 18; cut += 1) {
    const { pieces } = readInChunks(bytes, [cut])
    assert.deepEqual(
      pieces.map(({ text }) => JSON.parse(text).m),
      ['é中🙂'],
      `cut at ${cut}`,
    )
  }
})

test('E14: a carriage return before the break is not part of the line, others are', () => {
  const bytes = Buffer.from('{"m":"x"}\r\nplain\r\n{"a":1}\r{"b":2}\n')
  assert.deepEqual(texts(bytes, split(bytes).pieces), ['{"m":"x"}', 'plain', '{"a":1}\r{"b":2}'])
})

test('line separators of Unicode do not end a line', () => {
  const bytes = Buffer.from('{"m":"a\u2028b\u2029c\u0085d\u000be"}\n')
  assert.equal(split(bytes).pieces.length, 1)
})

test('a byte order mark is skipped once, and counted', () => {
  const bytes = Buffer.from('\uFEFF{"a":1}\n\uFEFF{"a":2}\n')
  const { pieces, used } = split(bytes)
  assert.deepEqual(texts(bytes, pieces), ['{"a":1}', '\uFEFF{"a":2}'])
  assert.equal(used, bytes.length)
})

test('empty and blank lines are told from the rest', () => {
  const { pieces } = split('\n  \t \r\nx\n')
  assert.deepEqual(
    pieces.map(({ kind }) => kind),
    ['blank', 'blank', 'line'],
  )
})

test('a line of exactly the limit is read, one byte more is refused', () => {
  const max = 'x'.repeat(1024)
  assert.deepEqual(
    split(`${max}\n${max}y\nz\n`).pieces.map(({ kind, start, next }) => [kind, next - start]),
    [
      ['line', 1025],
      ['too_long', 1026],
      ['line', 2],
    ],
  )
})

test('a line without end is skipped chunk by chunk up to its break', () => {
  const bytes = Buffer.concat([Buffer.alloc(5000, 'x'), Buffer.from('\nok\n')])
  const { pieces, offset } = readInChunks(bytes, [1100, 2200, 3300, 4400])
  assert.deepEqual(
    pieces.map(({ kind, begins }) => [kind, begins]),
    [
      ['too_long', true],
      ['too_long', false],
      ['too_long', false],
      ['too_long', false],
      ['too_long', false],
      ['line', true],
    ],
  )
  assert.equal(offset, bytes.length)
})

test('a hole of zero bytes ends the line before it, and the line after it is whole', () => {
  const bytes = Buffer.concat([Buffer.from('{"to'), Buffer.alloc(100), Buffer.from('{"a":1}\n')])
  const { pieces } = split(bytes)
  assert.deepEqual(
    pieces.map(({ kind, next, start }) => [kind, next - start]),
    [
      ['line', 4],
      ['nul_run', 100],
      ['line', 8],
    ],
  )
})

test('a hole at the end of the file is waited for', () => {
  const bytes = Buffer.concat([Buffer.from('{"a":1}\n'), Buffer.alloc(100)])
  assert.equal(split(bytes).used, 8)
  assert.equal(split(bytes, { atFileEnd: false }).used, 92)
})

test('a few zero bytes are part of their line', () => {
  assert.deepEqual(
    split('a\0\0\0b\n').pieces.map(({ kind }) => kind),
    ['line'],
  )
})

test('no more pieces are taken than asked for', () => {
  const { pieces, used } = split('a\nb\nc\n', { maxPieces: 2 })
  assert.equal(pieces.length, 2)
  assert.equal(used, 4)
})

test('however a file is cut into chunks, its lines are the same and no byte is counted twice', () => {
  const part = fc.oneof(
    fc.constantFrom('\n', '\r\n', '\r', ' ', '{"a":1}', 'é', '🙂', '\uFEFF'),
    fc.string({ maxLength: 5 }),
    fc.constant('\0'.repeat(40)),
    fc.constant('y'.repeat(80)),
  )
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 30 }),
      fc.array(fc.nat(600), { maxLength: 8 }),
      (parts, rawCuts) => {
        const bytes = Buffer.from(`${parts.join('')}\n`)
        const cuts = rawCuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b)
        const limit = { maxLineBytes: 64 }
        const whole = readInChunks(bytes, [], limit)
        const cut = readInChunks(bytes, cuts, limit)
        assert.equal(cut.offset, bytes.length)
        const lines = (read: typeof whole) =>
          read.pieces.filter(({ kind }) => kind === 'line').map(({ text }) => text)
        // A piece that is refused may be cut at other places; lines may not.
        assert.deepEqual(lines(cut), lines(whole))
        const sum = cut.pieces.reduce((total, piece) => total + piece.bytes, 0)
        assert.equal(sum, bytes.length)
      },
    ),
    { numRuns: 500 },
  )
})
