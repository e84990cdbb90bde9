import { createHash } from 'node:crypto'

/**
 * One append-only sequence of bytes and how far it has been read and stored, the open transaction
 * included: when that fails, all of these are thrown away and loaded again.
 */
export type Stream = {
  /** Undefined until its first lines are stored. */
  id: number | undefined
  family: string
  position: Position
  /** Its file was read to the end for good, an unfinished last line included. */
  closed: boolean
  /** It has had lines without a stamp: from the first of them on, all lines are hashed. */
  hashed: boolean
}

export type Position = {
  offset: number
  lineNumber: number
  /** Of the first bytes. */
  head: Fingerprint
  /** Of the last bytes before offset. */
  anchor: Fingerprint
  /** Offset is inside a line that is too long. */
  skipping: boolean
}

/** Tells whether some bytes are the same as before, without keeping them. */
export type Fingerprint = { length: number; hash: Buffer }

export const HEAD_BYTES = 1024
/** Long enough to hold a whole line as a rule: the ends of lines alone may be alike. */
export const ANCHOR_BYTES = 1024

const HASH_BYTES = 16

export function fingerprintOf(bytes: Buffer): Fingerprint {
  const hash = createHash('sha256').update(bytes).digest().subarray(0, HASH_BYTES)
  return { length: bytes.length, hash }
}

const NOTHING = fingerprintOf(Buffer.alloc(0))

export function newStream(family: string): Stream {
  const position = { offset: 0, lineNumber: 0, head: NOTHING, anchor: NOTHING, skipping: false }
  return { id: undefined, family, position, closed: false, hashed: false }
}

/**
 * Head and anchor after `bytes` have been read at the position. `before` are the bytes the position
 * was known by. All come from what was read, never from a second look: the file may have changed.
 */
export function fingerprintsAfter(
  { offset, head }: Position,
  before: { head: Buffer | undefined; anchor: Buffer },
  bytes: Buffer,
): Pick<Position, 'head' | 'anchor'> {
  const growsHead = before.head !== undefined && head.length === offset
  return {
    head: growsHead
      ? fingerprintOf(
          Buffer.concat([before.head as Buffer, bytes.subarray(0, HEAD_BYTES)]).subarray(
            0,
            HEAD_BYTES,
          ),
        )
      : head,
    anchor: fingerprintOf(
      bytes.length >= ANCHOR_BYTES
        ? bytes.subarray(-ANCHOR_BYTES)
        : Buffer.concat([before.anchor, bytes]).subarray(-ANCHOR_BYTES),
    ),
  }
}

/** As it is stored in `stream.head`. */
export function headBlob({ length, hash }: Fingerprint): Buffer {
  const blob = Buffer.alloc(2 + HASH_BYTES)
  blob.writeUInt16LE(length)
  hash.copy(blob, 2)
  return blob
}

export function headOfBlob(blob: Buffer): Fingerprint {
  return blob.length < 2 ? NOTHING : { length: blob.readUInt16LE(), hash: blob.subarray(2) }
}

export function anchorOfBlob(blob: Buffer, offset: number): Fingerprint {
  return offset === 0 ? NOTHING : { length: Math.min(ANCHOR_BYTES, offset), hash: blob }
}
