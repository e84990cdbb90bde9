import type { Location } from './locations.ts'
import type { HashedRun, StagedLine, StreamPart } from './store/staged-line.ts'
import type { Position, Stream } from './stream-state.ts'

export type BatchPiece = {
  lines: readonly StagedLine[]
  position: Position
  hashedRun: HashedRun | undefined
}

/** Lines of any number of streams that will be stored in one transaction. */
export class Batch {
  lines = 0
  bytes = 0
  readonly #parts = new Map<Stream, StreamPart>()

  /** Streams that the database does not know yet. */
  newStreams(family: string): Stream[] {
    return [...this.#parts.keys()].filter(
      (stream) => stream.id === undefined && stream.family === family,
    )
  }

  /** Adds lines that were read from a location, and moves the stream's staged position. */
  add(stream: Stream, location: Location, piece: BatchPiece): void {
    const part = this.#partOf(stream, location)
    for (const line of piece.lines) part.lines.push(line)
    if (piece.hashedRun) part.hashedRuns.push(piece.hashedRun)
    this.lines += piece.lines.length
    this.bytes += piece.position.offset - stream.staged.offset
    part.position = piece.position
    part.path = location.path
    stream.staged = piece.position
  }

  /** The file has another name now. */
  rename(stream: Stream, location: Location): void {
    this.#partOf(stream, location).path = location.path
  }

  close(stream: Stream, location: Location): void {
    this.#partOf(stream, location).closes = true
  }

  parts(): StreamPart[] {
    return [...this.#parts.values()]
  }

  #partOf(stream: Stream, location: Location): StreamPart {
    let part = this.#parts.get(stream)
    if (!part) {
      part = {
        stream,
        locations: [],
        path: undefined,
        lines: [],
        position: stream.staged,
        hashedRuns: [],
        closes: false,
      }
      this.#parts.set(stream, part)
    }
    const { device, inode, birthNs, sizeBytes } = location.facts
    if (!part.locations.some((known) => known.device === device && known.inode === inode)) {
      part.locations.push({ path: location.path, device, inode, birthNs, sizeBytes })
    }
    return part
  }
}
