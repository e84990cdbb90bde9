import { basename } from 'node:path'
import { type Root, type Scan, scanRoots } from './discovery.ts'
import type { FilePort } from './file-port.ts'
import type { LineRedactor } from './formats/parsed-line.ts'
import { lineHashes } from './line-hashes.ts'
import { CHUNK_SLACK_BYTES, MAX_LINE_BYTES, splitLines } from './line-reader.ts'
import { isUnchanged, isUnchangedSince, type Location, Locations } from './locations.ts'
import { recognise } from './recognise.ts'
import { type Staged, stageLines } from './stage-lines.ts'
import { stageTail } from './stage-tail.ts'
import type { Database } from './store/load-sqlite.ts'
import type { HashedRun, StagedLine } from './store/staged-line.ts'
import { createStreamIndex, type StreamIndex } from './store/stream-index.ts'
import { addResult, type BatchResult, BatchWriter, emptyResult } from './store/write-batch.ts'
import { anchorAt, anchorBytes, hasAnchor, headBytes, holdsStream } from './stream-identity.ts'
import {
  fingerprintsAfter,
  HEAD_BYTES,
  newStream,
  type Position,
  type Stream,
} from './stream-state.ts'

export type TailOptions = {
  files: FilePort
  roots: readonly Root[]
  now(): number
  redactor: LineRedactor
  limits?: Partial<TailLimits>
}

export type TailLimits = {
  maxLineBytes: number
  chunkBytes: number
  /** A batch ends at so many lines, live and while a backlog is read. */
  liveLines: number
  importLines: number
  batchBytes: number
  /** A poll returns after about so long, though there is more to read. */
  pollBudgetMs: number
  /** A rotated or deleted file that was quiet for so long is closed. */
  rotateWaitMs: number
  /** So is any other file. */
  idleCloseMs: number
}

const LIMITS: TailLimits = {
  maxLineBytes: MAX_LINE_BYTES,
  chunkBytes: 256 * 1024,
  liveLines: 1000,
  importLines: 10_000,
  batchBytes: 8 * 1024 * 1024,
  pollBudgetMs: 200,
  rotateWaitMs: 60_000,
  idleCloseMs: 3_600_000,
}

/** More than this unread is a backlog, read in larger batches. */
const BACKLOG_BYTES = 1024 * 1024
/** A stream is read so far before the next one has its turn. */
const QUANTUM_BYTES = 64 * 1024 * 1024
const PENDING_LOOKS = 2
const RESCAN_MS = 500

export type Poll = {
  /** Nothing complete is left to read, and nothing waits to be recognised. */
  caughtUp: boolean
  files: number
  bytesDone: number
  bytesTotal: number
  problems: string[]
  directories: string[]
  stored: BatchResult
}

type Reading = 'more' | 'end' | 'lost'

/** Follows files into the database. One look at the world is one `poll`. */
export class Tailer {
  readonly #options: TailOptions
  readonly #limits: TailLimits
  readonly #files: FilePort
  readonly #locations: Locations
  #index!: StreamIndex
  #writer!: BatchWriter
  readonly #buffer: Buffer
  #stored = emptyResult()
  #maxLines: number
  #nowMs = 0
  #scan: Scan = { candidates: [], directories: [], problems: [] }
  #scannedAt = 0
  /** The last poll read everything. */
  #finished = true
  /** The file that was read last, when a poll's time was over: the next one begins after it. */
  #lastRead: Location | undefined

  constructor(options: TailOptions) {
    this.#options = options
    this.#limits = { ...LIMITS, ...options.limits }
    this.#files = options.files
    this.#locations = new Locations(options.files)
    const { maxLineBytes, chunkBytes } = this.#limits
    this.#buffer = Buffer.allocUnsafe(Math.max(maxLineBytes, chunkBytes) + CHUNK_SLACK_BYTES)
    this.#maxLines = this.#limits.importLines
  }

