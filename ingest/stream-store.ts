import { lineHashes } from './line-hashes.ts'
import type { Location } from './location.ts'
import type { Staged } from './stage-lines.ts'
import type { HashedRun, StagedLine } from './store/staged-line.ts'
import type { StreamIndex } from './store/stream-index.ts'
import type { BatchWriter } from './store/write-batch.ts'
import type { Position, Stream } from './stream-state.ts'

/** Puts what was read of a file into the writer's transaction, under the file's name. */
export class StreamStore {
  /** Of this poll. */
  nowMs = 0
  readonly #index: StreamIndex
  readonly #writer: BatchWriter
  /** The file by whose name each stream goes. */
  readonly #mains = new WeakMap<Stream, Location>()

  constructor(index: StreamIndex, writer: BatchWriter) {
    this.#index = index
    this.#writer = writer
  }

  /** `bytes` are what the staged lines were made of. */
  storeStaged(
    location: Location,
    stream: Stream,
    staged: Staged,
    bytes: Buffer,
    next: Position,
  ): void {
    const firstOffset = stream.position.offset
    const isHashed = staged.hasUnstamped || stream.hashed
    this.store(location, stream, staged.lines, next, {
      hashedRun: isHashed
        ? { firstOffset, endOffset: next.offset, hashes: lineHashes(bytes) }
        : undefined,
    })
  }

  store(
    location: Location,
    stream: Stream,
    lines: readonly StagedLine[],
    position: Position,
    { hashedRun, closes = false }: { hashedRun?: HashedRun | undefined; closes?: boolean } = {},
  ): void {
    const { device, inode, birthNs, sizeBytes } = location.facts
    const isNew = stream.id === undefined
    // Copies come and go; the stream goes by the name of its log as long as that is there.
    const main = this.#mains.get(stream)
    if (!main?.isFound) this.#mains.set(stream, location)
    this.#writer.store(
      {
        stream,
        location: { path: location.path, device, inode, birthNs, sizeBytes },
        isMain: this.#mains.get(stream) === location,
        lines,
        position,
        hashedRun,
        closes,
      },
      this.nowMs,
    )
    if (isNew) this.#index.adopt(stream)
  }

  /** Notes that all of a file has been read, without reading from it. */
  place(location: Location, stream: Stream): void {
    if (stream.id === undefined) return
    const { device, inode, birthNs, sizeBytes } = location.facts
    this.#writer.begin()
    const place = { path: location.path, device, inode, birthNs, sizeBytes }
    this.#index.place(place, stream.id, this.nowMs)
  }
}
