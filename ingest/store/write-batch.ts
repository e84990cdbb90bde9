import type { CallFields, EventFields, Stamp } from '../formats/parsed-line.ts'
import { createDictionaries, type Dictionaries } from './dictionaries.ts'
import { binOf } from './duration-bins.ts'
import type { Database } from './load-sqlite.ts'
import { createProcessEvents, newsOf, type ProcessEvents } from './process-events.ts'
import { createQuarantine, type Quarantine } from './quarantine.ts'
import { createRollup, type Rollup } from './rollup.ts'
import { CALL_FLAGS } from './schema.ts'
import { createSignatures, type Signatures } from './signatures.ts'
import type { StagedLine, StreamPart } from './staged-line.ts'
import { asStoreError } from './store-error.ts'
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
 * The one path by which lines get into the database. A batch is one transaction: rows, events,
 * refused lines, ranges, counts and offsets are stored together or not at all.
 */
export class BatchWriter {
  readonly #database: Database
  readonly #dictionaries: Dictionaries
  readonly #writers: Writers
  readonly #events: ProcessEvents
  readonly #quarantine: Quarantine
  readonly #rollup: Rollup
  readonly #signatures: Signatures
  readonly #streams: Streams
  readonly #statements: ReturnType<typeof prepareStatements>

  constructor(database: Database) {
    this.#database = database
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
   * Stores the parts and gives streams their ids. On any error nothing is stored, all memories are
   * emptied and a StoreError is thrown; a single line that the database refuses is quarantined.
   */
  commit(parts: readonly StreamPart[], nowMs: number): BatchResult {
    for (;;) {
      try {
        const ids: number[] = []
        const result = this.#database
          .transaction(() => this.#storeParts(parts, ids, nowMs))
          .immediate()
        for (const [index, part] of parts.entries()) {
          part.stream.id = ids[index]
          part.stream.committed = part.position
          if (part.closes || part.lines.length > 0) part.stream.closed = part.closes
        }
        return result
      } catch (error) {
        this.#forget()
        if (!(error instanceof UnstorableLine)) {
          throw asStoreError(error, this.#database.name)
        }
        error.part.lines[error.index] = refusedInstead(error.line, error.cause)
      }
    }
  }

  #forget(): void {
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

  #storeParts(parts: readonly StreamPart[], ids: number[], nowMs: number): BatchResult {
    const total = emptyResult()
    for (const part of parts) {
      const id = part.stream.id ?? this.#streams.add(part, nowMs)
      ids.push(id)
      const counts = this.#storeLines(part, id, nowMs)
      this.#streams.update(id, part, counts, nowMs)
      addResult(total, counts)
    }
    this.#rollup.flush()
    this.#writers.flush()
    return total
  }

  #storeLines(part: StreamPart, streamId: number, nowMs: number): PartCounts {
    const counts: PartCounts = { ...emptyResult(), rowBytes: 0, blankBytes: 0, quarantinedBytes: 0 }
    for (const [index, line] of part.lines.entries()) {
      switch (line.kind) {
        case 'passed_over':
          counts.blankBytes += line.bytes
          counts.foreignLines += line.foreignLines
          counts.lines += line.foreignLines
          break
        case 'refused': {
          const { bytes, reason } = line.piece
          const refused = this.#quarantine.store(streamId, line.piece, nowMs)
          counts.quarantinedBytes += bytes
          counts.lines += refused
          counts.quarantined.set(reason, (counts.quarantined.get(reason) ?? 0) + refused)
          if (line.stamp) this.#markSeen(line.stamp)
          break
        }
        case 'record':
          counts.rowBytes += line.bytes
          counts.lines += 1
          try {
            counts[this.#storeRecord(line, streamId)] += 1
          } catch (error) {
            if (!isFaultOfLine(error)) throw error
            throw new UnstorableLine(part, index, line, error)
          }
      }
    }
    counts.bytes = counts.rowBytes + counts.blankBytes + counts.quarantinedBytes
    return counts
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
    const detail = tool.kept ? call.detail : withToolName(call.detail, call.tool)
    this.#statements.addText.run(callId, call.uid, call.args, detail)
    if (call.issues.length > 0) {
      this.#signatures.store(callId, tool.id, call.server.name, call.tool, call.issues)
    }
    this.#rollup.count({ ...call, toolId: tool.id, serverId, clientId })
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

class UnstorableLine extends Error {
  readonly part: StreamPart
  readonly index: number
  readonly line: RecordLine

  constructor(part: StreamPart, index: number, line: RecordLine, cause: unknown) {
    super('the database refused a line', { cause })
    this.part = part
    this.index = index
    this.line = line
  }
}

/** Faults of the disk, the file or a lock are not the line's. */
function isFaultOfLine(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError) return true
  if (typeof error !== 'object' || error === null || !('code' in error)) return false
  return /^SQLITE_(CONSTRAINT|TOOBIG|MISMATCH|RANGE)/.test(String(error.code))
}

function refusedInstead(line: RecordLine, cause: unknown): StagedLine {
  return {
    kind: 'refused',
    stamp: line.parsed.stamp,
    piece: {
      offset: line.offset,
      lineNumber: line.lineNumber,
      bytes: line.bytes,
      lines: 1,
      reason: 'unstorable',
      sha256: '',
      sample: Buffer.from(cause instanceof Error ? cause.message : String(cause)),
    },
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
