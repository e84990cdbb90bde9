/**
 * The rules of the table, the same for every column.
 *
 * What the client saw, by what its SDK (v1, the same for all) gave it within one second:
 *   cause    an error that names the cause: `isError: true`, or a JSON-RPC error, or an answer that
 *            the client's own SDK refused, whose words match the fault's `cause`
 *   vague    any other error
 *   warned   a success with words beside the tool's own that name the fault, or say of an answer
 *            that says nothing that it may be a failure
 *   healed   the right answer: the fault did no harm
 *   EMPTY    a success without a word or datum
 *   WRONG    any other success
 *   none     no answer: the client gave up by itself (twice, where the fault is not a hang, so that
 *            a busy machine is not taken for one)
 *   lost     the connection ended
 *
 * What the log shows: whether the column's own records, or stderr, hold anything that marks this
 * call or this process's end as other than fine. A call's plain record, a success or one that never
 * ended, is no mark. See entries.ts for the words of each column.
 *
 *   silent      the client was not told (EMPTY, WRONG, none, lost), and the log has no mark
 *   misled      the client took a failure for data (EMPTY, WRONG)
 *   unexplained neither the client (cause, warned, healed) nor a mark in the log says what happened
 */
import type { Fault } from './fault.ts'

export type Outcome =
  | { kind: 'result'; result: Record<string, unknown> }
  | { kind: 'error'; code: number | undefined; message: string }

export const SAW = ['cause', 'vague', 'warned', 'healed', 'EMPTY', 'WRONG', 'none', 'lost'] as const
export type Saw = (typeof SAW)[number]

export type Verdict = {
  saw: Saw
  logged: boolean
  silent: boolean
  misled: boolean
  unexplained: boolean
}

const REQUEST_TIMEOUT = -32001
const CONNECTION_CLOSED = -32000

export function whatClientSaw(fault: Fault, outcome: Outcome): Saw {
  if (outcome.kind === 'error') {
    if (outcome.code === REQUEST_TIMEOUT) return 'none'
    if (outcome.code === CONNECTION_CLOSED) return 'lost'
    return fault.cause.test(outcome.message) ? 'cause' : 'vague'
  }
  const { result } = outcome
  const words = wordsOf(result)
  if (result.isError === true) return fault.cause.test(words) ? 'cause' : 'vague'
  if (fault.healed?.test(words)) return 'healed'
  if (fault.warning?.test(words)) return 'warned'
  return words.trim() === '' && !hasData(result.structuredContent) ? 'EMPTY' : 'WRONG'
}

export function judge(fault: Fault, outcome: Outcome, logged: boolean): Verdict {
  const saw = whatClientSaw(fault, outcome)
  const misled = saw === 'EMPTY' || saw === 'WRONG'
  const told = !misled && saw !== 'none' && saw !== 'lost'
  const explained = logged || saw === 'cause' || saw === 'warned' || saw === 'healed'
  return { saw, logged, silent: !told && !logged, misled, unexplained: !explained }
}

export function wordsOf(result: Record<string, unknown>): string {
  const blocks = Array.isArray(result.content) ? result.content : []
  return blocks
    .map((block: unknown) =>
      typeof block === 'object' && block !== null && 'text' in block ? String(block.text) : '',
    )
    .join('\n')
    .trim()
}

function hasData(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
}
