import type { CallRecord, LateRecord } from '../server/call-log/record.ts'
import type { EventQueue } from './event-queue.ts'
import type { Life } from './lives.ts'
import type { Plant } from './planted.ts'
import type { ProcessLog } from './write-logs.ts'

/** A life while it is lived. */
export type Process = {
  life: Life
  /** From its start to its end. */
  log: ProcessLog | undefined
  /** Known at its end. */
  fileNames: string[]
  /** Calls so far: their ids count up. */
  calls: number
  /** Records still to be lost to a full disk, and the first that was. */
  losing: { left: number; fromN: number | undefined }
  lost?: { fromN: number; toN: number }
  /** The call that took it down, if one did. */
  crashedCall?: string
}

export type CallEvent = {
  kind: 'call'
  process: Process
  record: CallRecord
  plant?: Plant | undefined
  first?: true | undefined
  corrects?: true | undefined
  /** It never comes to an end: known only from the beats. */
  hanging?: true | undefined
  /** It has been dealt with before its time. */
  withdrawn?: true | undefined
}

export type SimulationEvent =
  | CallEvent
  | { kind: 'late'; process: Process; record: LateRecord }
  | { kind: 'start' | 'beat' | 'rotate' | 'lose' | 'end'; process: Process }

export type Queue = EventQueue<SimulationEvent>

/** Calls that will be written if nothing happens to their process. */
export type Plan = { calls: number }

export type Caller = {
  session: string
  client: { name: string; version: string }
  trace?: string | undefined
}

/** The calls of the process that run at that time, oldest first. */
export function callsRunningAt(queue: Queue, process: Process, atMs: number): CallEvent[] {
  const running: CallEvent[] = []
  for (const event of queue.waiting()) {
    if (event.kind !== 'call' || event.process !== process || event.withdrawn) continue
    if (event.record.started <= atMs) running.push(event)
  }
  return running.sort((one, other) => one.record.started - other.record.started)
}
