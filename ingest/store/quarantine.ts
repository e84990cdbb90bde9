import type { RefusalReason } from '../formats/parsed-line.ts'
import type { Database } from './load-sqlite.ts'

export type RefusedPiece = {
  offset: number
  lineNumber: number
  bytes: number
  /** 0 where it goes on with the line before. */
  lines: number
  reason: RefusalReason
  /** Of the first line, at most its first MiB. */
  sha256: string
  sample: Buffer
}

/** A row of the table: a piece, or a run of pieces of one reason. */
export type RefusedEntry = {
  id: number
  streamId: number
  offset: number
  lineNumber: number
  bytes: number
  lines: number
  reason: string
  sha256: string
  seenMs: number
}

/** Keeps where refused lines are and why. A run of one reason is one row with a count. */
export type Quarantine = {
  /** Returns how many lines it counted: a hole that goes on is not a new one. */
  store(streamId: number, piece: RefusedPiece, nowMs: number): number
  remove(entry: RefusedEntry): void
  forget(): void
}

type Last = { id: number; end: number; reason: string }

export function createQuarantine(database: Database): Quarantine {
  const lasts = new Map<number, Last | undefined>()
  const findLast = database.prepare(`
    SELECT id, line_offset + length_bytes AS end, reason FROM quarantine
    WHERE stream_id = ? ORDER BY line_offset DESC LIMIT 1`)
  const add = database.prepare(`
    INSERT INTO quarantine
      (stream_id, line_offset, line_number, length_bytes, lines, reason, sha256, sample, seen_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const extend = database.prepare(`
    UPDATE quarantine SET length_bytes = length_bytes + ?, lines = lines + ? WHERE id = ?`)

  const remove = database.prepare('DELETE FROM quarantine WHERE id = ?')

  return {
    remove({ id, streamId }) {
      remove.run(id)
      lasts.delete(streamId)
    },
    store(streamId, piece, nowMs) {
      if (!lasts.has(streamId)) lasts.set(streamId, findLast.get(streamId) as Last | undefined)
      const last = lasts.get(streamId)
      const end = piece.offset + piece.bytes
      if (last && last.end === piece.offset && last.reason === piece.reason) {
        const lines = piece.reason === 'nul_run' ? 0 : piece.lines
        extend.run(piece.bytes, lines, last.id)
        last.end = end
        return lines
      }
      const lines = Math.max(1, piece.lines)
      const { lastInsertRowid } = add.run(
        streamId,
        piece.offset,
        piece.lineNumber,
        piece.bytes,
        lines,
        piece.reason,
        piece.sha256,
        piece.sample,
        nowMs,
      )
      lasts.set(streamId, { id: Number(lastInsertRowid), end, reason: piece.reason })
      return lines
    },
    forget: () => lasts.clear(),
  }
}
