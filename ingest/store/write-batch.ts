import type { Stamp } from '../formats/parsed-line.ts'
import { addResult, type BatchResult, emptyResult } from './batch-result.ts'
import { type Calls, createCalls } from './calls.ts'
import { type Claims, createClaims } from './claims.ts'
import { createDictionaries, type Dictionaries } from './dictionaries.ts'
import type { Database } from './load-sqlite.ts'
import { createOrphans, type Orphans } from './orphans.ts'
import { createProcessEvents, newsOf, type ProcessEvents } from './process-events.ts'
import {
  createQuarantine,
  type Quarantine,
  type RefusedEntry,
  type RefusedPiece,
} from './quarantine.ts'
import { CALL_FLAGS } from './schema.ts'
import type { StagedLine, StreamPart } from './staged-line.ts'
import { createStreams, type Streams } from './streams.ts'
import { createWriters, type Writers } from './writers.ts'

type RecordLine = Extract<StagedLine, { kind: 'record' }>
/** A slot of a journal. */
export type OrphanLine = Exclude<StagedLine, { kind: 'passed_over' }>

/**
 * The one path by which lines get into the database. What is stored between two commits is one
 * transaction: rows, events, refused lines, ranges, counts and offsets, together or not at all.
 */
export class BatchWriter {
  /** Stored since the last commit. */
  lines = 0
  bytes = 0
  readonly #database: Database
  readonly #dictionaries: Dictionaries
  readonly #writers: Writers
  readonly #events: ProcessEvents
  readonly #quarantine: Quarantine
  readonly #claims: Claims
  readonly #calls: Calls
  readonly orphans: Orphans
  readonly #streams: Streams
  readonly #statements: ReturnType<typeof prepareStatements>
  #open = emptyResult()
  /** What is stored now was refused before. */
  #isRetrying = false

  constructor(database: Database) {
    this.#database = database
    // A third of an insert's cost: all ids come from the dictionaries, and whoever deletes rows
    // turns it on again (see checkInvariants for what would be found).
    database.pragma('foreign_keys = OFF')
    this.#dictionaries = createDictionaries(database)
    this.#writers = createWriters(database)
    this.#events = createProcessEvents(database)
    this.#quarantine = createQuarantine(database)
    this.#claims = createClaims(database, this.#writers)
    this.#calls = createCalls(database, this.#dictionaries)
    this.orphans = createOrphans(database)
    this.#streams = createStreams(database)
    this.#statements = prepareStatements(database)
  }

  /**
   * Stores lines, beginning a transaction where none is open, and moves their stream on. After any
   * error the transaction has to be rolled back. A line that the database refuses is quarantined.
   */
  store(part: StreamPart, nowMs: number): void {
    this.begin()
    const { stream } = part
    stream.id ??= this.#streams.add(part, nowMs)
    const counts = this.#storeLines(part, stream.id, nowMs)
    this.#streams.update(stream.id, part, counts, nowMs)
    addResult(this.#open, counts)
    stream.position = part.position
    if (part.hashedRun) stream.hashed = true
    if (part.closes || part.lines.length > 0) stream.closed = part.closes
    this.lines += part.lines.length
    this.bytes += counts.bytes
  }

  /**
   * Stores calls that died with their process, as rows of the journal they stood in, and commits.
   * Those that were stored before, or have a record after all, are passed over.
   */
  storeOrphans(path: string, lines: readonly OrphanLine[], nowMs: number): BatchResult {
    this.begin()
    const streamId = this.orphans.stream(path, nowMs)
    const refused: RefusedPiece[] = []
    let rows = 0
    for (const line of lines) {
      const piece = line.kind === 'refused' ? line.piece : this.#orphanOrPiece(line, streamId)
      if (piece === true) rows += 1
      else if (piece && !this.orphans.isRefused(streamId, piece.offset)) {
        this.#quarantine.store(streamId, piece, nowMs)
        refused.push(piece)
      }
    }
    this.orphans.count(streamId, { rows, refused })
    this.#open.rows += rows
    this.orphans.forget()
    return this.commit()
  }

  /**
   * Puts what the lines of a refused piece are now in its place, and commits. Their stream stands
   * where it stood.
   */
  replaceRefused(entry: RefusedEntry, lines: readonly StagedLine[]): BatchResult {
    this.begin()
    this.#quarantine.remove(entry)
    this.#isRetrying = true
    try {
      const counts = this.#storeLines({ lines }, entry.streamId, entry.seenMs)
      this.#streams.recount(entry.streamId, counts, entry)
      addResult(this.#open, counts)
    } finally {
      this.#isRetrying = false
    }
    return this.commit()
  }

  begin(): void {
    if (!this.#database.inTransaction) this.#statements.begin.run()
  }

  /** Makes what was stored last; returns what it was. Throws StoreError. */
  commit(): BatchResult {
    if (this.#database.inTransaction) {
      this.#calls.flush()
      this.#writers.flush()
      this.#statements.commit.run()
    }
    return this.#reset()
  }

  /** Throws away what was stored since the last commit, and all that memory says about it. */
  rollback(): void {
    // SQLite has rolled back by itself after some errors.
    if (this.#database.open && this.#database.inTransaction) this.#statements.rollback.run()
    this.forget()
    this.#reset()
  }

  #reset(): BatchResult {
    const stored = this.#open
    this.#open = emptyResult()
    this.lines = 0
    this.bytes = 0
    return stored
  }

  /** Drops what memory says about rows. Not between `store` and `commit`. */
  forget(): void {
    for (const memory of [
      this.#dictionaries,
      this.#writers,
      this.#events,
      this.#quarantine,
      this.#calls,
      this.orphans,
    ]) {
      memory.forget()
    }
  }

  #storeLines(part: Pick<StreamPart, 'lines'>, streamId: number, nowMs: number): PartCounts {
    const counts: PartCounts = { ...emptyResult(), rowBytes: 0, blankBytes: 0, quarantinedBytes: 0 }
    for (const line of part.lines) {
      switch (line.kind) {
        case 'passed_over':
          counts.blankBytes += line.bytes
          counts.foreignLines += line.foreignLines
          counts.lines += line.foreignLines
          break
        case 'refused':
          if (line.stamp) this.#markSeen(line.stamp)
          this.#refuse(line.piece, streamId, counts, nowMs)
          break
        case 'record':
          this.#storeOrRefuse(line, streamId, counts, nowMs)
      }
    }
    counts.bytes = counts.rowBytes + counts.blankBytes + counts.quarantinedBytes
    return counts
  }

  #refuse(piece: RefusedPiece, streamId: number, counts: PartCounts, nowMs: number): void {
    const { bytes, reason } = piece
    const lines = this.#quarantine.store(streamId, piece, nowMs)
    counts.quarantinedBytes += bytes
    counts.lines += lines
    counts.quarantined.set(reason, (counts.quarantined.get(reason) ?? 0) + lines)
  }

  #storeOrRefuse(line: RecordLine, streamId: number, counts: PartCounts, nowMs: number): void {
    try {
      counts[this.#storeRecord(line, streamId)] += 1
      counts.rowBytes += line.bytes
      counts.lines += 1
    } catch (error) {
      if (!isFaultOfLine(error)) throw error
      this.#refuse(unstorablePiece(line, error), streamId, counts, nowMs)
    }
  }

  #storeRecord(line: RecordLine, streamId: number): 'rows' | 'events' | 'duplicates' {
    const { parsed } = line
    const { stamp } = parsed
    const writer = stamp ? this.#claim(stamp, parsed) : this.#writers.ofStream(streamId)
    if (!writer) return 'duplicates'
    const n = stamp?.n ?? line.offset
    if (parsed.fate === 'event') {
      this.#writers.learn(writer, parsed.writer, newsOf(parsed.event, this.#dictionaries.server))
      this.#events.store(writer.id, n, parsed.event)
      return 'events'
    }
    const flags = line.unterminated ? CALL_FLAGS.unterminated : 0
    const place = { writerId: writer.id, n, streamId, offset: line.offset, flags }
    const serverId = this.#calls.store(parsed.call, place)
    if (serverId === undefined) return 'duplicates'
    this.#takeBackOrphan(parsed.call.uid)
    this.#writers.learn(writer, parsed.writer, { serverId })
    return 'rows'
  }

