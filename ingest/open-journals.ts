import { createHash } from 'node:crypto'
import {
  type OpenJournalHeader,
  type OpenSlot,
  readOpenSlots,
} from '../server/call-log/open-journal.ts'
import { reasonOf } from './discovery.ts'
import type { FileFacts, FilePort } from './file-port.ts'
import { isObject, textOf } from './formats/field-values.ts'
import { type OrphanFacts, readOrphan } from './formats/orphan-record.ts'
import type { LineRedactor, ParseContext } from './formats/parsed-line.ts'
import { isUnchanged, type Location } from './location.ts'
import { isFileError } from './locations.ts'
import { isWaiting } from './poll.ts'
import { sampleOf } from './sample.ts'
import { addResult, type BatchResult, emptyResult } from './store/batch-result.ts'
import type { WriterTrace } from './store/orphans.ts'
import type { BatchWriter, OrphanLine } from './store/write-batch.ts'
import { type Death, deathOf, type Host } from './writer-liveness.ts'

/** Whether a writer lives is asked so often. */
const LOOK_AGAIN_MS = 5_000
/** 257 slots of 8 KiB are 2 MiB; other languages may choose larger ones. */
const MAX_BYTES = 16 * 1024 * 1024

type Look = {
  writer: BatchWriter
  locations: readonly Location[]
  nowMs: number
}

type Journal = {
  facts: FileFacts
  /** Nothing is to be done before. */
  dueMs: number
  state:
    | 'watched'
    /** Its writer is gone: what it wrote last is read first. */
    | 'dying'
    /** Nothing more is to be learnt from it, as it stands. */
    | 'done'
}

/**
 * The journals of running calls beside the logs. A call in the journal of a writer that is gone,
 * without a record, has died with its process, and becomes a row. Journals are never changed.
 */
export class OpenJournals {
  /** Sentences about journals that cannot be read. */
  problems: string[] = []
  /** A writer is gone, and its calls will be closed at the next look. */
  isWaiting = false
  readonly #files: FilePort
  readonly #host: Host
  readonly #redactor: LineRedactor
  #known = new Map<string, Journal>()

  constructor(options: { files: FilePort; host: Host; redactor: LineRedactor }) {
    this.#files = options.files
    this.#host = options.host
    this.#redactor = options.redactor
  }

  /** To be called when all that can be read of the logs has been read and committed. */
  closeOrphans(paths: readonly string[], look: Look): BatchResult {
    const stored = emptyResult()
    const known = this.#known
    this.#known = new Map()
    this.isWaiting = false
    this.problems = []
    for (const path of paths) {
      try {
        const journal = this.#meet(path, known.get(path))
        this.#known.set(path, journal)
        if (journal.state === 'done' || look.nowMs < journal.dueMs) continue
        addResult(stored, this.#look(path, journal, look))
        if (journal.state === 'dying') this.isWaiting = true
      } catch (error) {
        if (!isFileError(error)) throw error
        const reason = reasonOf(error)
        if (reason !== 'ENOENT') this.problems.push(`${path} cannot be read (${reason}).`)
      }
    }
    return stored
  }

  /** A slot that was written or emptied since makes it worth another look. */
  #meet(path: string, known: Journal | undefined): Journal {
    const facts = this.#files.look(path)
    const isSame =
      known?.facts.deviceInode === facts.deviceInode &&
      known.facts.sizeBytes === facts.sizeBytes &&
      known.facts.modifiedNs === facts.modifiedNs
    if (known && isSame) return known
    const dueMs = known?.facts.deviceInode === facts.deviceInode ? known.dueMs : 0
    return { facts, dueMs, state: 'watched' }
  }

