import type { Fingerprint, Stream } from '../stream-state.ts'
import type { Database } from './load-sqlite.ts'
import type { StreamLocation } from './staged-line.ts'
import { createPlaces, type StreamRow, streamOfRow } from './streams.ts'

export type StoredRun = { firstOffset: number; endOffset: number; lineHashes: Buffer }

export type KnownStream = {
  stream: Stream
  /** The name it was last read under. */
  path: string
  baseOffset: number
}

export type StreamPlace = { path: string; deviceInode: string; birthNs: string }

/** What the database knows about streams: asked when a file has to be recognised. */
export type StreamIndex = {
  /** The stream that a file with this identity held when it was last read. */
  streamAt(device: string, inode: string): (KnownStream & { birthNs: string }) | undefined
  /** The longest first, of equally long ones the newest: logs may begin alike. */
  familyStreams(family: string): KnownStream[]
  /** In order of their place. */
  hashedRuns(streamId: number): IterableIterator<StoredRun>
  /** All files that have held it. */
  placesOf(streamId: number): StreamPlace[]
  /** The file, as it stands, has been read to its end. */
  wasReadAt(facts: { device: string; inode: string; birthNs: string; sizeBytes: number }): boolean
  /** Notes where a stream is without reading from there; inside the caller's transaction. */
  place(location: StreamLocation, streamId: number, nowMs: number): void
  /** A stream that has just been given its id. There is one object for each stream. */
  adopt(stream: Stream): void
  forget(): void
  /** A last line that was refused because it was unfinished: it may have been finished since. */
  unfinishedTail(streamId: number): { offset: number; bytes: number } | undefined
  /**
   * Takes it out of the quarantine, so that it is read again; inside the caller's transaction.
   * `anchor` stands before its offset.
   */
  reopen(stream: Stream, tail: { offset: number; bytes: number }, anchor: Fingerprint): void
}

export function createStreamIndex(database: Database): StreamIndex {
  const known = new Map<number, Stream>()
  const atPlace = database.prepare(`
    SELECT stream.*, location.birth_ns,
      EXISTS (SELECT 1 FROM chunk WHERE stream_id = stream.id) AS hashed
    FROM location JOIN stream ON stream.id = location.stream_id
    WHERE location.device = ? AND location.inode = ? ORDER BY location.seen_ms DESC LIMIT 1`)
  const inFamily = database.prepare(`
    SELECT *, EXISTS (SELECT 1 FROM chunk WHERE stream_id = stream.id) AS hashed
    FROM stream WHERE family = ? ORDER BY committed_offset DESC, id DESC`)
  const runs = database.prepare(`
    SELECT first_offset AS firstOffset, end_offset AS endOffset, line_hashes AS lineHashes
    FROM chunk WHERE stream_id = ? ORDER BY first_offset`)
  const places = database.prepare(`
    SELECT path, device || ':' || inode AS deviceInode, birth_ns AS birthNs
    FROM location WHERE stream_id = ?`)
  const wasRead = database.prepare(
    'SELECT 1 FROM location WHERE device = ? AND inode = ? AND birth_ns = ? AND size_bytes = ?',
  )
  const place = createPlaces(database)
  const findTail = database.prepare(`
    SELECT quarantine.line_offset AS offset, quarantine.length_bytes AS bytes FROM quarantine
    JOIN stream ON stream.id = quarantine.stream_id
    WHERE quarantine.stream_id = ? AND quarantine.reason = 'unterminated'
      AND quarantine.line_offset + quarantine.length_bytes = stream.committed_offset`)
  const deleteTail = database.prepare(
    'DELETE FROM quarantine WHERE stream_id = ? AND line_offset = ?',
  )
  const deleteRuns = database.prepare('DELETE FROM chunk WHERE stream_id = ? AND end_offset > ?')
  const stepBack = database.prepare(`
    UPDATE stream SET state = 'live', committed_offset = @offset, anchor = @anchor,
      line_number = line_number - 1, quarantined_bytes = quarantined_bytes - @bytes,
      quarantined_lines = quarantined_lines - 1
    WHERE id = @id`)

  function toKnown(row: StreamRow): KnownStream {
    let stream = known.get(row.id)
    if (!stream) {
      stream = streamOfRow(row)
      known.set(row.id, stream)
    }
    return { stream, path: row.path, baseOffset: row.base_offset }
  }

  return {
    streamAt(device, inode) {
      const row = atPlace.get(device, inode) as (StreamRow & { birth_ns: string }) | undefined
      return row && { ...toKnown(row), birthNs: row.birth_ns }
    },
    familyStreams: (family) => (inFamily.all(family) as StreamRow[]).map(toKnown),
    hashedRuns: (streamId) => runs.iterate(streamId) as IterableIterator<StoredRun>,
    placesOf: (streamId) => places.all(streamId) as StreamPlace[],
    wasReadAt: ({ device, inode, birthNs, sizeBytes }) =>
      wasRead.get(device, inode, birthNs, sizeBytes) !== undefined,
    place,
    adopt(stream) {
      if (stream.id !== undefined) known.set(stream.id, stream)
    },
    forget: () => known.clear(),
    unfinishedTail: (streamId) =>
      findTail.get(streamId) as { offset: number; bytes: number } | undefined,
    reopen(stream, tail, anchor) {
      deleteTail.run(stream.id, tail.offset)
      deleteRuns.run(stream.id, tail.offset)
      stepBack.run({ id: stream.id, ...tail, anchor: anchor.hash })
      const lineNumber = stream.position.lineNumber - 1
      stream.position = { ...stream.position, offset: tail.offset, lineNumber, anchor }
      stream.closed = false
    },
  }
}
