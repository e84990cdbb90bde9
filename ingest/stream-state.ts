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
export const ANCHOR_BYTES = 64

const HASH_BYTES = 16

export function fingerprintOf(bytes: Buffer): Fingerprint {
  const hash = createHash('sha256').update(bytes).digest().subarray(0, HASH_BYTES)
  return { length: bytes.length, hash }
}

const NOTHING = fingerprintOf(Buffer.alloc(0))

export function newStream(family: string): Stream {
  const position = { offset: 0, lineNumber: 0, head: NOTHING, anchor: NOTHING, skipping: false }
  return { id: undefined, family, position, closed: false }
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
