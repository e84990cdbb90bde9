import type { SessionCall } from '../queries/call-store.ts'

/** Longest pause between an answer and the next try of one loop. */
const MAX_GAP_MS = 10 * 60_000
const MIN_REPEATS = 3
/** Other calls between two tries: one look elsewhere does not break a loop. */
const MAX_BETWEEN = 1
/** Two equal calls that begin this close together are one call sent twice. */
const DUPLICATE_MS = 50

export type LoopEnding =
  /** The same call succeeded in the end. */
  | 'recovered'
  /** The tool was called with other arguments. */
  | 'changed_arguments'
  | 'switched_tool'
  /** Nothing more came within ten minutes. */
  | 'gave_up'
  /** The last try is less than ten minutes old. */
  | 'still_running'

/** The same call, failing the same way, again and again. */
export type RetryLoop = {
  /** At least three, in order; without duplicates of the transport. */
  calls: SessionCall[]
  /** The same call sent twice at once; not among `calls`. */
  duplicates: SessionCall[]
  ending: LoopEnding
  /** All tries but the first. */
  wastedCalls: number
  /** From the first answer to the last. */
  wastedMs: number
  /** Pauses between an answer and the next try. */
  gapsMs: number[]
}

type Run = { calls: SessionCall[]; duplicates: SessionCall[]; lastIndex: number }

/** `calls`: whole sessions, each in the order of time; sessions one after the other. */
export function findLoops(calls: readonly SessionCall[], nowMs: number): RetryLoop[] {
  return bySession(calls).flatMap((session) => loopsOfSession(session, nowMs))
}

function bySession(calls: readonly SessionCall[]): SessionCall[][] {
  const sessions: SessionCall[][] = []
  for (const call of calls) {
    const current = sessions.at(-1)
    if (current?.[0]?.session === call.session) current.push(call)
    else sessions.push([call])
  }
  return sessions
}

function loopsOfSession(session: readonly SessionCall[], nowMs: number): RetryLoop[] {
  const runs = new Map<string, Run>()
  const loops: RetryLoop[] = []
  const close = (run: Run | undefined) => {
    if (run && run.calls.length >= MIN_REPEATS) loops.push(toLoop(run, session, nowMs))
  }
  for (const [index, call] of session.entries()) {
    if (call.argsKey === undefined) continue
    const key = `${call.server}\n${call.tool}\n${call.argsKey}`
    const run = runs.get(key)
    if (run && isDuplicate(run, call)) {
      run.duplicates.push(call)
      run.lastIndex = index
    } else if (run && continues(run, call, index)) {
      run.calls.push(call)
      run.lastIndex = index
    } else {
      close(run)
      runs.delete(key)
      if (call.outcome === 'failed')
        runs.set(key, { calls: [call], duplicates: [], lastIndex: index })
    }
  }
  for (const run of runs.values()) close(run)
  return loops.sort((a, b) => startOf(a) - startOf(b))
}

function startOf({ calls }: RetryLoop): number {
  return calls[0]?.startedMs ?? 0
}

function lastOf(run: Run): SessionCall | undefined {
  return run.calls.at(-1)
}

/** A call with its own request id is a new try, however fast; the same id, or no pause, is not. */
function isDuplicate(run: Run, call: SessionCall): boolean {
  const last = lastOf(run)
  if (!last) return false
  const sameRequest = call.request !== undefined && call.request === last.request
  const together = call.startedMs - last.startedMs < DUPLICATE_MS
  return together || (sameRequest && call.startedMs < endOf(last))
}

function continues(run: Run, call: SessionCall, index: number): boolean {
  const last = lastOf(run)
  return (
    last !== undefined &&
    call.outcome === 'failed' &&
    call.class === last.class &&
    call.startedMs - endOf(last) <= MAX_GAP_MS &&
    index - run.lastIndex - 1 <= MAX_BETWEEN
  )
}

function endOf(call: SessionCall): number {
  return call.startedMs + call.durationMs
}

function toLoop(run: Run, session: readonly SessionCall[], nowMs: number): RetryLoop {
  const { calls, duplicates } = run
  const [first, last] = [calls[0], calls.at(-1)]
  if (!first || !last) throw new RangeError('a loop has calls')
  const gapsMs = calls.slice(1).map((call, i) => call.startedMs - endOf(calls[i] ?? call))
  return {
    calls,
    duplicates,
    ending: endingOf(last, session.slice(run.lastIndex + 1), nowMs),
    wastedCalls: calls.length - 1,
    wastedMs: endOf(last) - endOf(first),
    gapsMs,
  }
}

function endingOf(last: SessionCall, rest: readonly SessionCall[], nowMs: number): LoopEnding {
  const soon = rest.filter((call) => call.startedMs - endOf(last) <= MAX_GAP_MS)
  const isSameTool = (call: SessionCall) => call.tool === last.tool && call.server === last.server
  const worked = (call: SessionCall) => call.outcome === 'succeeded' || call.outcome === 'retried'
  const again = soon.find((call) => isSameTool(call) && call.argsKey === last.argsKey)
  if (again && worked(again)) return 'recovered'
  const [next] = soon
  if (next) return isSameTool(next) ? 'changed_arguments' : 'switched_tool'
  return nowMs - endOf(last) <= MAX_GAP_MS ? 'still_running' : 'gave_up'
}
