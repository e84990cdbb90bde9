import type { FilePort } from './file-port.ts'
import { completeLineHashes, lineHashes } from './line-hashes.ts'
import type { KnownStream, StreamIndex } from './store/stream-index.ts'
import type { Position } from './stream-state.ts'

/** How a file's content stands to what has been read of a stream. */
export type Comparison =
  /** All that was read is there: reading may go on in this file. */
  | 'covers'
  /** A shorter copy, each line of which has been read. */
  | 'contained'
  /** Begins alike and is shorter; whether it is a copy cannot be told. */
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
    sizeBytes >= position.offset &&
    hasBytes(files, file, 0, position.head) &&
    hasAnchor(files, file, position)
  )
}

export function hasAnchor(files: FilePort, file: number, position: Position): boolean {
  return hasBytes(files, file, position.offset - position.anchor.length, position.anchor)
}

function hasBytes(files: FilePort, file: number, start: number, expected: Buffer): boolean {
  const bytes = Buffer.allocUnsafe(expected.length)
  const count = files.read(file, bytes, expected.length, start)
  return count === expected.length && bytes.equals(expected)
}

/** Compares a file with all that is known about a stream that may be the same. */
export function compareWithStream(
  files: FilePort,
  file: number,
  sizeBytes: number,
  { stream, baseOffset }: KnownStream,
  index: StreamIndex,
): Comparison {
  const { head, offset } = stream.staged
  const sharedHead = head.subarray(0, Math.min(head.length, sizeBytes))
  if (sharedHead.length === 0 || !hasBytes(files, file, 0, sharedHead)) return 'differs'
  const covers = sizeBytes >= offset
  if (covers && !hasAnchor(files, file, stream.staged)) return 'differs'
  const hashed =
    stream.id === undefined
      ? NOTHING_HASHED
      : compareHashes(files, file, sizeBytes, stream.id, index)
  if (!hashed.agrees) return 'differs'
  if (covers) return 'covers'
  // What lies before base_offset was left out on purpose when the stream was first seen.
  return hashed.from <= baseOffset && hashed.to >= sizeBytes ? 'contained' : 'unsure'
}

/** [from, to) is the longest run without a gap, from the first hashed byte on. */
type HashComparison = { agrees: boolean; from: number; to: number }

const NOTHING_HASHED: HashComparison = { agrees: true, from: Number.POSITIVE_INFINITY, to: 0 }

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
    const bytes = Buffer.allocUnsafe(length)
    if (files.read(file, bytes, length, firstOffset) < length) return { ...result, agrees: false }
    // The last line of a file that is shorter than the run may itself be cut.
    const hashes = endOffset <= sizeBytes ? lineHashes(bytes) : completeLineHashes(bytes)
    if (!beginsWith(stored, hashes)) return { ...result, agrees: false }
    if (result.to === 0) result.from = firstOffset
    if (result.to === 0 || result.to === firstOffset) result.to = firstOffset + length
  }
  return result
}

function beginsWith(stored: Buffer, hashes: readonly number[]): boolean {
  return (
    hashes.length * 4 <= stored.length &&
    hashes.every((hash, index) => stored.readUInt32LE(index * 4) === hash)
  )
}
