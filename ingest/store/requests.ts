import { randomUUID } from 'node:crypto'
import { changeCounter } from './database-header.ts'
import type { Database } from './load-sqlite.ts'
import { openState, openStateIfAny, statePath } from './state-database.ts'

export type RequestKind = 'forget' | 'quarantine_retry' | 'import'

/** Something the readers' side asks of the one process that writes to the database. */
export type Request = {
  id: string
  /** One of RequestKind, or what a newer version knows. */
  kind: string
  parameters: unknown
  askedMs: number
}

export type Answer =
  | { outcome: 'done'; counts: Record<string, number> }
  /** `reason` is a sentence. */
  | { outcome: 'refused'; reason: string }

/** Puts a request where the ingester of this database looks; returns its id. Throws StoreError. */
export function placeRequest(
  databasePath: string,
  kind: RequestKind,
  parameters: unknown,
  nowMs: number,
): string {
  const id = randomUUID()
  const state = openState(databasePath)
  try {
    state
      .prepare('INSERT INTO request (id, kind, parameters, asked_ms) VALUES (?, ?, ?, ?)')
      .run(id, kind, JSON.stringify(parameters), nowMs)
  } finally {
    state.close()
  }
  return id
}

/** Takes it away, answered or not; false if it was gone. */
export function withdrawRequest(databasePath: string, id: string): boolean {
  const state = openStateIfAny(databasePath)
  if (!state) return false
  try {
    return state.prepare('DELETE FROM request WHERE id = ?').run(id).changes === 1
  } finally {
    state.close()
  }
}

/** The requests of a database, oldest first; looks into the file only when it has changed. */
export function createRequestInbox(databasePath: string): { waiting(): Request[] } {
  const path = statePath(databasePath)
  let seen: number | undefined
  let known: Request[] = []
  return {
    waiting() {
      const counter = changeCounter(path)
      if (counter !== undefined && counter === seen) return known
      known = counter === undefined ? [] : readRequests(databasePath)
      seen = counter
      return known
    },
  }
}

function readRequests(databasePath: string): Request[] {
  const state = openStateIfAny(databasePath)
  if (!state) return []
  try {
    const rows = state
      .prepare('SELECT id, kind, parameters, asked_ms FROM request ORDER BY asked_ms, id')
      .all() as { id: string; kind: string; parameters: string; asked_ms: number }[]
    return rows.map(({ id, kind, parameters, asked_ms }) => ({
      id,
      kind,
      parameters: JSON.parse(parameters) as unknown,
      askedMs: asked_ms,
    }))
  } finally {
    state.close()
  }
}

/** What became of a request, in the database; undefined while it waits. */
export function readAnswer(database: Database, id: string): Answer | undefined {
  const row = database.prepare('SELECT outcome, result FROM answer WHERE request_id = ?').get(id) as
    | { outcome: Answer['outcome']; result: string }
    | undefined
  return row && ({ outcome: row.outcome, ...JSON.parse(row.result) } as Answer)
}

export function writeAnswer(
  database: Database,
  request: Request,
  { outcome, ...result }: Answer,
  nowMs: number,
): void {
  database
    .prepare(`
      INSERT INTO answer (request_id, kind, answered_ms, outcome, result) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT DO NOTHING`)
    .run(request.id, request.kind, nowMs, outcome, JSON.stringify(result))
}
