import type { CallRecord, EndedBy, LogRecord } from '../server/call-log/record.ts'
import { callRecord } from './call-events.ts'
import { milliseconds, stackOf } from './failures.ts'
import type { Plant } from './planted.ts'
import type { Random } from './random.ts'
import {
  type CallEvent,
  callsRunningAt,
  type Plan,
  type Process,
  type Queue,
} from './simulation.ts'
import type { Tally } from './tally.ts'
import { CLIENTS, CUSTOMERS } from './world.ts'

/** How long the call had been running that took its process with it. */
const GUILTY_CALL_MS = 380

type EndingContext = {
  process: Process
  queue: Queue
  plan: Plan
  tally: Tally
  write(process: Process, record: LogRecord, atMs: number): void
  random: Random
}

/** The last records of a process, if it has any to write, and what becomes of its open calls. */
export function endProcess(context: EndingContext, atMs: number): void {
  const { process, write } = context
  switch (process.life.ending) {
    case 'exit':
      closeOpenCalls(context, atMs, 'shutdown', 'shutdown')
      write(process, { kind: 'exit', code: 0, reason: 'SIGTERM' }, atMs)
      break
    case 'crash':
      crash(context, atMs)
      break
    case 'death':
      withdrawOpenCalls(context, atMs)
      break
    case 'fatal':
      refuseToStart(context, atMs)
      break
  }
  process.log?.end()
  process.fileNames = process.log?.fileNames() ?? []
  process.log = undefined
}

function crash(context: EndingContext, atMs: number): void {
  const { process, write, plan } = context
  const guilty = guiltyCall(context, atMs)
  process.crashedCall = guilty.record.call
  plan.calls += 1
  closeCall(context, guilty, atMs, 'self', 'crash')
  closeOpenCalls(context, atMs, 'other', 'crash')
  write(
    process,
    {
      kind: 'fatal',
      error: {
        class: 'unexpected',
        name: 'TypeError',
        message: "Cannot read properties of undefined (reading 'total')",
        stack: stackOf('create_invoice'),
      },
      call: guilty.record.call,
    },
    atMs,
  )
  write(process, { kind: 'exit', code: 1, reason: 'uncaughtException' }, atMs)
}

function refuseToStart({ process, write }: EndingContext, atMs: number): void {
  const message =
    'The environment variable BILLING_EXPORT_KEY is not set: set it to the key of the export API.'
  write(process, { kind: 'fatal', error: { class: 'fatal', name: 'FatalError', message } }, atMs)
  write(process, { kind: 'exit', code: 78, reason: 'FatalError' }, atMs)
}

function guiltyCall({ process, random }: EndingContext, atMs: number): CallEvent {
  const args = {
    customer: random.pick(CUSTOMERS),
    amountCents: 0,
    currency: 'EUR',
    due: '2026-05-31',
  }
  const record = callRecord({
    process,
    step: { tool: 'create_invoice', args },
    fate: { outcome: 'failed', durationMs: GUILTY_CALL_MS, attempts: [] },
    caller: { session: random.hex(16), client: nameAndVersion(random) },
    request: 4,
    startedMs: atMs - GUILTY_CALL_MS,
  })
  return { kind: 'call', process, record }
}

function nameAndVersion(random: Random): { name: string; version: string } {
  const { name, version } = random.pick(CLIENTS)
  return { name, version }
}

function closeOpenCalls(context: EndingContext, atMs: number, by: EndedBy, plant: Plant): void {
  for (const event of callsRunningAt(context.queue, context.process, atMs)) {
    closeCall(context, event, atMs, by, plant)
  }
}

function closeCall(
  { process, tally, write }: EndingContext,
  event: CallEvent,
  atMs: number,
  by: EndedBy,
  plant: Plant,
): void {
  const ms = milliseconds(atMs - event.record.started)
  const record: CallRecord = {
    ...event.record,
    duration_ms: ms,
    handler_ms: ms,
    outcome: 'failed',
    attempts: [{ ms, class: 'crashed' }],
    error: { class: 'crashed', message: 'The process ended during the call.', by },
    dropped: undefined,
    issues: undefined,
    result: undefined,
    delivered: false,
    retry_suppressed: undefined,
  }
  event.withdrawn = true
  tally.written({ ...event, record, plant, first: undefined, corrects: undefined })
  write(process, record, atMs)
}

/** Nobody is left to write them down. */
function withdrawOpenCalls({ process, queue, plan }: EndingContext, atMs: number): void {
  for (const event of callsRunningAt(queue, process, atMs)) {
    event.withdrawn = true
    if (!event.hanging) plan.calls -= 1
  }
}
