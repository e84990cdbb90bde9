import { classifyAbort } from './classify.ts'
import type { JsonRpcId } from './mcp-shapes.ts'
import type { Ending, OpenCall } from './open-call.ts'
import { openCallsOf } from './open-calls.ts'
import { plainError } from './recorded-error.ts'
import type { WrapperContext } from './wrapper-context.ts'

/** How a call ends whose client said that it gives up. */
export function cancelledEnding(reason: string): Ending {
  const { class: kind, by } = classifyAbort(reason)
  const message = reason || 'cancelled by the client'
  return { outcome: 'failed', error: { ...plainError(kind, message), by } }
}

type Abandoned = Pick<OpenCall, 'init' | 'ageMs' | 'givenUp'>

/** How a call ends whose client went away before the answer. */
export function disconnectedEnding(call: Abandoned): Ending {
  const said = call.givenUp
  if (said !== undefined) return { ...cancelledEnding(said), delivered: false }
  const seconds = waitedLimitS(call)
  const error =
    seconds === undefined
      ? plainError('cancelled', 'the client closed the connection before the answer')
      : plainError('timeout', `the client closed the connection after ${seconds} s of waiting`)
  return { outcome: 'failed', error: { ...error, by: 'client' }, delivered: false }
}

const LIMIT_STEP_MS = 10_000
const LIMIT_TOLERANCE_MS = 200

/**
 * From revision 2026-07-28 on a client over HTTP closes the exchange, both when its time is up and
 * when somebody changed their mind, and sends no word of which. Only the time tells: limits are
 * whole tens of seconds (60 in the SDKs), and few people stop a call right on one.
 */
function waitedLimitS({ init, ageMs }: Abandoned): number | undefined {
  if (init.transport !== 'http' || !init.modern) return undefined
  const limitMs = Math.round(ageMs / LIMIT_STEP_MS) * LIMIT_STEP_MS
  const isLimit = limitMs > 0 && Math.abs(ageMs - limitMs) <= LIMIT_TOLERANCE_MS
  return isLimit ? limitMs / 1_000 : undefined
}

/**
 * Without sessions a cancellation arrives at another transport than its call did, with nothing but
 * the request's id, which other clients use too. So it ends no call; if the client of the only one
 * with that id then goes away, it says why.
 */
export function noteGivenUp(context: WrapperContext, id: JsonRpcId, reason: string): void {
  if (!context.log) return
  const [only, ...others] = [...openCallsOf(context.log)].filter(
    ({ init }) => init.request === id && init.transport === 'http' && init.session === undefined,
  )
  if (only && others.length === 0) only.givenUp = reason
}
