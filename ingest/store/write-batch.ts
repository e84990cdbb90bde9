import type { CallFields, EventFields, Stamp } from '../formats/parsed-line.ts'
import { createDictionaries, type Dictionaries } from './dictionaries.ts'
import { binOf } from './duration-bins.ts'
import type { Database } from './load-sqlite.ts'
import { createProcessEvents, newsOf, type ProcessEvents } from './process-events.ts'
import { createQuarantine, type Quarantine, type RefusedPiece } from './quarantine.ts'
import { createRollup, type Rollup } from './rollup.ts'
import { CALL_FLAGS } from './schema.ts'
import { createSignatures, type Signatures } from './signatures.ts'
import type { StagedLine, StreamPart } from './staged-line.ts'
import { createStreams, type Streams } from './streams.ts'
import { createWriters, type Writer, type Writers } from './writers.ts'

export type BatchResult = {
  bytes: number
  lines: number
  rows: number
  events: number
  duplicates: number
  /** Lines by reason. */
  quarantined: Map<string, number>
  foreignLines: number
}

type RecordLine = Extract<StagedLine, { kind: 'record' }>

/** How many processes with one writer id are told apart. */
const MAX_CONFLICTS = 100

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
  readonly #rollup: Rollup
  readonly #signatures: Signatures
  readonly #streams: Streams
  readonly #statements: ReturnType<typeof prepareStatements>
  #open = emptyResult()

  constructor(database: Database) {
    this.#database = database
    // A third of an insert's cost: all ids come from the dictionaries, and whoever deletes rows
    // turns it on again (see checkInvariants for what would be found).
    database.pragma('foreign_keys = OFF')
    this.#dictionaries = createDictionaries(database)
    this.#writers = createWriters(database)
    this.#events = createProcessEvents(database)
    this.#quarantine = createQuarantine(database)
    this.#rollup = createRollup(database)
    this.#signatures = createSignatures(database)
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

  begin(): void {
    if (!this.#database.inTransaction) this.#statements.begin.run()
  }

  /** Makes what was stored last; returns what it was. Throws StoreError. */
  commit(): BatchResult {
    if (this.#database.inTransaction) {
      this.#rollup.flush()
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
      this.#rollup,
      this.#signatures,
    ]) {
      memory.forget()
    }
  }

  #storeLines(part: StreamPart, streamId: number, nowMs: number): PartCounts {
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
    const writer = parsed.stamp ? this.#claim(parsed.stamp, line) : this.#writers.ofStream(streamId)
    if (!writer) return 'duplicates'
    const n = parsed.stamp?.n ?? line.offset
    if (parsed.fate === 'event') {
      this.#writers.learn(writer, parsed.writer, newsOf(parsed.event, this.#dictionaries.server))
      this.#events.store(writer.id, n, parsed.event)
      return 'events'
    }
    return this.#storeCall(line, parsed.call, writer, n, streamId)
  }

  #storeCall(
    line: RecordLine,
    call: CallFields,
    writer: Writer,
    n: number,
    streamId: number,
  ): 'rows' | 'duplicates' {
    const serverId = this.#dictionaries.server(call.server)
    const tool = this.#dictionaries.tool(call.server.name, call.tool)
    const clientId = this.#dictionaries.client(call.client)
    const flags = call.flags | (line.unterminated ? CALL_FLAGS.unterminated : 0)
    const { changes, lastInsertRowid } = this.#statements.addCall.run(
      call.startedMs,
      call.durationUs,
      binOf(call.durationUs),
      serverId,
      tool.id,
      clientId,
      call.session === undefined ? null : this.#dictionaries.session(call.session),
      call.outcomeId,
      call.classId,
      flags,
      call.argsKey,
      streamId,
      line.offset,
      writer.id,
      n,
    )
    if (changes === 0) return 'duplicates'
    const callId = Number(lastInsertRowid)
    try {
      const detail = tool.kept ? call.detail : withToolName(call.detail, call.tool)
      this.#statements.addText.run(callId, call.uid, call.args, detail)
      if (call.issues.length > 0) {
        this.#signatures.store(callId, tool.id, call.server.name, call.tool, call.issues)
      }
    } catch (error) {
      for (const statement of this.#statements.deleteCall) statement.run(callId)
      throw error
    }
    const { classId, outcomeId, startedMs, durationUs } = call
    this.#rollup.count({
      toolId: tool.id,
      classId,
      outcomeId,
      serverId,
      clientId,
      startedMs,
      durationUs,
    })
    this.#writers.learn(writer, line.parsed.writer, { serverId })
    return 'rows'
  }

  /**
   * The writer under which a stamped line is to be stored, its n taken; undefined if the line is
   * there already. Another line under the same (w, n) comes from a copy of the process: it goes to
   * a writer of its own, so that neither is lost.
   */
  #claim(stamp: Stamp, line: RecordLine): Writer | undefined {
    const first = this.#writers.stamped(stamp.w)
    let writer = first
    for (let copy = 2; copy <= MAX_CONFLICTS; copy += 1) {
      if (writer.ranges?.add(stamp.n)) return writer
      if (this.#isStored(writer.id, stamp.n, line)) return undefined
      writer = this.#writers.stamped(`${stamp.w}~${copy}`, first.id)
    }
    return undefined
  }

  #isStored(writerId: number, n: number, line: RecordLine): boolean {
    const { parsed } = line
    const call = this.#statements.findCall.get(writerId, n) as StoredCall | undefined
    const event = this.#statements.findEvent.get(writerId, n) as StoredEvent | undefined
    // Neither: removed for its age, or a beat that shares a later one's row.
    if (!call && !event) return true
    return parsed.fate === 'call' ? isSameCall(call, parsed.call) : isSameEvent(event, parsed.event)
  }

  #markSeen(stamp: Stamp): void {
    const writer = this.#writers.stamped(stamp.w)
    writer.ranges?.add(stamp.n)
    this.#writers.learn(writer, { pid: undefined, hostname: undefined, timeMs: undefined })
  }
}