  /** Before the first poll, and again when the database was opened anew. Open files stay open. */
  attach(database: Database): void {
    this.#index = createStreamIndex(database)
    this.#writer = new BatchWriter(database)
    this.forget()
  }

  /**
   * Looks at all files and stores what is new, for about pollBudgetMs. Files that cannot be read
   * are among the problems. Throws StoreError when the database fails: nothing is lost, and the
   * next poll begins where the last commit ended.
   */
  poll(): Poll {
    this.#nowMs = this.#options.now()
    this.#stored = emptyResult()
    const deadline = performance.now() + this.#limits.pollBudgetMs
    const scan = this.#scanIfDue()
    const locations = this.#locations.inOrder()
    const { bytesDone, bytesTotal } = progressOf(locations)
    const backlog = bytesTotal - bytesDone > BACKLOG_BYTES
    this.#maxLines = backlog ? this.#limits.importLines : this.#limits.liveLines
    try {
      const settled = this.#settleAll(locations, deadline)
      const finished = settled && this.#readAll(this.#inTurn(locations), deadline)
      if (finished) this.#closeFinished(locations)
      this.#commit()
      this.#locations.limitOpenFiles()
      this.#finished = finished
      return {
        caughtUp: finished && !locations.some(({ state }) => state.kind === 'pending'),
        files: locations.length,
        ...progressOf(locations),
        problems: [...scan.problems, ...locations.flatMap(problemOf)],
        directories: scan.directories,
        stored: this.#stored,
      }
    } catch (error) {
      this.forget()
      throw error
    }
  }

