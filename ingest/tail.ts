import { Archives } from './archives.ts'
import { type Root, type Scan, scanRoots } from './discovery.ts'
import type { FilePort } from './file-port.ts'
import { FileReader, type Reading } from './file-reader.ts'
import type { LineRedactor } from './formats/parsed-line.ts'
import {
  forgetStream,
  isUnchanged,
  isUnchangedSince,
  type Location,
  Locations,
} from './locations.ts'
import type { Database } from './store/load-sqlite.ts'
import { createStreamIndex, type StreamIndex } from './store/stream-index.ts'
import { addResult, type BatchResult, BatchWriter, emptyResult } from './store/write-batch.ts'
import type { Stream } from './stream-state.ts'
import { LIMITS, type TailLimits } from './tail-limits.ts'

export type TailOptions = {
  files: FilePort
  roots: readonly Root[]
  now(): number
  redactor: LineRedactor
  /** Where compressed files are unpacked, one at a time. */
  unpackDirectory: string
  limits?: Partial<TailLimits>
}

/** More than this unread is a backlog, read in larger batches. */
const BACKLOG_BYTES = 1024 * 1024
/** A stream is read so far before the next one has its turn. */
const QUANTUM_BYTES = 64 * 1024 * 1024
const RESCAN_MS = 500

export type Poll = {
  /** Its time was over before all was read. */
  hasMore: boolean
  /** Nothing complete is left to read, and nothing waits to be recognised. */
  caughtUp: boolean
  files: number
  bytesDone: number
  bytesTotal: number
  problems: string[]
  directories: string[]
  stored: BatchResult
}

/** Follows files into the database. One look at the world is one `poll`. */
export class Tailer {
  readonly #options: TailOptions
  readonly #limits: TailLimits
  readonly #files: FilePort
  readonly #locations: Locations
  readonly #archives: Archives
  #index!: StreamIndex
  #writer!: BatchWriter
  #reader!: FileReader
  #stored = emptyResult()
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
    this.#archives = new Archives(options.unpackDirectory)
  }

  /** Before the first poll, and again when the database was opened anew. Open files stay open. */
  attach(database: Database): void {
    this.#index = createStreamIndex(database)
    this.#writer = new BatchWriter(database)
    this.#reader = new FileReader({
      files: this.#files,
      locations: this.#locations,
      index: this.#index,
      writer: this.#writer,
      redactor: this.#options.redactor,
      limits: this.#limits,
    })
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
    this.#reader.nowMs = this.#nowMs
    this.#reader.maxLines = backlog ? this.#limits.importLines : this.#limits.liveLines
    try {
      for (const location of locations) this.#skipReadArchive(location)
      const settled = this.#settleAll(locations, deadline)
      const finished =
        settled && this.#readAll(this.#inTurn(locations), deadline) && this.#readArchive(deadline)
      if (finished) this.#closeFinished(locations)
      this.#commit()
      this.#locations.limitOpenFiles()
      this.#finished = finished
      return {
        hasMore: !finished,
        caughtUp: finished && !locations.some(isWaiting),
        files: locations.length,
        ...progressOf(locations),
        problems: [...scan.problems, ...this.#archives.problems(), ...locations.flatMap(problemOf)],
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
    this.#archives.close()
    this.#writer.rollback()
    this.#index.forget()
    this.#locations.forgetStreams()
  }

  /**
   * Unpacks one compressed file that a poll has found, for the next poll to read. Apart from poll,
   * because it takes as long as it takes and lets others have their turn.
   */
  async unpackNext(): Promise<void> {
    const nowMs = this.#options.now()
    const location = this.#locations
      .inOrder()
      .find((each) => this.#archives.isReady(each, nowMs) && nowMs >= retryAtMsOf(each))
    if (!location) return
    try {
      await this.#archives.unpack(location)
      location.failure = undefined
    } catch (error) {
      if (!isFileError(error)) throw error
      this.#locations.fail(location, error, nowMs)
    }
  }

  close(): void {
    this.#archives.close()
    this.#locations.closeAll()
  }

  /**
   * Finds out which stream each file holds that has changed; false if time ran out. In strict order
   * and before anything else is read: a copy is recognised by what it was copied from, so that must
   * be known, with its first lines, before the copy is looked at.
   */
  #settleAll(locations: readonly Location[], deadline: number): boolean {
    for (const location of locations) {
      if (location.state.kind === 'packed') continue
      if (!this.#isDue(location) || isUnchangedSince(location, location.settledAt)) continue
      if (performance.now() > deadline) return false
      this.#orPutOff(location, () => {
        if (!this.#locations.open(location, this.#nowMs) || !this.#reader.settle(location)) return
        const nothingKnown = location.stream?.position.offset === 0
        if (nothingKnown && this.#reader.readChunk(location) === 'lost') forgetStream(location)
        else location.settledAt = location.facts
      })
    }
    return true
  }

  /** Reads a quantum of each file in turn until all are at their end; false if time ran out. */
  #readAll(locations: readonly Location[], deadline: number): boolean {
    let reading = locations.filter(
      ({ state }) => state.kind !== 'pending' && state.kind !== 'packed',
    )
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
    return !waits && this.#nowMs >= retryAtMsOf(location)
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
    if (!this.#locations.open(location, this.#nowMs) || !this.#reader.settle(location)) return false
    const stopAt = this.#writer.bytes + QUANTUM_BYTES
    let reading: Reading = 'more'
    while (reading === 'more' && this.#writer.bytes < stopAt) {
      reading = this.#reader.readChunk(location)
      if (this.#isBatchFull()) {
        this.#commit()
        break
      }
    }
    // Truncated or replaced under our eyes: what it is now will be seen at the next look.
    if (reading === 'lost') forgetStream(location)
    return reading === 'more'
  }

  /** It need not be unpacked to know that an earlier run has read it. */
  #skipReadArchive(location: Location): void {
    const { facts, state } = location
    if (state.kind !== 'packed' || !this.#index.wasReadAt(facts)) return
    location.state = { kind: 'closed' }
    location.readAt = facts
  }

  /** Reads on in the content of an unpacked file; false if time ran out. */
  #readArchive(deadline: number): boolean {
    const archive = this.#archives.open
    if (!archive) return true
    const { content, packed } = archive
    let isRead = content.facts.sizeBytes === 0 || !this.#reader.settle(content)
    while (!isRead) {
      if (performance.now() > deadline) return false
      isRead = this.#reader.readChunk(content) !== 'more'
      if (this.#isBatchFull()) this.#commit()
    }
    if (content.state.kind === 'live') this.#reader.stageTail(content)
    if (content.stream) this.#reader.place(packed, content.stream)
    this.#archives.finish()
    return true
  }

  #isBatchFull(): boolean {
    const { lines, bytes } = this.#writer
    return lines >= this.#reader.maxLines || bytes >= this.#limits.batchBytes
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
      const stream = this.#reader.stageTail(location)
      const others = (holders.get(stream) ?? 1) - 1
      holders.set(stream, others)
      // A copy beside the log says nothing about the log.
      if (!stream.closed && others === 0)
        this.#reader.store(location, stream, [], stream.position, { closes: true })
      location.state = { kind: 'closed' }
    }
    if (!location.isFound) {
      this.#commit()
      this.#locations.drop(location)
    } else this.#locations.release(location)
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

/** Will be read once it stands still. */
function isWaiting({ failure, state }: Location): boolean {
  return !failure && (state.kind === 'pending' || state.kind === 'packed')
}

function retryAtMsOf({ failure }: Location): number {
  return failure?.retryAtMs ?? 0
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
