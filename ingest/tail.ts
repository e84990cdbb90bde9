import { Archives } from './archives.ts'
import { closeQuiet } from './close-quiet.ts'
import { type Root, type Scan, scanRoots } from './discovery.ts'
import type { FilePort } from './file-port.ts'
import { FileReader } from './file-reader.ts'
import type { LineRedactor } from './formats/parsed-line.ts'
import { type Location, retryAtMsOf } from './location.ts'
import { isFileError, Locations } from './locations.ts'
import { OpenJournals } from './open-journals.ts'
import { bytesRead, isWaiting, type Poll, problemOf, progressOf } from './poll.ts'
import { ReadTurns } from './read-turns.ts'
import { addResult, type BatchResult, emptyResult } from './store/batch-result.ts'
import type { Database } from './store/load-sqlite.ts'
import { createStreamIndex, type StreamIndex } from './store/stream-index.ts'
import { BatchWriter } from './store/write-batch.ts'
import { newStream } from './stream-state.ts'
import { StreamStore } from './stream-store.ts'
import { LIMITS, type TailLimits } from './tail-limits.ts'
import { type Host, realHost } from './writer-liveness.ts'

export type TailOptions = {
  files: FilePort
  roots: readonly Root[]
  now(): number
  redactor: LineRedactor
  /** Where compressed files are unpacked, one at a time. */
  unpackDirectory: string
  limits?: Partial<TailLimits>
  /** What stands at the first look in files that were never read before is passed over. */
  fromNow?: boolean
  host?: Host
}

/** More than this unread is a backlog, read in larger batches. */
const BACKLOG_BYTES = 1024 * 1024
const RESCAN_MS = 500

/** Follows files into the database. One look at the world is one `poll`. */
export class Tailer {
  readonly #options: TailOptions
  readonly #limits: TailLimits
  #roots: readonly Root[]
  readonly #locations: Locations
  readonly #archives: Archives
  readonly #journals: OpenJournals
  #index!: StreamIndex
  #writer!: BatchWriter
  #store!: StreamStore
  #reader!: FileReader
  #turns!: ReadTurns
  #stored = emptyResult()
  #scan: Scan = { candidates: [], directories: [], journals: [], problems: [] }
  #scannedAt = Number.NEGATIVE_INFINITY
  #hasScanned = false
  /** The last poll read everything. */
  #finished = true

