import { basename } from 'node:path'
import type { FilePort } from './file-port.ts'
import type { LineRedactor } from './formats/parsed-line.ts'
import { CHUNK_SLACK_BYTES, splitLines } from './line-reader.ts'
import { forgetStream, type Location, standsStill } from './location.ts'
import type { Locations } from './locations.ts'
import { recognise, recogniseCopy } from './recognise.ts'
import { type Staged, stageLines } from './stage-lines.ts'
import { stageTail } from './stage-tail.ts'
import type { StreamIndex } from './store/stream-index.ts'
import type { BatchWriter } from './store/write-batch.ts'
import {
  anchorAt,
  anchorBytes,
  endOfLines,
  hasAnchor,
  headBytes,
  holdsStream,
  isOnlyBegun,
  positionAt,
} from './stream-identity.ts'
import {
  fingerprintsAfter,
  HEAD_BYTES,
  newStream,
  type Position,
  type Stream,
} from './stream-state.ts'
import type { StreamStore } from './stream-store.ts'
import type { TailLimits } from './tail-limits.ts'
import { compressionOf } from './unpack.ts'

export type Reading = 'more' | 'end' | 'lost'

export type FileReaderOptions = {
  files: FilePort
  locations: Locations
  index: StreamIndex
  writer: BatchWriter
  store: StreamStore
  redactor: LineRedactor
  limits: TailLimits
}

/** Reads open files into the database's transaction. Throws what the files and the database throw. */
export class FileReader {
  /** Of this poll. */
  nowMs = 0
  /** A batch ends at so many lines. */
  maxLines: number
  readonly #files: FilePort
  readonly #locations: Locations
  readonly #index: StreamIndex
  readonly #writer: BatchWriter
  readonly #store: StreamStore
  readonly #redactor: LineRedactor
  readonly #limits: TailLimits
  readonly #buffer: Buffer

  constructor(options: FileReaderOptions) {
    this.#files = options.files
    this.#locations = options.locations
    this.#index = options.index
    this.#writer = options.writer
    this.#store = options.store
    this.#redactor = options.redactor
    this.#limits = options.limits
    this.maxLines = options.limits.importLines
    const { maxLineBytes, chunkBytes } = options.limits
    this.#buffer = Buffer.allocUnsafe(Math.max(maxLineBytes, chunkBytes) + CHUNK_SLACK_BYTES)
  }

  /** Finds out which stream the file holds; false if nothing is to be read from it now. */
  settle(location: Location): boolean {
    const file = location.file as number
    const { sizeBytes } = location.facts
    const { stream } = location
    const isTold = location.name.primary || !stream || !isOnlyBegun(stream, this.#index)
    if (stream && isTold && holdsStream(this.#files, file, sizeBytes, stream.position)) {
      this.#follow(location, stream)
      return true
    }
    if (this.#isPacked(location)) {
      location.stream = undefined
      location.state = { kind: 'packed' }
      return false
    }
    const recognition = recognise(location, file, {
      files: this.#files,
      index: this.#index,
      locations: this.#locations,
    })
    switch (recognition.kind) {
      case 'stream':
        this.#follow(location, recognition.stream)
        return true
      case 'contained':
        this.#leaveCopy(location, recognition.stream)
        return false
      case 'unsure':
        if (!standsStill(location, this.nowMs)) {
          this.#leave(location, { kind: 'pending' })
          return false
        }
        this.#followNew(location, file)
        return true
      case 'new':
        this.#followNew(location, file)
        return true
    }
  }

  #followNew(location: Location, file: number): void {
    const stream = newStream(location.name.family)
    const offset = endOfLines(this.#files, file, location.passOver, this.#buffer)
    if (offset > 0) stream.position = positionAt(this.#files, file, offset)
    this.#follow(location, stream)
    // Known from now on, with nothing read of it.
    if (offset > 0) this.#store.store(location, stream, [], stream.position)
  }

  /** Compressed, whatever its name says; content that was unpacked is not looked at twice. */
  #isPacked(location: Location): boolean {
    if (location.isUnpacked) return false
    return compressionOf(this.#read(location.file as number, 4, 0)) !== 'none'
  }

  #follow(location: Location, stream: Stream): void {
    // A copy that was left alone counts as read; followed, it has all of its lines before it.
    if (location.state.kind !== 'live') location.readAt = undefined
    location.stream = stream
    location.state = { kind: 'live' }
    if (stream.closed && location.facts.sizeBytes > stream.position.offset) {
      this.#reopen(location, stream)
    }
    this.#noteName(location, stream)
  }

  #leave(location: Location, state: Location['state']): void {
    location.stream = undefined
    location.state = state
    location.readAt = location.facts
    // It is looked at again, though it may not have changed.
    location.settledAt = undefined
  }

  #noteName(location: Location, stream: Stream): void {
    if (!location.renamed) return
    location.renamed = false
    if (stream.id !== undefined) this.#store.store(location, stream, [], stream.position)
  }

  /** A line that was given up as unfinished may be whole now. */
  #reopen(location: Location, stream: Stream): void {
    if (stream.id === undefined) return
    const tail = this.#index.unfinishedTail(stream.id)
    if (!tail) return
    this.#writer.begin()
    const anchor = anchorAt(this.#files, location.file as number, tail.offset)
    this.#index.reopen(stream, tail, anchor)
  }

