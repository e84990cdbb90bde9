import type { FilePort } from './file-port.ts'
import { completeLineHashes, lineHashes } from './line-hashes.ts'
import type { KnownStream, StreamIndex } from './store/stream-index.ts'
import {
  ANCHOR_BYTES,
  type Fingerprint,
  fingerprintOf,
  HEAD_BYTES,
  type Position,
  type Stream,
} from './stream-state.ts'

/** How a file's content stands to what has been read of a stream. */
export type Comparison =
  /** All that was read is there: reading may go on in this file. */
  | 'covers'
  /** A shorter copy, each line of which has been read. */
  | 'contained'
  /** Shorter, and nothing speaks against a copy. */
  | 'unsure'
  | 'differs'

/** Does the file hold the stream up to its position? Head and anchor tell. */
export function holdsStream(
  files: FilePort,
  file: number,
  sizeBytes: number,
  position: Position,
): boolean {
  return (
    // A database that was tampered with may say anything.
    position.offset >= 0 &&
    sizeBytes >= position.offset &&
    hasBytes(files, file, 0, position.head) &&
    hasAnchor(files, file, position)
  )
}

export function hasAnchor(files: FilePort, file: number, position: Position): boolean {
  return anchorBytes(files, file, position) !== undefined
}

function hasBytes(files: FilePort, file: number, start: number, expected: Fingerprint): boolean {
  return bytesOf(files, file, start, expected) !== undefined
}

/** The bytes that a fingerprint was made of, if the file still has them there. */
function bytesOf(
  files: FilePort,
  file: number,
  start: number,
  { length, hash }: Fingerprint,
): Buffer | undefined {
  const bytes = readBytes(files, file, start, length)
  const isSame = bytes.length === length && fingerprintOf(bytes).hash.equals(hash)
  return isSame ? bytes : undefined
}

/** The bytes before the position; undefined if they are not what they were. */
export function anchorBytes(
  files: FilePort,
  file: number,
  { offset, anchor }: Position,
): Buffer | undefined {
  return bytesOf(files, file, offset - anchor.length, anchor)
}

/** The first bytes, as far as head covers them; undefined if they are not what they were. */
export function headBytes(files: FilePort, file: number, { head }: Position): Buffer | undefined {
  return bytesOf(files, file, 0, head)
}

function readBytes(files: FilePort, file: number, start: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  return bytes.subarray(0, length === 0 ? 0 : files.read(file, bytes, length, start))
}

/** Of the (at most ANCHOR_BYTES) bytes before offset. */
export function anchorAt(files: FilePort, file: number, offset: number): Fingerprint {
  const length = Math.min(ANCHOR_BYTES, offset)
  return fingerprintOf(readBytes(files, file, offset - length, length))
}

/** Where a stream begins that is not read from its file's beginning; its lines count from there. */
export function positionAt(files: FilePort, file: number, offset: number): Position {
  const head = fingerprintOf(readBytes(files, file, 0, Math.min(HEAD_BYTES, offset)))
  return { offset, lineNumber: 0, head, anchor: anchorAt(files, file, offset), skipping: false }
}

/** The place after the last line break before `end`, as far back as the buffer reaches; else 0. */
export function endOfLines(files: FilePort, file: number, end: number, buffer: Buffer): number {
  const length = Math.min(end, buffer.length)
  if (length === 0) return 0
  const count = files.read(file, buffer, length, end - length)
  const at = buffer.subarray(0, count).lastIndexOf(0x0a)
  return at < 0 ? 0 : end - length + at + 1
}

/** Compares a file with all that is known about a stream that may be the same. */
export function compareWithStream(
  files: FilePort,
  file: number,
  sizeBytes: number,
  { stream }: KnownStream,
  index: StreamIndex,
): Comparison {
  const { head, offset } = stream.position
  if (sizeBytes === 0 || offset <= 0) return 'differs'
  if (isOnlyBegun(stream, index)) return 'differs'
  if (sizeBytes >= head.length && !hasBytes(files, file, 0, head)) return 'differs'
  const covers = sizeBytes >= offset
  if (covers && !hasAnchor(files, file, stream.position)) return 'differs'
  const hashed =
    stream.id === undefined
      ? NOTHING_HASHED
      : compareHashes(files, file, sizeBytes, stream.id, index)
  if (!hashed.agrees) return 'differs'
  if (covers) return 'covers'
  // Lines before the first hash have stamps: they cannot be stored twice.
  return hashed.lines > 0 && hashed.to >= sizeBytes ? 'contained' : 'unsure'
}

/** Nothing but the beginning of a line, which many lines begin with. */
export function isOnlyBegun(stream: Stream, index: StreamIndex): boolean {
  return stream.closed && stream.id !== undefined && index.unfinishedTail(stream.id)?.offset === 0
}

/** Lines that were compared, and where they end. Hashes have no gaps from their first on. */
type HashComparison = { agrees: boolean; to: number; lines: number }

const NOTHING_HASHED: HashComparison = { agrees: true, to: 0, lines: 0 }

function compareHashes(
  files: FilePort,
  file: number,
  sizeBytes: number,
  streamId: number,
  index: StreamIndex,
): HashComparison {
  const result = { ...NOTHING_HASHED }
  for (const { firstOffset, endOffset, lineHashes: stored } of index.hashedRuns(streamId)) {
    if (firstOffset >= sizeBytes) break
    const length = Math.min(endOffset, sizeBytes) - firstOffset
    const bytes = readBytes(files, file, firstOffset, length)
    if (bytes.length < length) return { ...result, agrees: false }
    // The last line of a file that is shorter than the run may itself be cut.
    const hashes = endOffset <= sizeBytes ? lineHashes(bytes) : completeLineHashes(bytes)
    if (!beginsWith(stored, hashes)) return { ...result, agrees: false }
    result.lines += hashes.length
    result.to = firstOffset + length
  }
  return result
}

function beginsWith(stored: Buffer, hashes: readonly number[]): boolean {
  return (
    hashes.length * 4 <= stored.length &&
    hashes.every((hash, index) => stored.readUInt32LE(index * 4) === hash)
  )
}
