import { argumentsHash } from '../server/call-log/canonical-json.ts'
import type { CallRecord } from '../server/call-log/record.ts'
import type { Fate } from './fate.ts'
import type { Step } from './script.ts'
import type { CallEvent, Caller, Process, Queue } from './simulation.ts'
import { PROTOCOL } from './world.ts'

export type NewCall = {
  process: Process
  step: Step
  fate: Fate
  caller: Caller
  request: number
  startedMs: number
}

/** Puts the call where its end is, and the late end of its handler after that. */
export function enqueueCall(queue: Queue, call: NewCall): CallEvent {
  const { process, step, fate, startedMs } = call
  const event: CallEvent = {
    kind: 'call',
    process,
    record: callRecord(call),
    plant: fate.plant,
    first: step.first,
    corrects: step.corrects,
  }
  queue.push(startedMs + fate.durationMs, event)
  if (fate.lateMs !== undefined) {
    queue.push(startedMs + fate.lateMs, {
      kind: 'late',
      process,
      record: {
        kind: 'late',
        call: event.record.call,
        tool: step.tool,
        ms: fate.lateMs,
        outcome: 'succeeded',
      },
    })
  }
  return event
}

export function callRecord({
  process,
  step,
  fate,
  caller,
  request,
  startedMs,
}: NewCall): CallRecord {
  const { life } = process
  process.calls += 1
  return {
    kind: 'call',
    server: { name: life.server, version: life.version },
    call: `${life.callPrefix}-${process.calls.toString(36)}`,
    tool: step.tool,
    request,
    session: caller.session,
    client: caller.client,
    protocol: PROTOCOL,
    transport: 'http',
    trace: caller.trace,
    started: startedMs,
    duration_ms: fate.durationMs,
    handler_ms: fate.handlerMs,
    args_hash: argumentsHash(step.args),
    dropped: fate.dropped,
    outcome: fate.outcome,
    attempts: fate.attempts,
    error: fate.error,
    issues: fate.issues,
    result: fate.result,
    delivered: fate.delivered,
    retry_suppressed: fate.retrySuppressed,
    args: step.args,
  }
}