type PartCounts = BatchResult & { rowBytes: number; blankBytes: number; quarantinedBytes: number }
type StoredCall = { uid: string; started_ms: number; flags: number }
type StoredEvent = { kind: string; at_ms: number }

function isSameCall(stored: StoredCall | undefined, call: CallFields): boolean {
  if (!stored || stored.uid !== call.uid) return false
  // Where the time was unknown, started_ms is when it was read.
  const timeKnown = ((stored.flags | call.flags) & CALL_FLAGS.clock) === 0
  return !timeKnown || stored.started_ms === call.startedMs
}

function isSameEvent(stored: StoredEvent | undefined, event: EventFields): boolean {
  return stored !== undefined && stored.kind === event.kind && stored.at_ms === event.atMs
}

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

function withToolName(detail: string, tool: string): string {
  const name = `{"tool":${JSON.stringify(tool)}`
  return detail === '{}' ? `${name}}` : `${name},${detail.slice(1)}`
}

export function addResult(sum: BatchResult, more: BatchResult): void {
  sum.bytes += more.bytes
  sum.lines += more.lines
  sum.rows += more.rows
  sum.events += more.events
  sum.duplicates += more.duplicates
  sum.foreignLines += more.foreignLines
  for (const [reason, lines] of more.quarantined) {
    sum.quarantined.set(reason, (sum.quarantined.get(reason) ?? 0) + lines)
  }
}

export function emptyResult(): BatchResult {
  return {
    bytes: 0,
    lines: 0,
    rows: 0,
    events: 0,
    duplicates: 0,
    quarantined: new Map(),
    foreignLines: 0,
  }
}

function prepareStatements(database: Database) {
  return {
    begin: database.prepare('BEGIN IMMEDIATE'),
    commit: database.prepare('COMMIT'),
    rollback: database.prepare('ROLLBACK'),
    deleteCall: [
      database.prepare('DELETE FROM call_signature WHERE call_id = ?'),
      database.prepare('DELETE FROM call_text WHERE call_id = ?'),
      database.prepare('DELETE FROM call WHERE id = ?'),
    ],
    addCall: database.prepare(`
      INSERT INTO call
        (started_ms, duration_us, duration_bin, server_id, tool_id, client_id, session_id,
         outcome_id, class_id, flags, args_key, stream_id, line_offset, writer_id, n)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (writer_id, n) DO NOTHING`),
    addText: database.prepare(
      'INSERT INTO call_text (call_id, uid, args, detail) VALUES (?, ?, ?, ?)',
    ),
    findCall: database.prepare(`
      SELECT call_text.uid, call.started_ms, call.flags FROM call
      JOIN call_text ON call_text.call_id = call.id
      WHERE call.writer_id = ? AND call.n = ?`),
    findEvent: database.prepare(
      'SELECT kind, at_ms FROM process_event WHERE writer_id = ? AND n = ?',
    ),
  }
}
