import type { BeatRecord } from '../call-log/record.ts'
import type { CallLog } from '../call-log/writer.ts'
import { readProperty } from '../safe-read.ts'
import { callContext, type Ending, type OpenCall } from './open-call.ts'
import { plainError, recordedError } from './recorded-error.ts'

const MAX_BEAT_CALLS = 20

const registries = new WeakMap<CallLog, Set<OpenCall>>()

/**
 * The calls that have not ended, by log. Each log is asked once for its hooks, however many servers
 * and transports write to it: stateless servers make new ones for every request.
 */
export function openCallsOf(log: CallLog): Set<OpenCall> {
  const known = registries.get(log)
  if (known) return known
  const calls = new Set<OpenCall>()
  registries.set(log, calls)
  log.onBeat(() => beatOf(calls))
  log.onCrash((error) => closeAtCrash(calls, error))
  log.onExit((code) => closeAtExit(calls, code))
  return calls
}

function beatOf(calls: Set<OpenCall>): BeatRecord['open'] {
  // Insertion order is age: the oldest come first.
  return [...calls]
    .slice(0, MAX_BEAT_CALLS)
    .map((call) => ({ call: call.id, tool: call.tool, ms: call.ageMs }))
}

/**
 * An exception that nobody caught ends the process and every call with it. The one whose code threw
 * is known by its async context, even from a timer that outlived its answer.
 */
function closeAtCrash(calls: Set<OpenCall>, error: unknown): string | undefined {
  const context = callContext.getStore()
  // The client has gone; that a call's answer was the write which found out makes it no culprit.
  const guilty = isBrokenPipe(error) ? undefined : context
  // Then the application decides whether the process goes on, and the calls with it.
  if (process.listenerCount('uncaughtException') > 0) return guilty?.id
  if (process.hasUncaughtExceptionCaptureCallback()) return guilty?.id
  for (const call of [...calls]) {
    call.close(call.answering ?? crashEnding(error, call === guilty ? 'self' : 'other'))
  }
  return guilty?.id
}

function closeAtExit(calls: Set<OpenCall>, code: number): void {
  const caller = callContext.getStore()
  for (const call of [...calls]) call.close(call.answering ?? exitEnding(code, call === caller))
}

function crashEnding(error: unknown, by: 'self' | 'other'): Ending {
  return {
    outcome: 'failed',
    error: recordedError(error, { class: 'crashed', transient: false, by }),
    delivered: false,
  }
}

function exitEnding(code: number, own: boolean): Ending {
  const message = own
    ? `the tool itself ended the process with exit code ${code}`
    : `the process ended with exit code ${code} before the call did`
  return {
    outcome: 'failed',
    error: { ...plainError('crashed', message), by: own ? 'self' : 'shutdown' },
    delivered: false,
  }
}

function isBrokenPipe(error: unknown): boolean {
  return readProperty(error, 'code') === 'EPIPE' && readProperty(error, 'syscall') === 'write'
}
