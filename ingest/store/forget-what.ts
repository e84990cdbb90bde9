import { OTHER } from './dictionaries.ts'
import type { Database } from './load-sqlite.ts'
import { cleanName } from './names.ts'
import { QUARTER_MS } from './schema.ts'

/** What is to be forgotten. */
export type ForgetWhat =
  | { what: 'session'; session: string }
  /** On every server that has it. */
  | { what: 'tool'; tool: string }
  /** Calls that began before; epoch ms. */
  | { what: 'before'; beforeMs: number }

/** As it was written to a request; undefined where that makes no sense. */
export function readForgetWhat(parameters: unknown): ForgetWhat | undefined {
  if (typeof parameters !== 'object' || parameters === null) return undefined
  const { what, session, tool, beforeMs } = parameters as Record<string, unknown>
  // Names as they are in the tables.
  if (what === 'session' && isText(session)) return { what, session: cleanName(session) }
  if (what === 'tool' && isText(tool)) return { what, tool: cleanName(tool) }
  if (what === 'before' && Number.isSafeInteger(beforeMs)) {
    return { what, beforeMs: beforeMs as number }
  }
  return undefined
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** About how many calls that is now, to ask before: those that are only counted any more included. */
export function countToForget(database: Database, what: ForgetWhat): number {
  const count = (sql: string, ...values: (string | number)[]): number =>
    database
      .prepare(sql)
      .pluck()
      .get(...values) as number
  switch (what.what) {
    case 'session':
      return count(
        'SELECT count(*) FROM call WHERE session_id = (SELECT id FROM session WHERE key = ?)',
        cleanName(what.session),
      )
    case 'tool':
      return count(
        `SELECT coalesce(sum(calls), 0) FROM quarter_count
          WHERE tool_id IN (SELECT id FROM tool WHERE name = ?)`,
        cleanName(what.tool),
      )
    case 'before':
      return count(
        `SELECT count(*) + (SELECT coalesce(sum(removed_calls), 0) FROM quarter_count WHERE quarter < ?)
          FROM call WHERE started_ms < ?`,
        Math.floor(what.beforeMs / QUARTER_MS),
        what.beforeMs,
      )
  }
}

/** Rows that one statement looks at: some milliseconds. */
const WINDOW_ROWS = 20_000

/**
 * Ids of the calls in question among those that are there now, at most `rows` at a time; an empty
 * list after a stretch without any, to let others have their turn. Each list must have been removed
 * before the next is asked for.
 */
export function* callsToForget(
  database: Database,
  what: ForgetWhat,
  rows: number,
): Generator<number[]> {
  const lastId = lastIdOf(database, 'call')
  if (what.what === 'tool') {
    yield* callsOfTool(database, what.tool, lastId, rows)
    return
  }
  const [sql, value] =
    what.what === 'session'
      ? ['session_id = (SELECT id FROM session WHERE key = ?)', what.session]
      : ['started_ms < ?', what.beforeMs]
  const find = database.prepare(`SELECT id FROM call WHERE ${sql} AND id <= ? LIMIT ?`).pluck()
  while (true) {
    const ids = find.all(value, lastId, rows) as number[]
    if (ids.length === 0) return
    yield ids
  }
}

/** There is no index of tools: the table is gone through once. */
function* callsOfTool(
  database: Database,
  tool: string,
  lastId: number,
  rows: number,
): Generator<number[]> {
  // Beyond the number of names that a server may have, a call's text has the name.
  const find = database
    .prepare(`
      SELECT id FROM call WHERE id > ? AND id <= ? AND (
        tool_id IN (SELECT id FROM tool WHERE name = ?)
        OR tool_id IN (SELECT id FROM tool WHERE name = '${OTHER}') AND EXISTS (
          SELECT 1 FROM call_text WHERE call_id = call.id AND detail ->> '$.tool' = ?))`)
    .pluck()
  for (const [after, to] of windows(lastId)) {
    const ids = find.all(after, to, tool, tool) as number[]
    for (let at = 0; at < ids.length; at += rows) yield ids.slice(at, at + rows)
    if (ids.length === 0) yield []
  }
}

/** Pairs of ids: after the one, up to the other. */
export function* windows(lastId: number): Generator<[after: number, to: number]> {
  for (let after = 0; after < lastId; after += WINDOW_ROWS) yield [after, after + WINDOW_ROWS]
}

export function lastIdOf(
  database: Database,
  table: 'call' | 'process_event' | 'quarantine',
): number {
  return database.prepare(`SELECT coalesce(max(id), 0) FROM ${table}`).pluck().get() as number
}
