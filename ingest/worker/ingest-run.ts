import { dirname } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Root } from '../discovery.ts'
import type { FilePort } from '../file-port.ts'
import type { Poll } from '../poll.ts'
import { createLineRedactor } from '../redactor.ts'
import type { IngestOptions, IngestSummary } from '../run-ingest.ts'
import { addResult, emptyResult } from '../store/batch-result.ts'
import { createHealthFile, type HealthFile } from '../store/health-file.ts'
import { addRemoved, NOTHING_REMOVED } from '../store/removals.ts'
import { asStoreError, isSqliteError, isTemporary, StoreError } from '../store/store-error.ts'
import { Tailer } from '../tail.ts'
import { type Chores, createChores } from './chores.ts'
import { createDirectoryWatch, type DirectoryWatch } from './directory-watch.ts'
import { openStore, type Store } from './open-store.ts'
import { createPause } from './pause.ts'
import { createRate, type Rate } from './rate.ts'
import { createWatermarks } from './watermarks.ts'

const POLL_MS = 500
/** With reliable watches and nothing new the wait doubles up to this. */
const IDLE_POLL_MS = 5000
/** A watch may wake a poll this soon after the last one. */
const MIN_GAP_MS = 100
const ROW_EVERY_MS = 1000
const FIRST_RETRY_MS = 250
const LAST_RETRY_MS = 10_000
/** An import does not wait for a lock for ever: with SQLite's own wait about five minutes. */
const MAX_ONCE_RETRIES = 20

/** One run of the ingester, from the first look to the last commit. */
export class IngestRun {
  readonly #options: IngestOptions
  readonly #files: FilePort
  readonly #tailer: Tailer
  readonly #now: () => number
  readonly #startedAt = performance.now()
  readonly #startedMs: number
  readonly #total = emptyResult()
  readonly #rate: Rate
  readonly #byteRate: Rate
  readonly #pause = createPause(MIN_GAP_MS)
  readonly #watch: DirectoryWatch
  readonly #pollMs: number
  readonly #health: HealthFile
  readonly #watermarks = createWatermarks()
  readonly #removed = { ...NOTHING_REMOVED }
  #store: Store | undefined
  #chores: Chores | undefined
  #lastPoll: Poll | undefined
  /** There was something to do beside reading, so there may be more. */
  #hasChores = false
  #problem: StoreError | undefined
  #troubledSinceMs: number | undefined
  #retries = 0
  #waitMs: number
  #rowWrittenAt = Number.NEGATIVE_INFINITY

