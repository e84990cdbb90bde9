/**
 * One append-only sequence of bytes and how far it has been read. `committed` is what the database
 * says; `staged` is where reading has got to in the batch that is being put together.
 */
export type Stream = {
  /** Undefined until its first lines are committed. */
  id: number | undefined
  family: string
  committed: Position
  staged: Position
  /** Its file was read to the end for good, an unfinished last line included. */
  closed: boolean
}

export type Position = {
  offset: number
  lineNumber: number
  /** The stream's first bytes, at most HEAD_BYTES. */
  head: Buffer
  /** The last bytes before offset, at most ANCHOR_BYTES. */
  anchor: Buffer
  /** Offset is inside a line that is too long. */
  skipping: boolean
}

export const HEAD_BYTES = 1024
export const ANCHOR_BYTES = 64

const NOTHING = Buffer.alloc(0)

export function positionAtStart(): Position {
  return {
    offset: 0,
    lineNumber: 0,
    head: NOTHING,
    anchor: NOTHING,
    skipping: false,
  }
}

export function newStream(family: string): Stream {
  const start = positionAtStart()
  return { id: undefined, family, committed: start, staged: start, closed: false }
}

/** The position after the next `used` bytes, which `chunk` begins with. */
export function advance(
  position: Position,
  chunk: Buffer,
  used: number,
  after: { lineNumber: number; skipping: boolean },
): Position {
  const bytes = chunk.subarray(0, used)
  const missing = HEAD_BYTES - position.head.length
  const growsHead = missing > 0 && position.head.length === position.offset
  return {
    offset: position.offset + used,
    ...after,
    head: growsHead ? Buffer.concat([position.head, bytes.subarray(0, missing)]) : position.head,
    // Copied: the chunk's memory is used again.
    anchor: Buffer.from(
      used >= ANCHOR_BYTES
        ? bytes.subarray(used - ANCHOR_BYTES)
        : Buffer.concat([position.anchor, bytes]).subarray(-ANCHOR_BYTES),
    ),
  }
}
