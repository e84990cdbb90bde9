import { type DetailColumns, expandDetail } from '../../ingest/store/call-detail.ts'
import { CALL_FLAGS } from '../../ingest/store/schema.ts'
import type { CallRow } from './call-store.ts'
import { classOf, outcomeOf } from './counting.ts'
import type { Names } from './names.ts'
import type { CallDbRow } from './sql/calls.ts'

export function toCallRow(row: CallDbRow, names: Names): CallRow {
  const detail = parseDetail(row)
  const server = names.servers.get(row.server_id)
  const message = isObject(detail.error) ? detail.error.message : undefined
  return {
    id: row.id,
    uid: row.uid,
    startedMs: row.started_ms,
    durationMs: row.duration_us / 1000,
    server: server?.name ?? '',
    serverVersion: server?.version ?? '',
    tool: names.tools.get(row.tool_id)?.name ?? '',
    client: row.client_id === 0 ? undefined : names.clients.get(row.client_id)?.name,
    session: row.session ?? undefined,
    outcome: outcomeOf(row.outcome_id),
    class: classOf(row.class_id),
    errorMessage: typeof message === 'string' ? message : undefined,
    attempts: Array.isArray(detail.attempts) ? detail.attempts.length : 0,
    flags: {
      empty: (row.flags & CALL_FLAGS.empty) !== 0,
      suspect: (row.flags & CALL_FLAGS.suspect) !== 0,
      dropped: (row.flags & CALL_FLAGS.dropped) !== 0,
      undelivered: (row.flags & CALL_FLAGS.undelivered) !== 0,
    },
    args: row.args ?? undefined,
  }
}

/** Written by the ingester as JSON; a row that some other hand has spoilt must not break a page. */
export function parseDetail(row: CallDbRow): Record<string, unknown> {
  try {
    const detail: unknown = JSON.parse(row.detail)
    return isObject(detail) ? expandDetail(detail, columnsOf(row)) : { unreadable: row.detail }
  } catch {
    return { unreadable: row.detail }
  }
}

function columnsOf({ args_key, protocol, transport }: CallDbRow): DetailColumns {
  const known = protocol !== null && transport !== null
  return { argsKey: args_key, protocol: known ? [protocol, transport] : undefined }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