  #claim(stamp: Stamp, line: RecordLine['parsed']) {
    return this.#isRetrying ? this.#claims.reclaim(stamp) : this.#claims.claim(stamp, line)
  }

  /** True if it became a row, false if it needs none. */
  #orphanOrPiece(line: RecordLine, streamId: number): boolean | RefusedPiece {
    try {
      return this.#storeOrphan(line, streamId)
    } catch (error) {
      if (!isFaultOfLine(error)) throw error
      return unstorablePiece(line, error)
    }
  }

  #storeOrphan(line: RecordLine, streamId: number): boolean {
    const { parsed, offset } = line
    if (parsed.fate !== 'call' || !parsed.stamp) return false
    const { call, stamp } = parsed
    const writer = this.#writers.stamped(stamp.w)
    // Among the numbers for ever: it does not come back when its row has been removed for its age.
    if (!writer.ranges?.add(stamp.n)) return false
    this.#writers.learn(writer, parsed.writer)
    const startedMs = call.flags & CALL_FLAGS.clock ? undefined : call.startedMs
    if (this.orphans.hasRecord(stamp.w, call.uid, startedMs)) return false
    const place = { writerId: writer.id, n: stamp.n, streamId, offset, flags: 0 }
    const serverId = this.#calls.store(call, place)
    if (serverId !== undefined) this.#writers.learn(writer, parsed.writer, { serverId })
    return serverId !== undefined
  }

  /** The record of a call that was taken to have died with its process. */
  #takeBackOrphan(uid: string): void {
    const orphan = this.orphans.take(uid)
    if (orphan) this.#calls.remove(orphan.callId, orphan.counted)
  }

  #markSeen(stamp: Stamp): void {
    const writer = this.#writers.stamped(stamp.w)
    writer.ranges?.add(stamp.n)
    this.#writers.learn(writer, { pid: undefined, hostname: undefined, timeMs: undefined })
  }
}

type PartCounts = BatchResult & { rowBytes: number; blankBytes: number; quarantinedBytes: number }

/** Faults of the disk, the file or a lock are not the line's. */
function isFaultOfLine(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError) return true
  if (typeof error !== 'object' || error === null || !('code' in error)) return false
  return /^SQLITE_(CONSTRAINT|TOOBIG|MISMATCH|RANGE)/.test(String(error.code))
}

function unstorablePiece(line: RecordLine, cause: unknown): RefusedPiece {
  return {
    offset: line.offset,
    lineNumber: line.lineNumber,
    bytes: line.bytes,
    lines: 1,
    reason: 'unstorable',
    sha256: '',
    sample: Buffer.from(cause instanceof Error ? cause.message : String(cause)),
  }
}

function prepareStatements(database: Database) {
  return {
    begin: database.prepare('BEGIN IMMEDIATE'),
    commit: database.prepare('COMMIT'),
    rollback: database.prepare('ROLLBACK'),
  }
}
