import type { ParsedLine, Stamp } from '../formats/parsed-line.ts'
import type { Position, Stream } from '../stream-state.ts'
import type { RefusedPiece } from './quarantine.ts'

/** A piece of a stream whose fate is decided and that waits for its transaction. */
export type StagedLine =
  | {
      kind: 'record'
      offset: number
      bytes: number
      lineNumber: number
      parsed: Extract<ParsedLine, { fate: 'call' | 'event' }>
      /** The file ended without the line's break. */
      unterminated?: true
    }
  | { kind: 'refused'; piece: RefusedPiece; stamp: Stamp | undefined }
  /** Counted, not kept: empty lines and another program's. */
  | { kind: 'passed_over'; bytes: number; foreignLines: number }

/** Where the bytes of a stream are now. */
export type StreamLocation = {
  path: string
  device: string
  inode: string
  birthNs: string
  sizeBytes: number
}

/** Hashes of the line ends in a run of bytes: see line-hashes.ts. */
export type HashedRun = { firstOffset: number; endOffset: number; hashes: number[] }

/** Some lines of one stream, as they go into the open transaction. */
export type StreamPart = {
  stream: Stream
  /** The file they were read from. */
  location: StreamLocation
  /** By its path people find the stream. */
  isMain: boolean
  lines: readonly StagedLine[]
  /** Where the stream stands after these lines. */
  position: Position
  /** Set where there are lines without a stamp. */
  hashedRun: HashedRun | undefined
  /** Nothing more is expected. */
  closes: boolean
}