  constructor(options: IngestOptions, roots: readonly Root[], files: FilePort) {
    this.#options = options
    this.#files = files
    this.#now = options.now ?? Date.now
    this.#startedMs = this.#now()
    this.#pollMs = options.pollMs ?? POLL_MS
    this.#waitMs = this.#pollMs
    this.#rate = createRate(this.#startedAt)
    this.#byteRate = createRate(this.#startedAt)
    this.#health = createHealthFile(options.databasePath)
    this.#watch = createDirectoryWatch(() => this.#pause.wake())
    this.#tailer = new Tailer({
      files,
      roots,
      now: this.#now,
      redactor: createLineRedactor(),
      fromNow: options.fromNow === true,
      unpackDirectory: dirname(options.databasePath),
      ...(options.limits ? { limits: options.limits } : {}),
    })
  }

  async toEnd(): Promise<IngestSummary> {
    const { once, signal } = this.#options
    while (!signal?.aborted) {
      const poll = this.#pollOrTrouble()
      this.#tell()
      if (poll) await this.#tailer.unpackNext()
      if (poll && (poll.hasMore || this.#hasChores)) {
        // Only let signals and timers have their turn.
        this.#waitMs = this.#pollMs
        await setImmediate()
      } else {
        if (poll?.caughtUp && once) break
        this.#waitMs = this.#nextWait(poll)
        await this.#pause.wait(this.#waitMs, signal)
      }
    }
    return this.#summary()
  }

  /** One poll, or undefined while the database is in the way. */
  #pollOrTrouble(): Poll | undefined {
    try {
      const store = this.#openStore()
      store.requireUnmoved()
      const poll = this.#tailer.poll()
      addResult(this.#total, poll.stored)
      this.#rate.add(poll.stored.lines, performance.now())
      this.#byteRate.add(poll.stored.bytes, performance.now())
      this.#lastPoll = poll
      this.#watermarks.update(() => this.#tailer.readMarks())
      this.#doChores()
      this.#writeRow(store, poll)
      this.#problem = undefined
      this.#retries = 0
      this.#troubledSinceMs = undefined
      this.#health.write(undefined)
      return poll
    } catch (error) {
      this.#takeTrouble(error)
      return undefined
    }
  }

  #openStore(): Store {
    if (!this.#store) {
      const { databasePath, maxDatabaseBytes, retention } = this.#options
      this.#store = openStore(databasePath, {
        maxBytes: maxDatabaseBytes,
        startedMs: this.#startedMs,
      })
      this.#tailer.attach(this.#store.database)
      this.#chores = createChores(this.#store.database, {
        databasePath,
        retention: retention ?? {},
        importer: {
          files: this.#files,
          addRoots: (roots) => this.#tailer.addRoots(roots),
          isCaughtUp: () => this.#lastPoll?.caughtUp === true,
          total: () => this.#total,
        },
        now: this.#now,
      })
    }
    return this.#store
  }

  #doChores(): void {
    const done = this.#chores?.step()
    this.#hasChores = done?.any === true
    if (!done?.any) return
    addRemoved(this.#removed, done.removed)
    // Names that have gone must not be known by their old ids.
    this.#tailer.forgetNames()
  }

  /** Temporary trouble is waited out: the offsets stand where the last commit left them. */
  #takeTrouble(error: unknown): void {
    if (!(error instanceof StoreError) && !isSqliteError(error)) throw error
    const trouble = asStoreError(error, this.#options.databasePath)
    const givesUp =
      this.#options.once && (trouble.state !== 'busy' || this.#retries >= MAX_ONCE_RETRIES)
    const ended = !isTemporary(trouble.state) || givesUp === true
    this.#writeHealth(trouble, ended)
    if (ended) throw trouble
    this.#problem = trouble
    this.#retries += 1
    // After a failed write or sync the connection's own state is not to be trusted.
    if (trouble.state === 'io') this.#closeStore()
  }

  #writeHealth({ state, message }: StoreError, ended: boolean): void {
    const atMs = this.#now()
    this.#troubledSinceMs ??= atMs
    const sinceMs = this.#troubledSinceMs
    this.#health.write({ state, message, sinceMs, atMs, pid: process.pid, ended })
  }

  #nextWait(poll: Poll | undefined): number {
    if (!poll) return Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (this.#retries - 1))
    this.#watch.cover(poll.directories)
    const isIdle = poll.caughtUp && poll.stored.bytes === 0 && this.#watch.isReliable()
    if (!isIdle) return this.#pollMs
    return Math.max(this.#pollMs, Math.min(IDLE_POLL_MS, this.#waitMs * 2))
  }

  /** At most once a second; while nothing happens that is once a poll. */
  #writeRow(store: Store, poll: Poll): void {
    if (performance.now() - this.#rowWrittenAt < ROW_EVERY_MS) return
    this.#rowWrittenAt = performance.now()
    store.ingester.write(
      {
        lagBytes: poll.bytesTotal - poll.bytesDone,
        roots: this.#options.roots,
        problems: [...(this.#chores?.problems() ?? []), ...poll.problems],
      },
      this.#now(),
    )
  }

  #tell(): void {
    const poll = this.#lastPoll
    this.#options.onProgress?.({
      bytesDone: poll?.bytesDone ?? 0,
      bytesTotal: poll?.bytesTotal ?? 0,
      rows: this.#total.rows,
      quarantined: [...this.#total.quarantined.values()].reduce((sum, lines) => sum + lines, 0),
      linesPerSecond: this.#rate.perSecond(performance.now()),
      bytesPerSecond: this.#byteRate.perSecond(performance.now()),
      caughtUp: this.#problem === undefined && poll?.caughtUp === true,
      problems: this.#problems(),
    })
  }

  #problems(): string[] {
    return [
      ...(this.#problem ? [this.#problem.message] : []),
      ...(this.#chores?.problems() ?? []),
      ...(this.#lastPoll?.problems ?? []),
    ]
  }

  #summary(): IngestSummary {
    const { quarantined, ...counts } = this.#total
    return {
      ...counts,
      files: this.#lastPoll?.files ?? 0,
      quarantined: Object.fromEntries(quarantined),
      removed: this.#removed,
      seconds: (performance.now() - this.#startedAt) / 1000,
      problems: this.#problems(),
    }
  }

  #closeStore(): void {
    const store = this.#store
    this.#store = undefined
    try {
      store?.close()
    } catch (error) {
      // What was committed is safe; the checkpoint is made up for at the next start.
      if (!isSqliteError(error)) throw error
      this.#problem ??= asStoreError(error, this.#options.databasePath)
    }
  }

  /** Leaves the row as of now, so that its age tells since when nobody ingests. */
  close(): void {
    this.#watch.close()
    if (this.#lastPoll && !this.#problem) {
      this.#watermarks.flush(() => this.#tailer.readMarks())
    }
    this.#tailer.close()
    if (this.#store && this.#lastPoll && !this.#problem) {
      this.#rowWrittenAt = Number.NEGATIVE_INFINITY
      try {
        this.#writeRow(this.#store, this.#lastPoll)
      } catch (error) {
        if (!isSqliteError(error)) throw error
        this.#problem = asStoreError(error, this.#options.databasePath)
      }
    }
    this.#closeStore()
  }
}
