import type { CallFields } from '../formats/parsed-line.ts'
import type { Dictionaries } from './dictionaries.ts'
import { binOf } from './duration-bins.ts'
import type { Database } from './load-sqlite.ts'
import { type CountedCall, createRollup } from './rollup.ts'
import { createSignatures } from './signatures.ts'

/** Where a call's line stands, and under which number. */
export type CallPlace = {
  writerId: number
  n: number
  streamId: number
  offset: number
  /** CALL_FLAGS of the line, beyond those of its fields. */
  flags: number
}

/** Stores calls with all that belongs to them: text, signatures, counts. */
export type Calls = {
  /** The id of its server; undefined if the call is there already. */
  store(call: CallFields, place: CallPlace): number | undefined
  /** Takes a call out again, rows and counts. */
  remove(callId: number, counted: CountedCall): void
  /** Writes the counts; before the commit. */
  flush(): void
  forget(): void
}

export function createCalls(database: Database, dictionaries: Dictionaries): Calls {
  const rollup = createRollup(database)
  const signatures = createSignatures(database)
  const statements = prepareStatements(database)

  function addRow(call: CallFields, place: CallPlace, ids: Ids): number | undefined {
    const { changes, lastInsertRowid } = statements.addCall.run(
      call.startedMs,
      call.durationUs,
      binOf(call.durationUs),
      ids.serverId,
      ids.toolId,
      ids.clientId,
      call.session === undefined ? null : dictionaries.session(call.session),
      call.outcomeId,
      call.classId,
      call.flags | place.flags,
      call.argsKey,
      place.streamId,
      place.offset,
      place.writerId,
      place.n,
      ids.protocolId ?? null,
    )
    return changes === 0 ? undefined : Number(lastInsertRowid)
  }

  function addWords(callId: number, call: CallFields, toolId: number, detail: string): void {
    try {
      statements.addText.run(callId, call.uid, call.args, detail)
      if (call.issues.length > 0) {
        signatures.store(callId, toolId, call.server.name, call.tool, call.issues)
      }
    } catch (error) {
      removeRows(callId)
      throw error
    }
  }

  function removeRows(callId: number): void {
    for (const statement of statements.deleteCall) statement.run(callId)
  }

  return {
    store(call, place) {
      const tool = dictionaries.tool(call.server.name, call.tool)
      const ids = {
        serverId: dictionaries.server(call.server),
        toolId: tool.id,
        clientId: dictionaries.client(call.client),
        protocolId: call.protocol && dictionaries.protocol(...call.protocol),
      }
      const callId = addRow(call, place, ids)
      if (callId === undefined) return undefined
      addWords(callId, call, tool.id, detailOf(call, tool.kept, ids.protocolId))
      const { classId, outcomeId, startedMs, durationUs } = call
      rollup.count({ ...ids, classId, outcomeId, startedMs, durationUs })
      return ids.serverId
    },
    remove(callId, counted) {
      removeRows(callId)
      rollup.count(counted, -1)
    },
    flush: () => rollup.flush(),
    forget() {
      rollup.forget()
      signatures.forget()
    },
  }
}

type Ids = {
  serverId: number
  toolId: number
  clientId: number
  protocolId: number | undefined
}

/** With what its dictionaries would not take. */
function detailOf(call: CallFields, toolKept: boolean, protocolId: number | undefined): string {
  let { detail } = call
  if (!toolKept) detail = withKey(detail, 'tool', call.tool)
  if (call.protocol && protocolId === undefined) {
    const [version, transport] = call.protocol
    detail = withKey(withKey(detail, 'transport', transport), 'protocol', version)
  }
  return detail
}

function withKey(detail: string, key: string, value: string): string {
  const begin = `{"${key}":${JSON.stringify(value)}`
  return detail === '{}' ? `${begin}}` : `${begin},${detail.slice(1)}`
}

function prepareStatements(database: Database) {
  return {
    deleteCall: [
      database.prepare('DELETE FROM call_signature WHERE call_id = ?'),
      database.prepare('DELETE FROM call_text WHERE call_id = ?'),
      database.prepare('DELETE FROM call WHERE id = ?'),
    ],
    addCall: database.prepare(`
      INSERT INTO call
        (started_ms, duration_us, duration_bin, server_id, tool_id, client_id, session_id,
         outcome_id, class_id, flags, args_key, stream_id, line_offset, writer_id, n,
         protocol_id)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (writer_id, n) DO NOTHING`),
    addText: database.prepare(
      'INSERT INTO call_text (call_id, uid, args, detail) VALUES (?, ?, ?, ?)',
    ),
  }
}
