import type { CallFields, EventFields, ParsedLine, Stamp } from '../formats/parsed-line.ts'
import type { Database } from './load-sqlite.ts'
import { CALL_FLAGS } from './schema.ts'
import type { Writer, Writers } from './writers.ts'

/** How many processes with one writer id are told apart. */
const MAX_CONFLICTS = 100

type RecordLine = Extract<ParsedLine, { fate: 'call' | 'event' }>
type StoredCall = { uid: string; started_ms: number; flags: number }
type StoredEvent = { kind: string; at_ms: number }

/** Decides under which writer a stamped line is stored: what makes doubling impossible. */
export type Claims = {
  /**
   * The writer, its n taken; undefined if the line is there already. Another line under the same
   * (w, n) comes from a copy of the process: it goes to a writer of its own, so that neither is lost.
   */
  claim(stamp: Stamp, line: RecordLine): Writer | undefined
  /** The same for a line that was refused when its n was taken: only a row says that it is there. */
  reclaim(stamp: Stamp): Writer | undefined
}

export function createClaims(database: Database, writers: Writers): Claims {
  const findCall = database.prepare(`
    SELECT call_text.uid, call.started_ms, call.flags FROM call
    JOIN call_text ON call_text.call_id = call.id
    WHERE call.writer_id = ? AND call.n = ?`)
  const findEvent = database.prepare(
    'SELECT kind, at_ms FROM process_event WHERE writer_id = ? AND n = ?',
  )

  function isStored(writerId: number, n: number, line: RecordLine): boolean {
    const call = findCall.get(writerId, n) as StoredCall | undefined
    const event = findEvent.get(writerId, n) as StoredEvent | undefined
    // Neither: removed since, or a beat that shares a later one's row.
    if (!call && !event) return true
    return line.fate === 'call' ? isSameCall(call, line.call) : isSameEvent(event, line.event)
  }

  return {
    claim(stamp, line) {
      const first = writers.stamped(stamp.w)
      let writer = first
      for (let copy = 2; copy <= MAX_CONFLICTS; copy += 1) {
        if (writer.ranges?.add(stamp.n)) return writer
        if (isStored(writer.id, stamp.n, line)) return undefined
        writer = writers.stamped(`${stamp.w}~${copy}`, first.id)
      }
      return undefined
    },
    reclaim({ w, n }) {
      const writer = writers.stamped(w)
      writer.ranges?.add(n)
      return (findCall.get(writer.id, n) ?? findEvent.get(writer.id, n)) ? undefined : writer
    },
  }
}

function isSameCall(stored: StoredCall | undefined, call: CallFields): boolean {
  if (!stored || stored.uid !== call.uid) return false
  // Where the time was unknown, started_ms is when it was read.
  const timeKnown = ((stored.flags | call.flags) & CALL_FLAGS.clock) === 0
  return !timeKnown || stored.started_ms === call.startedMs
}

function isSameEvent(stored: StoredEvent | undefined, event: EventFields): boolean {
  return stored !== undefined && stored.kind === event.kind && stored.at_ms === event.atMs
}