  /** While a backlog is read, files are not looked for again at every poll. */
  #scanIfDue(): Scan {
    const due = performance.now() - this.#scannedAt >= RESCAN_MS
    if (this.#finished || due) {
      this.#scan = scanRoots(this.#options.roots, this.#files)
      this.#scannedAt = performance.now()
      this.#locations.meet(this.#scan, this.#nowMs)
    }
    return this.#scan
  }

  /** Drops what is in memory, so that the database alone says where reading goes on. */
  forget(): void {
    this.#writer.rollback()
    this.#index.forget()
    this.#locations.forgetStreams()
  }

  close(): void {
    this.#locations.closeAll()
  }

  /**
   * Finds out which stream each file holds that has changed; false if time ran out. In strict order
   * and before anything else is read: a copy is recognised by what it was copied from, so that must
   * be known, with its first lines, before the copy is looked at.
   */
  #settleAll(locations: readonly Location[], deadline: number): boolean {
    for (const location of locations) {
      if (!this.#isDue(location) || isUnchangedSince(location, location.settledAt)) continue
      if (performance.now() > deadline) return false
      this.#orPutOff(location, () => {
        if (!this.#locations.open(location, this.#nowMs) || !this.#settle(location)) return
        const nothingKnown = location.stream?.position.offset === 0
        if (nothingKnown && this.#readChunk(location) === 'lost') forgetStream(location)
        else location.settledAt = location.facts
      })
    }
    return true
  }

  /** Reads a quantum of each file in turn until all are at their end; false if time ran out. */
  #readAll(locations: readonly Location[], deadline: number): boolean {
    let reading = locations.filter(({ state }) => state.kind !== 'pending')
    while (reading.length > 0) {
      const unfinished: Location[] = []
      for (const location of reading) {
        if (!this.#isDue(location)) continue
        if (performance.now() > deadline) return false
        this.#lastRead = location
        this.#orPutOff(location, () => {
          if (this.#readQuantum(location)) unfinished.push(location)
        })
      }
      reading = unfinished
    }
    this.#lastRead = undefined
    return true
  }

  #inTurn(locations: Location[]): Location[] {
    const at = this.#lastRead ? locations.indexOf(this.#lastRead) + 1 : 0
    return [...locations.slice(at), ...locations.slice(0, at)]
  }

  /** Something may have changed since it was last read to its end. */
  #isDue(location: Location): boolean {
    const waits = location.state.kind !== 'pending' && isUnchanged(location)
    return !waits && this.#nowMs >= (location.failure?.retryAtMs ?? 0)
  }

  /** A file that cannot be read is put off, not given up. */
  #orPutOff(location: Location, act: () => void): void {
    try {
      act()
    } catch (error) {
      if (!isFileError(error)) throw error
      this.#locations.fail(location, error, this.#nowMs)
    }
  }

  /** True if there is more to read. */
  #readQuantum(location: Location): boolean {
    if (!this.#locations.open(location, this.#nowMs) || !this.#settle(location)) return false
    const stopAt = this.#writer.bytes + QUANTUM_BYTES
    let reading: Reading = 'more'
    while (reading === 'more' && this.#writer.bytes < stopAt) {
      reading = this.#readChunk(location)
      if (this.#isBatchFull()) {
        this.#commit()
        break
      }
    }
    // Truncated or replaced under our eyes: what it is now will be seen at the next look.
    if (reading === 'lost') forgetStream(location)
    return reading === 'more'
  }

  #isBatchFull(): boolean {
    const { lines, bytes } = this.#writer
    return lines >= this.#maxLines || bytes >= this.#limits.batchBytes
  }

  /** Finds out which stream the file holds; false if nothing is to be read from it now. */
  #settle(location: Location): boolean {
    const file = location.file as number
    const { sizeBytes } = location.facts
    const { stream } = location
    if (stream && holdsStream(this.#files, file, sizeBytes, stream.position)) {
      this.#follow(location, stream)
      return true
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
        this.#leave(location, { kind: 'contained' })
        return false
      case 'unsure': {
        const looks =
          location.state.kind === 'pending' && isUnchanged(location) ? location.state.looks : 0
        if (looks < PENDING_LOOKS) {
          this.#leave(location, { kind: 'pending', looks: looks + 1 })
          return false
        }
        this.#follow(location, newStream(location.name.family))
        return true
      }
      case 'new':
        this.#follow(location, newStream(location.name.family))
        return true
    }
  }

  #follow(location: Location, stream: Stream): void {
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
  }

  #noteName(location: Location, stream: Stream): void {
    if (!location.renamed) return
    location.renamed = false
    if (stream.id !== undefined) this.#store(location, stream, [], stream.position, {})
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
  #readChunk(location: Location): Reading {
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
    this.#storeStaged(location, stream, staged, bytes, {
      offset: position.offset + split.used,
      lineNumber: staged.lineNumber,
      skipping: split.skipping,
      ...fingerprintsAfter(position, before, bytes),
    })
    if (split.used < left) return 'more'
    location.readAt = facts
    return 'end'
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
      maxPieces: Math.max(1, this.#maxLines - this.#writer.lines),
    })
  }

  #stageOptions(location: Location, stream: Stream) {
    return {
      offset: stream.position.offset,
      lineNumber: stream.position.lineNumber,
      context: {
        nowMs: this.#nowMs,
        redactor: this.#options.redactor,
        fallbackServer: serverNameOf(location.name.family),
      },
    }
  }

  /** Files that were quiet for long: their unfinished last line is not waited for any more. */
  #closeFinished(locations: readonly Location[]): void {
    const holders = countHolders(locations)
    for (const location of locations) {
      const { name, state } = location
      if (state.kind === 'closed' || !isUnchanged(location)) continue
      const { rotateWaitMs, idleCloseMs } = this.#limits
      const waitMs = location.isFound && name.primary ? idleCloseMs : rotateWaitMs
      if (this.#nowMs - location.quietSinceMs < waitMs) continue
      this.#orPutOff(location, () => this.#closeLocation(location, holders))
    }
  }

  #closeLocation(location: Location, holders: Map<Stream, number>): void {
    const { facts, state } = location
    if (state.kind === 'live' || (state.kind === 'new' && facts.sizeBytes > 0)) {
      if (!this.#locations.open(location, this.#nowMs) || !isUnchanged(location)) return
      location.stream ??= newStream(location.name.family)
      const { stream } = location
      if (facts.sizeBytes > stream.position.offset) this.#stageTail(location, stream)
      const others = (holders.get(stream) ?? 1) - 1
      holders.set(stream, others)
      // A copy beside the log says nothing about the log.
      if (!stream.closed && others === 0)
        this.#store(location, stream, [], stream.position, { closes: true })
      location.state = { kind: 'closed' }
    }
    if (!location.isFound) {
      this.#commit()
      this.#locations.drop(location)
    } else this.#locations.release(location)
  }

  #stageTail(location: Location, stream: Stream): void {
    const { position } = stream
    const file = location.file as number
    const length = Math.min(location.facts.sizeBytes - position.offset, this.#buffer.length)
    const before = this.#knownBytes(file, position)
    const bytes = this.#read(file, length, position.offset)
    if (!before || bytes.length < length || !hasAnchor(this.#files, file, position)) return
    const staged = stageTail(bytes, this.#stageOptions(location, stream))
    this.#storeStaged(location, stream, staged, bytes, {
      offset: position.offset + length,
      lineNumber: staged.lineNumber,
      skipping: false,
      ...fingerprintsAfter(position, before, bytes),
    })
  }

  #storeStaged(
    location: Location,
    stream: Stream,
    staged: Staged,
    bytes: Buffer,
    next: Position,
  ): void {
    const firstOffset = stream.position.offset
    const isHashed = staged.hasUnstamped || stream.hashed
    this.#store(location, stream, staged.lines, next, {
      hashedRun: isHashed
        ? { firstOffset, endOffset: next.offset, hashes: lineHashes(bytes) }
        : undefined,
    })
  }

  #store(
    location: Location,
    stream: Stream,
    lines: readonly StagedLine[],
    position: Position,
    { hashedRun, closes = false }: { hashedRun?: HashedRun | undefined; closes?: boolean },
  ): void {
    const { device, inode, birthNs, sizeBytes } = location.facts
    const isNew = stream.id === undefined
    this.#writer.store(
      {
        stream,
        location: { path: location.path, device, inode, birthNs, sizeBytes },
        lines,
        position,
        hashedRun,
        closes,
      },
      this.#nowMs,
    )
    if (isNew) this.#index.adopt(stream)
  }

  #commit(): void {
    addResult(this.#stored, this.#writer.commit())
  }
}