  constructor(options: TailOptions) {
    this.#options = options
    this.#roots = options.roots
    this.#limits = { ...LIMITS, ...options.limits }
    this.#locations = new Locations(options.files)
    this.#archives = new Archives(options.unpackDirectory)
    this.#journals = new OpenJournals({
      files: options.files,
      host: options.host ?? realHost,
      redactor: options.redactor,
    })
  }

  /** Before the first poll, and again when the database was opened anew. Open files stay open. */
  attach(database: Database): void {
    this.#index = createStreamIndex(database)
    this.#writer = new BatchWriter(database)
    this.#store = new StreamStore(this.#index, this.#writer)
    this.#reader = new FileReader({
      files: this.#options.files,
      locations: this.#locations,
      index: this.#index,
      writer: this.#writer,
      store: this.#store,
      redactor: this.#options.redactor,
      limits: this.#limits,
    })
    this.#turns = new ReadTurns({
      locations: this.#locations,
      archives: this.#archives,
      reader: this.#reader,
      store: this.#store,
      writer: this.#writer,
      batchBytes: this.#limits.batchBytes,
      commit: this.#commit,
    })
    this.forget()
  }

  /**
   * Looks at all files and stores what is new, for about pollBudgetMs. Files that cannot be read
   * are among the problems. Throws StoreError when the database fails: nothing is lost, and the
   * next poll begins where the last commit ended.
   */
  poll(): Poll {
    const nowMs = this.#options.now()
    this.#stored = emptyResult()
    const deadline = performance.now() + this.#limits.pollBudgetMs
    const scan = this.#scanIfDue(nowMs)
    const locations = this.#locations.inOrder()
    this.#reader.nowMs = nowMs
    this.#store.nowMs = nowMs
    this.#reader.maxLines = this.#batchLines(locations)
    try {
      for (const location of locations) this.#skipReadArchive(location)
      this.#finished = this.#turns.read(locations, deadline)
      if (this.#finished) this.#closeQuiet(locations)
      this.#commit()
      if (this.#finished) addResult(this.#stored, this.#closeOrphans(scan, locations, nowMs))
      this.#locations.limitOpenFiles()
    } catch (error) {
      this.forget()
      throw error
    }
    return {
      hasMore: !this.#finished,
      caughtUp: this.#finished && !locations.some(isWaiting) && !this.#journals.isWaiting,
      files: locations.length,
      ...progressOf(locations),
      problems: [
        ...scan.problems,
        ...this.#archives.problems(),
        ...this.#journals.problems,
        ...locations.flatMap(problemOf),
      ],
      directories: scan.directories,
      stored: this.#stored,
    }
  }

  #batchLines(locations: readonly Location[]): number {
    const { bytesDone, bytesTotal } = progressOf(locations)
    const { importLines, liveLines } = this.#limits
    return bytesTotal - bytesDone > BACKLOG_BYTES ? importLines : liveLines
  }

  /** While a backlog is read, files are not looked for again at every poll. */
  #scanIfDue(nowMs: number): Scan {
    const due = performance.now() - this.#scannedAt >= RESCAN_MS
    if (this.#finished || due) {
      this.#scan = scanRoots(this.#roots, this.#options.files)
      const isFirst = !this.#hasScanned
      this.#hasScanned = true
      this.#scannedAt = performance.now()
      this.#locations.meet(this.#scan, nowMs)
      if (isFirst && this.#options.fromNow) this.#passOverOld()
    }
    return this.#scan
  }

  /** How far each file has been read, as of the last poll. */
  readMarks(): { path: string; bytes: number }[] {
    return this.#locations
      .inOrder()
      .filter(({ isFound }) => isFound)
      .map((location) => ({ path: location.path, bytes: bytesRead(location) }))
  }

  /** After rows were removed: ids of names are asked of the database again. */
  forgetNames(): void {
    this.#writer.forget()
  }

  /** Looks there too from the next poll on. */
  addRoots(roots: readonly Root[]): void {
    const known = new Set(this.#roots.map(nameOfRoot))
    this.#roots = [...this.#roots, ...roots.filter((root) => !known.has(nameOfRoot(root)))]
    this.#scannedAt = Number.NEGATIVE_INFINITY
  }

  #passOverOld(): void {
    for (const location of this.#locations.inOrder()) location.passOver = location.facts.sizeBytes
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

  /** It need not be unpacked to know that an earlier run has read it. */
  #skipReadArchive(location: Location): void {
    const { facts, state } = location
    if (state.kind !== 'packed') return
    if (!this.#index.wasReadAt(facts)) {
      if (location.passOver === 0) return
      // Known from now on, with nothing read of it.
      const stream = newStream(location.name.family)
      this.#store.store(location, stream, [], stream.position, { closes: true })
    }
    location.state = { kind: 'closed' }
    location.readAt = facts
  }

  #closeQuiet(locations: readonly Location[]): void {
    closeQuiet(locations, {
      locations: this.#locations,
      reader: this.#reader,
      store: this.#store,
      limits: this.#limits,
      commit: this.#commit,
    })
  }

  #closeOrphans(scan: Scan, locations: readonly Location[], nowMs: number): BatchResult {
    return this.#journals.closeOrphans(scan.journals, { locations, writer: this.#writer, nowMs })
  }

  readonly #commit = (): void => {
    addResult(this.#stored, this.#writer.commit())
  }
}

function nameOfRoot(root: Root): string {
  return `${root.kind} ${root.path} ${root.kind === 'glob' ? root.pattern : ''}`
}