  #look(path: string, journal: Journal, look: Look): BatchResult {
    const wasDying = journal.state === 'dying'
    journal.state = 'watched'
    journal.dueMs = look.nowMs + LOOK_AGAIN_MS
    const read = this.#read(path, journal.facts)
    if (!read || read.slots.length === 0) {
      if (standsStill(journal.facts, look.nowMs)) journal.state = 'done'
      return emptyResult()
    }
    const { header, slots } = read
    const ownFiles = look.locations.filter((location) => isOf(path, location))
    const trace = look.writer.orphans.traceOf(header.w)
    const lastSignMs = lastSignOf(trace, [journal.facts, ...ownFiles.map(({ facts }) => facts)])
    const death = deathOf(tracesOf(header, trace, lastSignMs), this.#host, look.nowMs)
    if (death === undefined) return emptyResult()
    if (!wasDying || ownFiles.some((location) => !isRead(location))) {
      // Its last words may have come after its log was read.
      journal.state = ownFiles.some(({ failure }) => failure) ? 'watched' : 'dying'
      if (journal.state === 'dying') journal.dueMs = 0
      return emptyResult()
    }
    const facts = orphanFacts(header, trace, death, lastSignMs)
    const context = { nowMs: look.nowMs, redactor: this.#redactor, fallbackServer: 'unknown' }
    const lines = slots.map((slot, index) => stageSlot(slot, index, facts, context))
    const stored = look.writer.storeOrphans(path, lines, look.nowMs)
    journal.state = 'done'
    return stored
  }

  #read(path: string, { sizeBytes }: FileFacts) {
    const file = this.#files.open(path)
    try {
      const bytes = Buffer.alloc(Math.min(sizeBytes, MAX_BYTES))
      const count = this.#files.read(file, bytes, bytes.length, 0)
      return readOpenSlots(bytes.subarray(0, count))
    } finally {
      this.#files.close(file)
    }
  }
}

/** File systems count time in steps: a write in the step of the last one would not be noticed. */
const TIME_STEP_MS = 2_000

function standsStill({ modifiedNs }: FileFacts, nowMs: number): boolean {
  return nowMs - Number(modifiedNs / 1_000_000n) > TIME_STEP_MS
}

/** `<stem>.open` beside `<stem>.<number>.jsonl`. */
function isOf(journal: string, { path }: Location): boolean {
  return path.startsWith(journal.slice(0, journal.lastIndexOf('.') + 1))
}

function isRead(location: Location): boolean {
  const { state } = location
  return isUnchanged(location) || state.kind === 'closed' || state.kind === 'contained'
    ? !isWaiting(location) && !location.failure
    : false
}

function tracesOf(header: OpenJournalHeader, trace: WriterTrace | undefined, lastSignMs: number) {
  return {
    header,
    hostname: trace?.hostname ?? undefined,
    beatMs: trace?.beat_ms ?? undefined,
    exited: trace?.exited === 1,
    lastSignMs,
  }
}

/** By its clock, which may go wrong, and by that of the file system. */
function lastSignOf(trace: WriterTrace | undefined, files: readonly FileFacts[]): number {
  const writtenMs = files.map(({ modifiedNs }) => Number(modifiedNs / 1_000_000n))
  return Math.max(trace?.last_seen_ms ?? 0, ...writtenMs)
}

/** For the length of its calls only what it said itself counts: copies of files are younger. */
function orphanFacts(
  { w }: OpenJournalHeader,
  trace: WriterTrace | undefined,
  death: Death,
  lastSignMs: number,
): OrphanFacts {
  const fatal: unknown = trace?.fatal ? JSON.parse(trace.fatal) : undefined
  return {
    w,
    death,
    lastSignMs: trace?.last_seen_ms ?? lastSignMs,
    fatal: isObject(fatal) ? { call: textOf(fatal.call) } : undefined,
  }
}

function stageSlot(
  slot: OpenSlot,
  index: number,
  facts: OrphanFacts,
  context: ParseContext,
): OrphanLine {
  const parsed = slot.entry && readOrphan(slot.entry, slot, facts, context)
  if (parsed?.fate === 'call') {
    return {
      kind: 'record',
      offset: slot.offset,
      bytes: slot.bytes.length,
      lineNumber: index + 1,
      parsed,
    }
  }
  return {
    kind: 'refused',
    stamp: undefined,
    piece: {
      offset: slot.offset,
      lineNumber: index + 1,
      bytes: slot.bytes.length,
      lines: 1,
      reason: 'torn',
      sha256: createHash('sha256').update(slot.bytes).digest('hex'),
      sample: sampleOf(slot.bytes, 'torn', context.redactor.text),
    },
  }
}