/** How many files that are still followed hold each stream. */
function countHolders(locations: readonly Location[]): Map<Stream, number> {
  const holders = new Map<Stream, number>()
  for (const { state, stream } of locations) {
    if (state.kind === 'live' && stream) holders.set(stream, (holders.get(stream) ?? 0) + 1)
  }
  return holders
}

function forgetStream(location: Location): void {
  location.stream = undefined
  location.settledAt = undefined
  location.state = { kind: 'new' }
}

function serverNameOf(family: string): string {
  return basename(family).replace(/\.[^.]*$/, '') || 'unknown'
}

function problemOf({ path, failure }: Location): string[] {
  if (!failure) return []
  const since = new Date(failure.sinceMs).toISOString()
  return [`${path} cannot be read (${failure.reason}) since ${since}; it is tried again.`]
}

function progressOf(locations: readonly Location[]): { bytesDone: number; bytesTotal: number } {
  let bytesDone = 0
  let bytesTotal = 0
  for (const { facts, state, stream } of locations) {
    bytesTotal += facts.sizeBytes
    const isRead = state.kind === 'contained' || state.kind === 'closed'
    bytesDone += isRead ? facts.sizeBytes : Math.min(facts.sizeBytes, stream?.position.offset ?? 0)
  }
  return { bytesDone, bytesTotal }
}

function isFileError(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || !('code' in error)) return false
  return typeof error.code === 'string' && /^E[A-Z0-9]+$/.test(error.code)
}
