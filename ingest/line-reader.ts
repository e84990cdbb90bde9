/**
 * Cuts bytes into lines. Works on bytes alone: only 0x0A ends a line, so characters that are cut by
 * a chunk's edge, U+2028 and lone carriage returns do not matter. Nothing is kept between calls:
 * what is not consumed is read again.
 */

/** Longest line that is looked at; one byte more and it is refused. */
export const MAX_LINE_BYTES = 1024 * 1024

/**
 * So many zero bytes in a row are a hole in the file (a writer that did not append, after a
 * truncation; a power cut) and no part of a line. Fewer may be UTF-16 text.
 */
const NUL_RUN_BYTES = 16

/**
 * A chunk so much longer than the longest line makes progress: it shows that a line is too long, or
 * that a hole begins where it ends.
 */
export const CHUNK_SLACK_BYTES = NUL_RUN_BYTES + 1

const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const TAB = 0x09

/** Places in the chunk. [start, next) are the bytes the piece accounts for. */
export type Piece =
  | {
      kind: 'line'
      start: number
      next: number
      /** [textStart, textEnd): without byte order mark, line break and a carriage return before it. */
      textStart: number
      textEnd: number
    }
  | { kind: 'blank'; start: number; next: number }
  | { kind: 'nul_run'; start: number; next: number }
  | {
      kind: 'too_long'
      start: number
      next: number
      /** False: goes on from the chunk before. */
      begins: boolean
    }

export type Split = {
  pieces: Piece[]
  /** Bytes that the pieces account for; the rest is the beginning of a line. */
  used: number
  /** The chunk ended inside a line that is too long. */
  skipping: boolean
}

export type SplitOptions = {
  /** The chunk begins where the file begins. */
  atFileStart: boolean
  /** The chunk begins inside a line that is too long. */
  skipping: boolean
  /** The chunk ends where the file ends now. */
  atFileEnd: boolean
  maxLineBytes: number
  /** Ends after so many pieces; the rest is left for the next chunk. */
  maxPieces: number
}

export function splitLines(chunk: Buffer, options: SplitOptions): Split {
  const pieces: Piece[] = []
  const { maxLineBytes, maxPieces } = options
  let position = 0
  let nul = nextNulRun(chunk, 0)
  if (options.skipping) {
    const end = chunk.indexOf(LF)
    const stop = Math.min(end < 0 ? chunk.length : end + 1, nul?.start ?? chunk.length)
    // Zero bytes at the end may be the beginning of a hole, which ends the line.
    const next = stop < chunk.length || end >= 0 ? stop : stop - trailingNuls(chunk)
    if (next > 0) pieces.push({ kind: 'too_long', start: 0, next, begins: false })
    if (end < 0 && !nul) return { pieces, used: next, skipping: true }
    position = next
    if (nul && nul.start < position) nul = nextNulRun(chunk, position)
  }
  while (position < chunk.length && pieces.length < maxPieces) {
    const end = chunk.indexOf(LF, position)
    if (nul && nul.start < (end < 0 ? chunk.length : end)) {
      // A run at the end of the file may still grow, or be filled in by its writer.
      const openEnded = nul.end === chunk.length
      if (openEnded && options.atFileEnd) break
      // Otherwise enough of it is left for the next chunk to see a run again.
      const next = openEnded ? nul.end - NUL_RUN_BYTES : nul.end
      if (next <= nul.start) break
      if (nul.start > position) pieces.push(pieceOf(chunk, position, nul.start, nul.start, options))
      pieces.push({ kind: 'nul_run', start: nul.start, next })
      position = next
      if (openEnded) break
      nul = nextNulRun(chunk, position)
      continue
    }
    if (end < 0) break
    pieces.push(pieceOf(chunk, position, end, end + 1, options))
    position = end + 1
  }
  const rest = chunk.length - trailingNuls(chunk) - position
  if (pieces.length < maxPieces && rest > maxLineBytes) {
    pieces.push({ kind: 'too_long', start: position, next: chunk.length, begins: true })
    return { pieces, used: chunk.length, skipping: true }
  }
  return { pieces, used: position, skipping: false }
}

function pieceOf(
  chunk: Buffer,
  start: number,
  end: number,
  next: number,
  options: SplitOptions,
): Piece {
  if (end - start > options.maxLineBytes) return { kind: 'too_long', start, next, begins: true }
  const textEnd = end > start && chunk[end - 1] === CR ? end - 1 : end
  const textStart = start === 0 && options.atFileStart ? byteOrderMarkEnd(chunk) : start
  return isBlank(chunk, textStart, textEnd)
    ? { kind: 'blank', start, next }
    : { kind: 'line', start, next, textStart, textEnd }
}

function isBlank(chunk: Buffer, start: number, end: number): boolean {
  for (let position = start; position < end; position += 1) {
    const byte = chunk[position]
    if (byte !== SPACE && byte !== TAB && byte !== CR) return false
  }
  return true
}

function byteOrderMarkEnd(chunk: Buffer): number {
  return chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf ? 3 : 0
}

function trailingNuls(chunk: Buffer): number {
  let count = 0
  while (count < NUL_RUN_BYTES && chunk[chunk.length - 1 - count] === 0) count += 1
  return count
}

function nextNulRun(chunk: Buffer, from: number): { start: number; end: number } | undefined {
  let start = chunk.indexOf(0, from)
  while (start >= 0) {
    let end = start + 1
    while (end < chunk.length && chunk[end] === 0) end += 1
    // A short run at the chunk's end may be the beginning of a long one.
    if (end - start >= NUL_RUN_BYTES) return { start, end }
    start = chunk.indexOf(0, end)
  }
  return undefined
}
