import { createHash } from 'node:crypto'
import { type FilePort, realFiles } from '../file-port.ts'
import { serverNameOf } from '../file-reader.ts'
import { isObject } from '../formats/field-values.ts'
import type { ParseContext } from '../formats/parsed-line.ts'
import { MAX_LINE_BYTES, splitLines } from '../line-reader.ts'
import { isFileError } from '../locations.ts'
import { createLineRedactor } from '../redactor.ts'
import { HASHED_BYTES, stageLines } from '../stage-lines.ts'
import { stageTail } from '../stage-tail.ts'
import type { Database } from '../store/load-sqlite.ts'
import type { RefusedEntry } from '../store/quarantine.ts'
import type { StagedLine } from '../store/staged-line.ts'
import { BatchWriter } from '../store/write-batch.ts'
import type { RequestHandler } from './request-desk.ts'
import { RequestRefusal } from './request-refusal.ts'

/** What is to be tried: these, or all of a reason, or all. */
type Wanted = { ids: number[] | undefined; reason: string | undefined }

/** A run of refused lines may be long; longer ones are left alone. */
const MAX_ENTRY_BYTES = 64 * 1024 * 1024

/**
 * Reads refused lines again where their file still has them, and stores those that can be read now:
 * after an update of this program, which is the only thing that changes the verdict. The rest stays
 * as it is. An entry a step.
 */
export const retryRefused: RequestHandler = function* ({ database, request, nowMs }) {
  const wanted = readWanted(request.parameters)
  if (!wanted) throw new RequestRefusal('Say which refused lines to try: ids, a reason, or all.')
  const counts = {
    entries: 0,
    rows: 0,
    events: 0,
    duplicates: 0,
    passedOver: 0,
    refused: 0,
    gone: 0,
  }
  const redactor = createLineRedactor()
  for (const id of idsOf(database, wanted)) {
    const entry = findEntry(database, id)
    if (!entry) continue
    counts.entries += 1
    const context = { nowMs, redactor, fallbackServer: serverNameOf(entry.family) }
    const lines = stageEntry(database, entry, context, realFiles)
    if (!lines) counts.gone += entry.lines
    else if (lines.every((line) => line.kind === 'refused')) counts.refused += entry.lines
    else {
      // A writer of its own: what memory says may be old at the next step.
      const stored = new BatchWriter(database).replaceRefused(entry, lines)
      counts.rows += stored.rows
      counts.events += stored.events
      counts.duplicates += stored.duplicates
      counts.passedOver += stored.foreignLines
      for (const refused of stored.quarantined.values()) counts.refused += refused
    }
    yield
  }
  return counts
}

function readWanted(parameters: unknown): Wanted | undefined {
  if (!isObject(parameters)) return undefined
  const { ids, reason } = parameters
  if (ids !== undefined && !(Array.isArray(ids) && ids.every(Number.isSafeInteger)))
    return undefined
  if (reason !== undefined && typeof reason !== 'string') return undefined
  return { ids: ids as number[] | undefined, reason }
}

function idsOf(database: Database, { ids, reason }: Wanted): number[] {
  if (ids) return ids
  const all = database.prepare(
    'SELECT id FROM quarantine WHERE reason = coalesce(?, reason) ORDER BY id',
  )
  return all.pluck().all(reason ?? null) as number[]
}

type Entry = RefusedEntry & { sampleBytes: number; path: string; family: string; state: string }

function findEntry(database: Database, id: number): Entry | undefined {
  const find = database.prepare(`
    SELECT quarantine.id, stream_id AS streamId, line_offset AS offset,
      quarantine.line_number AS lineNumber, length_bytes AS bytes, lines, reason, sha256,
      seen_ms AS seenMs, length(sample) AS sampleBytes, path, family, state
    FROM quarantine JOIN stream ON stream.id = stream_id WHERE quarantine.id = ?`)
  return find.get(id) as Entry | undefined
}

/** Undefined where its bytes are not there any more. */
function stageEntry(
  database: Database,
  entry: Entry,
  context: ParseContext,
  files: FilePort,
): StagedLine[] | undefined {
  // Holes and slots of journals hold no lines; what was forgotten is not to come back.
  const isLines = entry.reason !== 'nul_run' && entry.state !== 'journal' && entry.sampleBytes > 0
  if (!isLines || entry.bytes > MAX_ENTRY_BYTES) return undefined
  const bytes = readEntry(database, entry, files)
  if (!bytes) return undefined
  const split = splitLines(bytes, {
    atFileStart: entry.offset === 0,
    atFileEnd: true,
    skipping: false,
    maxLineBytes: MAX_LINE_BYTES,
    maxPieces: Number.POSITIVE_INFINITY,
  })
  const options = { offset: entry.offset, lineNumber: entry.lineNumber - 1, context }
  const whole = stageLines(bytes, split.pieces, split.used, options)
  if (split.used === bytes.length) return whole.lines
  return [...whole.lines, ...stageRest(bytes.subarray(split.used), split.used, entry, context)]
}

/** A part of a line, or the end of a file. */
function stageRest(bytes: Buffer, at: number, entry: Entry, context: ParseContext): StagedLine[] {
  const offset = entry.offset + at
  const { lines } = stageTail(bytes, { offset, lineNumber: entry.lineNumber - 1, context })
  for (const line of lines) {
    if (line.kind === 'refused') line.piece.reason = entry.reason as typeof line.piece.reason
  }
  return lines
}

function readEntry(database: Database, entry: Entry, files: FilePort): Buffer | undefined {
  const places = database
    .prepare('SELECT path FROM location WHERE stream_id = ? ORDER BY seen_ms DESC')
    .pluck()
    .all(entry.streamId) as string[]
  for (const path of new Set([entry.path, ...places])) {
    const bytes = readAt(path, entry, files)
    if (bytes && isSame(bytes, entry)) return bytes
  }
  return undefined
}

function readAt(path: string, { offset, bytes: length }: Entry, files: FilePort) {
  try {
    const file = files.open(path)
    try {
      const { isFile, sizeBytes } = files.facts(file)
      if (!isFile || sizeBytes < offset + length) return undefined
      const bytes = Buffer.alloc(length)
      return files.read(file, bytes, length, offset) === length ? bytes : undefined
    } finally {
      files.close(file)
    }
  } catch (error) {
    if (isFileError(error)) return undefined
    throw error
  }
}

/** By the hash of the first line; a line that the database would not take has none. */
function isSame(bytes: Buffer, { sha256, reason }: Entry): boolean {
  if (sha256 === '') return reason === 'unstorable'
  const end = bytes.indexOf(0x0a)
  const first = end < 0 ? bytes : bytes.subarray(0, end + 1)
  return [first, bytes].some((part) => hashOf(part) === sha256)
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes.subarray(0, HASHED_BYTES)).digest('hex')
}
