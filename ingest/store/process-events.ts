import type { NameAndVersion } from '../../server/call-log/record.ts'
import { isObject, jsonTextOf, nameAndVersionOf, textOf } from '../formats/field-values.ts'
import type { EventFields } from '../formats/parsed-line.ts'
import type { Database } from './load-sqlite.ts'
import { QUARTER_MS } from './schema.ts'
import type { WriterNews } from './writers.ts'

/** A beat that comes later than so many intervals is a silence worth a row of its own. */
const OVERDUE = 2.5

type LastBeat = { rowId: number; atMs: number; beats: number; loopDelayMaxMs: number }

export type ProcessEvents = {
  store(writerId: number, n: number, event: EventFields): void
  forget(): void
}

/** Stores process records. Beats in a row share one row a quarter hour, so that growth is bounded. */
export function createProcessEvents(database: Database): ProcessEvents {
  const lastBeats = new Map<number, LastBeat>()
  const add = database.prepare(`
    INSERT INTO process_event (writer_id, n, kind, at_ms, detail) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (writer_id, n) DO NOTHING`)
  const replace = database.prepare(
    'UPDATE process_event SET n = ?, at_ms = ?, detail = ? WHERE id = ?',
  )

  function storeBeat(writerId: number, n: number, event: EventFields): void {
    const { record, atMs } = event
    const delay = numberOf(record.loop_delay_ms)
    const last = lastBeats.get(writerId)
    const follows = last !== undefined && followsOn(last, atMs, numberOf(record.beat_ms))
    const beat: LastBeat = {
      rowId: last?.rowId ?? 0,
      atMs,
      beats: follows ? last.beats + 1 : 1,
      loopDelayMaxMs: follows ? Math.max(last.loopDelayMaxMs, delay) : delay,
    }
    const detail = detailText({
      ...record,
      beats: beat.beats,
      loop_delay_max_ms: beat.loopDelayMaxMs,
    })
    if (follows) replace.run(n, atMs, detail, beat.rowId)
    else beat.rowId = Number(add.run(writerId, n, 'beat', atMs, detail).lastInsertRowid)
    lastBeats.set(writerId, beat)
  }

  return {
    store(writerId, n, event) {
      if (event.kind === 'beat') return storeBeat(writerId, n, event)
      add.run(writerId, n, event.kind, event.atMs, detailText(event.record))
    },
    forget: () => lastBeats.clear(),
  }
}

function followsOn(last: LastBeat, atMs: number, beatMs: number): boolean {
  const sameQuarter = Math.floor(last.atMs / QUARTER_MS) === Math.floor(atMs / QUARTER_MS)
  return sameQuarter && atMs >= last.atMs && atMs - last.atMs <= beatMs * OVERDUE
}

/** What a process record says about its writer's columns. */
export function newsOf(
  event: EventFields,
  serverId: (server: NameAndVersion) => number,
): WriterNews {
  const { record, kind, atMs } = event
  const server = nameAndVersionOf(record.server)
  const news: WriterNews = server ? { serverId: serverId(server) } : {}
  if (kind === 'start') {
    news.startedMs = atMs
    const node = textOf(record.node)
    if (node !== undefined) news.node = node
    const bootId = textOf(record.boot_id)
    if (bootId !== undefined) news.bootId = bootId
  }
  if (Number.isSafeInteger(record.beat_ms)) news.beatMs = record.beat_ms as number
  if (kind === 'exit') {
    news.exitedMs = atMs
    if (Number.isSafeInteger(record.code)) news.exitCode = record.code as number
  }
  return news
}

function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}

function detailText(record: unknown): string {
  return (isObject(record) ? jsonTextOf(record) : undefined) ?? '{"too_deep":true}'
}
