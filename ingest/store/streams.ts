import { anchorOfBlob, headBlob, headOfBlob, type Position, type Stream } from '../stream-state.ts'
import type { Database } from './load-sqlite.ts'
import type { StreamLocation, StreamPart } from './staged-line.ts'

export type StreamCounts = {
  rows: number
  events: number
  duplicates: number
  foreignLines: number
  quarantined: ReadonlyMap<string, number>
  rowBytes: number
  blankBytes: number
  quarantinedBytes: number
}

/** Rows of `stream`, `location` and `chunk`, inside the caller's transaction. */
export type Streams = {
  add(part: StreamPart, nowMs: number): number
  update(id: number, part: StreamPart, counts: StreamCounts, nowMs: number): void
  /** Counts lines that were refused before as what they are now. */
  recount(id: number, counts: StreamCounts, refused: { bytes: number; lines: number }): void
}

export function createStreams(database: Database): Streams {
  const addStream = database.prepare(`
    INSERT INTO stream
      (path, family, state, base_offset, committed_offset, head, anchor, first_seen_ms, last_growth_ms)
    VALUES (?, ?, 'live', ?, ?, x'', x'', ?, ?)`)
  const updateStream = database.prepare(UPDATE_STREAM_SQL)
  const addChunk = database.prepare(
    'INSERT INTO chunk (stream_id, first_offset, end_offset, line_hashes) VALUES (?, ?, ?, ?)',
  )
  const place = createPlaces(database)
  const recount = database.prepare(RECOUNT_SQL)

  return {
    recount(id, counts, refused) {
      recount.run({
        id,
        ...sumsOf(counts),
        refusedBytes: refused.bytes,
        refusedLines: refused.lines,
      })
    },
    add({ stream, location }, nowMs) {
      const base = stream.position.offset
      const { lastInsertRowid } = addStream.run(
        location.path,
        stream.family,
        base,
        base,
        nowMs,
        nowMs,
      )
      return Number(lastInsertRowid)
    },
    update(id, part, counts, nowMs) {
      const { position } = part
      updateStream.run({
        id,
        path: part.isMain ? part.location.path : null,
        state: part.closes ? 'closed' : part.lines.length > 0 ? 'live' : null,
        offset: position.offset,
        lineNumber: position.lineNumber,
        head: headBlob(position.head),
        anchor: position.anchor.hash,
        skipping: position.skipping ? 1 : 0,
        ...sumsOf(counts),
        grownMs: part.lines.length > 0 ? nowMs : null,
      })
      if (part.hashedRun) {
        const { firstOffset, endOffset, hashes } = part.hashedRun
        addChunk.run(id, firstOffset, endOffset, hashBytes(hashes))
      }
      place(part.location, id, nowMs)
    },
  }
}

/** Stores where a stream is. A reused inode points to its newest stream only. */
export function createPlaces(
  database: Database,
): (location: StreamLocation, streamId: number, nowMs: number) => void {
  const forgetOthers = database.prepare(
    'DELETE FROM location WHERE device = ? AND inode = ? AND birth_ns <> ?',
  )
  const upsert = database.prepare(`
    INSERT INTO location (path, device, inode, birth_ns, stream_id, size_bytes, seen_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET path = excluded.path, stream_id = excluded.stream_id,
      size_bytes = excluded.size_bytes, seen_ms = excluded.seen_ms`)
  return ({ path, device, inode, birthNs, sizeBytes }, streamId, nowMs) => {
    forgetOthers.run(device, inode, birthNs)
    upsert.run(path, device, inode, birthNs, streamId, sizeBytes, nowMs)
  }
}

function hashBytes(values: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(values.length * 4)
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, index * 4)
  return bytes
}

export type StreamRow = {
  id: number
  path: string
  family: string
  committed_offset: number
  line_number: number
  head: Buffer
  anchor: Buffer
  skipping: number
  state: string
  base_offset: number
  /** 1 if it has hashed runs. */
  hashed: number
}

export function streamOfRow(row: StreamRow): Stream {
  const position: Position = {
    offset: row.committed_offset,
    lineNumber: row.line_number,
    head: headOfBlob(row.head),
    anchor: anchorOfBlob(row.anchor, row.committed_offset),
    skipping: row.skipping === 1,
  }
  return {
    id: row.id,
    family: row.family,
    position,
    closed: row.state === 'closed',
    hashed: row.hashed === 1,
  }
}

function sumsOf(counts: StreamCounts) {
  return {
    rowBytes: counts.rowBytes,
    quarantinedBytes: counts.quarantinedBytes,
    blankBytes: counts.blankBytes,
    rows: counts.rows,
    events: counts.events,
    duplicates: counts.duplicates,
    quarantinedLines: [...counts.quarantined.values()].reduce((sum, lines) => sum + lines, 0),
    foreignLines: counts.foreignLines,
  }
}

const RECOUNT_SQL = `
  UPDATE stream SET
    row_bytes = row_bytes + @rowBytes,
    quarantined_bytes = quarantined_bytes + @quarantinedBytes - @refusedBytes,
    blank_bytes = blank_bytes + @blankBytes,
    rows = rows + @rows,
    event_rows = event_rows + @events,
    duplicate_rows = duplicate_rows + @duplicates,
    quarantined_lines = quarantined_lines + @quarantinedLines - @refusedLines,
    foreign_lines = foreign_lines + @foreignLines
  WHERE id = @id`

const UPDATE_STREAM_SQL = `
  UPDATE stream SET
    path = coalesce(@path, path),
    state = coalesce(@state, state),
    committed_offset = @offset,
    line_number = @lineNumber,
    head = @head,
    anchor = @anchor,
    skipping = @skipping,
    row_bytes = row_bytes + @rowBytes,
    quarantined_bytes = quarantined_bytes + @quarantinedBytes,
    blank_bytes = blank_bytes + @blankBytes,
    rows = rows + @rows,
    event_rows = event_rows + @events,
    duplicate_rows = duplicate_rows + @duplicates,
    quarantined_lines = quarantined_lines + @quarantinedLines,
    foreign_lines = foreign_lines + @foreignLines,
    last_growth_ms = coalesce(@grownMs, last_growth_ms)
  WHERE id = @id`
