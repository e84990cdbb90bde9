import { parseDetail, toCallRow } from './call-rows.ts'
import type { CallDetail, CallPage } from './call-store.ts'
import { rangeOnly, removedOf, totalOf } from './count-questions.ts'
import { type Cursor, parseCursor, printCursor } from './cursor.ts'
import type { Filter } from './filter.ts'
import { lateEndingsOf } from './late-questions.ts'
import type { Reader } from './reader.ts'
import { searchBound } from './search-bound.ts'
import {
  AFTER_IN_SESSION,
  BEFORE_IN_SESSION,
  type CallDbRow,
  type CallDetailDbRow,
  ONE_CALL,
  pageRows,
  type StartRow,
  startRows,
} from './sql/calls.ts'
import type { CallCondition } from './sql/conditions.ts'

export const MAX_PAGE_ROWS = 500
const NEIGHBOURS = 5

/** Throws InvalidCursorError for a cursor that no page has given out. */
export function calls(
  reader: Reader,
  filter: Filter,
  page: { limit: number; cursor?: string | undefined },
): CallPage {
  const limit = Math.min(MAX_PAGE_ROWS, Math.max(1, Math.trunc(page.limit)))
  const cursor = readCursor(page.cursor)
  const where = cheapestOrder(reader, filter)
  const place = cursor ? [cursor.startedMs, cursor.id] : []
  // One row more than asked for tells whether there is a next page.
  const values = [...where.values, ...place, limit + 1]
  const found = reader.all<CallDbRow>(pageRows(where, cursor !== undefined), values)
  const rows = found.slice(0, limit).map((row) => toCallRow(row, reader.names()))
  const last = rows.at(-1)
  return {
    rows,
    total: totalOf(reader, filter),
    removed: removedOf(reader, filter),
    next: found.length > limit && last ? printCursor(last) : undefined,
    search: filter.text === undefined ? undefined : searchBound(reader, filter),
  }
}

/**
 * Newest first from the index of times reads about limit × calls ÷ matches rows before the page is
 * full; the index of failures reads all matches and sorts them. Neither reads more than about
 * √(limit × calls) rows where it is chosen.
 */
function cheapestOrder(reader: Reader, filter: Filter): CallCondition {
  const { calls: byFailure, callsByTime } = reader.select(filter)
  if (byFailure === callsByTime) return callsByTime
  const matches = totalOf(reader, filter)
  const inRange = totalOf(reader, rangeOnly(filter))
  return matches * matches < MAX_PAGE_ROWS * inRange ? byFailure : callsByTime
}

export class InvalidCursorError extends Error {
  override name = 'InvalidCursorError'
}

function readCursor(text: string | undefined): Cursor | undefined {
  if (text === undefined || text === '') return undefined
  const cursor = parseCursor(text)
  if (cursor) return cursor
  throw new InvalidCursorError(
    `${JSON.stringify(text.slice(0, 60))} is no cursor: take it from the link to the next page, or leave it out`,
  )
}

export function startTimes(reader: Reader, filter: Filter, limit: number): number[] {
  const { calls: where } = reader.select(filter)
  const rows = reader.all<StartRow>(startRows(where), [...where.values, limit])
  return rows.map((row) => row.started_ms)
}

export function call(reader: Reader, id: number): CallDetail | undefined {
  if (!Number.isSafeInteger(id)) return undefined
  const row = reader.first<CallDetailDbRow>(ONE_CALL, [id])
  if (!row) return undefined
  const names = reader.names()
  const place = [row.session_id, row.started_ms, row.id, NEIGHBOURS]
  const neighbours = (sql: string) =>
    row.session_id === null
      ? []
      : reader.all<CallDbRow>(sql, place).map((other) => toCallRow(other, names))
  return {
    ...toCallRow(row, names),
    clientVersion: row.client_id === 0 ? undefined : names.clients.get(row.client_id)?.version,
    detail: parseDetail(row),
    file: row.path,
    lineOffset: row.line_offset,
    writer: row.w,
    n: row.n,
    late: lateEndingsOf(reader, row).map(({ ms, outcome }) => ({ ms, outcome })),
    neighbours: [...neighbours(BEFORE_IN_SESSION), ...neighbours(AFTER_IN_SESSION)],
  }
}
