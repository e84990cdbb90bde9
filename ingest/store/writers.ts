import type { WriterFacts } from '../formats/parsed-line.ts'
import type { Database } from './load-sqlite.ts'
import { createSequenceRanges, type SequenceRanges } from './sequence-ranges.ts'

/** One row of `writer` while it is worked with. */
export type Writer = {
  id: number
  w: string
  /** Which n have been stored; undefined for a stream of unstamped lines. */
  ranges: SequenceRanges | undefined
  /** What its lines have said since the last flush. */
  news: WriterNews | undefined
}

export type WriterNews = {
  serverId?: number
  pid?: number
  hostname?: string
  bootId?: string
  node?: string
  beatMs?: number
  startedMs?: number
  lastSeenMs?: number
  exitedMs?: number
  exitCode?: number
}

export type Writers = {
  stamped(w: string, conflictOf?: number): Writer
  /** Stands for a stream's unstamped lines. */
  ofStream(streamId: number): Writer
  /** Remembers what a line says about its writer; written at the next flush. */
  learn(writer: Writer, facts: WriterFacts, news?: WriterNews): void
  flush(): void
  forget(): void
}

/** Of a memory, not of a table. */
const MAX_REMEMBERED = 10_000

export function createWriters(database: Database): Writers {
  const known = new Map<string, Writer>()
  const touched = new Set<Writer>()
  const find = database.prepare('SELECT id FROM writer WHERE w = ?').pluck()
  const add = database.prepare('INSERT INTO writer (w, stamped, conflict_of) VALUES (?, ?, ?)')
  const ranges = database
    .prepare('SELECT first_n, last_n FROM writer_range WHERE writer_id = ? ORDER BY first_n')
    .raw()
  const deleteRange = database.prepare(
    'DELETE FROM writer_range WHERE writer_id = ? AND first_n = ?',
  )
  const writeRange = database.prepare(`
    INSERT INTO writer_range (writer_id, first_n, last_n) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET last_n = excluded.last_n`)
  const update = database.prepare(UPDATE_SQL)

  function writer(w: string, stamped: boolean, conflictOf: number | undefined): Writer {
    const remembered = known.get(w)
    if (remembered) return remembered
    let id = find.get(w) as number | undefined
    if (id === undefined) {
      id = Number(add.run(w, stamped ? 1 : 0, conflictOf ?? null).lastInsertRowid)
    }
    const made: Writer = {
      id,
      w,
      ranges: stamped ? createSequenceRanges(ranges.all(id) as [number, number][]) : undefined,
      news: undefined,
    }
    known.set(w, made)
    return made
  }

  return {
    stamped: (w, conflictOf) => writer(w, true, conflictOf),
    ofStream: (streamId) => writer(`stream:${streamId}`, false, undefined),
    learn(writer, facts, news) {
      touched.add(writer)
      writer.news ??= {}
      const merged = writer.news
      if (facts.pid !== undefined) merged.pid = facts.pid
      if (facts.hostname !== undefined) merged.hostname = facts.hostname
      if (facts.timeMs !== undefined && facts.timeMs > (merged.lastSeenMs ?? 0)) {
        merged.lastSeenMs = facts.timeMs
      }
      if (news) Object.assign(merged, news)
    },
    flush() {
      for (const writer of touched) {
        const changes = writer.ranges?.takeChanges()
        for (const first of changes?.removed ?? []) deleteRange.run(writer.id, first)
        for (const [first, last] of changes?.written ?? []) writeRange.run(writer.id, first, last)
        if (writer.news) update.run({ id: writer.id, ...NO_NEWS, ...writer.news })
        writer.news = undefined
      }
      touched.clear()
      if (known.size > MAX_REMEMBERED) known.clear()
    },
    forget() {
      known.clear()
      touched.clear()
    },
  }
}

const NO_NEWS = {
  serverId: null,
  pid: null,
  hostname: null,
  bootId: null,
  node: null,
  beatMs: null,
  startedMs: null,
  lastSeenMs: null,
  exitedMs: null,
  exitCode: null,
}

const UPDATE_SQL = `
  UPDATE writer SET
    server_id = coalesce(@serverId, server_id),
    pid = coalesce(@pid, pid),
    hostname = coalesce(@hostname, hostname),
    boot_id = coalesce(@bootId, boot_id),
    node = coalesce(@node, node),
    beat_ms = coalesce(@beatMs, beat_ms),
    started_ms = coalesce(@startedMs, started_ms),
    last_seen_ms = max(coalesce(@lastSeenMs, 0), coalesce(last_seen_ms, 0)),
    exited_ms = coalesce(@exitedMs, exited_ms),
    exit_code = coalesce(@exitCode, exit_code)
  WHERE id = @id`