  /**
   * Reads once and stages whole lines. Anchor and size are looked at before and after, so that a
   * truncation during the read is noticed and its bytes are not taken for the stream's.
   */
  readChunk(location: Location): Reading {
    const stream = location.stream as Stream
    const file = location.file as number
    const { position } = stream
    const { facts } = location
    const left = facts.sizeBytes - position.offset
    const before = this.#knownBytes(file, position)
    if (left < 0 || !before) return 'lost'
    let chunk = this.#read(file, Math.min(left, this.#limits.chunkBytes), position.offset)
    let split = this.#split(chunk, left, stream)
    if (split.used === 0 && chunk.length < left) {
      // One line longer than a chunk.
      chunk = this.#read(file, Math.min(left, this.#buffer.length), position.offset)
      split = this.#split(chunk, left, stream)
    }
    const after = this.#files.facts(file)
    const shrank = after.sizeBytes < position.offset + chunk.length
    if (shrank || !hasAnchor(this.#files, file, position)) return 'lost'
    if (split.used === 0) {
      location.readAt = facts
      // A file without a single whole line is nobody's yet.
      if (stream.id === undefined && position.offset === 0) forgetStream(location)
      return 'end'
    }
    const bytes = chunk.subarray(0, split.used)
    const staged = stageLines(chunk, split.pieces, split.used, this.#stageOptions(location, stream))
    if (this.#turnsOutCopy(location, stream, staged)) {
      return location.state.kind === 'live' ? 'more' : 'end'
    }
    this.#store.storeStaged(location, stream, staged, bytes, {
      offset: position.offset + split.used,
      lineNumber: staged.lineNumber,
      skipping: split.skipping,
      ...fingerprintsAfter(position, before, bytes),
    })
    if (split.used < left) return 'more'
    location.readAt = facts
    return 'end'
  }

  /**
   * As long as all lines have stamps a copy may be followed as a log of its own: they cannot be
   * stored twice. Before the first line without one it has to be known whether it is a copy.
   */
  #turnsOutCopy(location: Location, stream: Stream, { hasUnstamped }: Staged): boolean {
    if (!hasUnstamped || stream.hashed || stream.position.offset === 0) return false
    if (location.name.primary && location.isFound) return false
    const { sizeBytes } = location.facts
    const mates = this.#index
      .familyStreams(location.name.family)
      .filter((mate) => mate.stream !== stream && mate.stream.hashed)
    const original = recogniseCopy(location.file as number, sizeBytes, mates, {
      files: this.#files,
      index: this.#index,
    })
    if (original.kind === 'stream') this.#follow(location, original.stream)
    if (original.kind === 'contained') this.#leaveCopy(location, original.stream)
    return original.kind === 'stream' || original.kind === 'contained'
  }

  #leaveCopy(location: Location, original: Stream): void {
    this.#leave(location, { kind: 'contained' })
    location.stream = original
  }

  /** What the position is known by, or undefined if the file no longer has it. */
  #knownBytes(
    file: number,
    position: Position,
  ): { head: Buffer | undefined; anchor: Buffer } | undefined {
    const anchor = anchorBytes(this.#files, file, position)
    if (!anchor) return undefined
    if (position.head.length >= HEAD_BYTES) return { head: undefined, anchor }
    const head = headBytes(this.#files, file, position)
    return head && { head, anchor }
  }

  #read(file: number, length: number, position: number): Buffer {
    const count = this.#files.read(file, this.#buffer, length, position)
    return this.#buffer.subarray(0, count)
  }

  #split(chunk: Buffer, left: number, { position }: Stream) {
    return splitLines(chunk, {
      atFileStart: position.offset === 0,
      atFileEnd: chunk.length >= left,
      skipping: position.skipping,
      maxLineBytes: this.#limits.maxLineBytes,
      maxPieces: Math.max(1, this.maxLines - this.#writer.lines),
    })
  }

  #stageOptions(location: Location, stream: Stream) {
    return {
      offset: stream.position.offset,
      lineNumber: stream.position.lineNumber,
      context: {
        nowMs: this.nowMs,
        redactor: this.#redactor,
        fallbackServer: serverNameOf(location.name.family),
      },
    }
  }

  /**
   * Stores what stands after the last line break, for good, and gives the file's stream; undefined
   * if the file turned out to be a copy of another one, and there may be more to read.
   */
  stageTail(location: Location): Stream | undefined {
    location.stream ??= newStream(location.name.family)
    const { stream } = location
    if (location.facts.sizeBytes > stream.position.offset) this.#storeTail(location, stream)
    if (location.stream === stream) return stream
    location.readAt = undefined
    return undefined
  }

  #storeTail(location: Location, stream: Stream): void {
    const { position } = stream
    const file = location.file as number
    const length = Math.min(location.facts.sizeBytes - position.offset, this.#buffer.length)
    const before = this.#knownBytes(file, position)
    const bytes = this.#read(file, length, position.offset)
    if (!before || bytes.length < length || !hasAnchor(this.#files, file, position)) return
    const staged = stageTail(bytes, this.#stageOptions(location, stream))
    if (this.#turnsOutCopy(location, stream, staged)) return
    this.#store.storeStaged(location, stream, staged, bytes, {
      offset: position.offset + length,
      lineNumber: staged.lineNumber,
      skipping: false,
      ...fingerprintsAfter(position, before, bytes),
    })
  }
}

/** For lines that name no server. */
export function serverNameOf(family: string): string {
  return basename(family).replace(/\.[^.]*$/, '') || 'unknown'
}
