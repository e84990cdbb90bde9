import { performance } from 'node:perf_hooks'
import type { LateRecord, Transport } from '../call-log/record.ts'
import { fingerprint } from '../call-log/redact.ts'
import { readString } from '../safe-read.ts'
import { cancelledEnding, disconnectedEnding, noteGivenUp } from './client-gone.ts'
import { nounFor } from './content-shape.ts'
import { droppedArguments } from './dropped-arguments.ts'
import { isId, isRecord, type JsonRpcId, type JsonRpcMessage } from './mcp-shapes.ts'
import { type CallInit, callContext, type Ending, OpenCall } from './open-call.ts'
import { openCallsOf } from './open-calls.ts'
import { type Peer, senderOf } from './peer.ts'
import { roundedMs } from './rounded-ms.ts'
import type { WrapperContext } from './wrapper-context.ts'

/** The open calls of one transport. */
export type LiveCalls = {
  open(message: JsonRpcMessage, extra: unknown): OpenCall
  /** The call an answer belongs to; `late` where that call has been closed and answered already. */
  answeredBy(answer: JsonRpcMessage): OpenCall | 'late' | undefined
  cancel(params: unknown): void
  /** Nobody will read the answer that went out under this id. */
  unread(id: JsonRpcId): void
  close(call: OpenCall, ending: Ending): void
  /** The client has gone. */
  closeAll(): void
  expectList(id: JsonRpcId): void
  isExpectedList(id: JsonRpcId): boolean
}

const MAX_EXPECTED_LISTS = 100
/** A client's word that it has given up comes within moments of the answer, or before it. */
const MAX_ANSWERED = 32

/** What is left of a call once it is answered: not its arguments, which may be large. */
type Answered = Pick<LateRecord, 'call' | 'tool' | 'outcome'> & {
  request: JsonRpcId
  sinceMs: number
}

/** Stands in the record for the name of a tool that was not named. */
const NO_NAME = '(no name)'

function namedTool(name: unknown): Pick<CallInit, 'tool' | 'nameFault'> {
  if (typeof name === 'string' && name !== '') return { tool: name }
  const isMissing = name === undefined || name === ''
  return { tool: NO_NAME, nameFault: isMissing ? 'missing' : nounFor(name) }
}

export function createLiveCalls(
  context: WrapperContext,
  { kind, peer, transport }: { kind: Transport; peer: Peer; transport: object },
): LiveCalls {
  /** A list for each id: clients do send one id twice while the first call is still open. */
  const byId = new Map<JsonRpcId, OpenCall[]>()
  const expectedLists = new Set<JsonRpcId>()
  /** The newest answers, over the oldest: cheaper for each call than a map that has to forget. */
  const answered: (Answered | undefined)[] = []
  let answers = 0

  const hasNoSession = () => kind === 'http' && readString(transport, 'sessionId') === undefined

  let lastSession: { id: string; hash: string } | undefined

  function sessionHash(): string | undefined {
    const id = readString(transport, 'sessionId')
    if (id === undefined) return undefined
    if (lastSession?.id !== id) lastSession = { id, hash: fingerprint(id) }
    return lastSession.hash
  }

  /** Without a spread: it is made for each call. */
  function initOf(message: JsonRpcMessage, extra: unknown): CallInit {
    const params = isRecord(message.params) ? message.params : {}
    const { tool, nameFault } = namedTool(params.name)
    const { modern, client, protocol, trace } = senderOf(message, extra, peer)
    return {
      tool,
      request: message.id ?? '',
      arguments: params.arguments,
      modern,
      asksForTask: params.task !== undefined,
      nameFault,
      session: sessionHash(),
      client,
      protocol,
      transport: kind,
      trace,
    }
  }

  function close(call: OpenCall, ending: Ending): void {
    if (call.closed) return
    call.close(ending)
    if (context.log) openCallsOf(context.log).delete(call)
    const same = byId.get(call.init.request) ?? []
    const others = same.length > 1 ? same.filter((other) => other !== call) : []
    if (others.length > 0) byId.set(call.init.request, others)
    else byId.delete(call.init.request)
    remember(call, ending)
  }

  function remember(call: OpenCall, ending: Ending): void {
    if (ending.delivered === false || ending.error?.by !== undefined) return
    const outcome = ending.outcome === 'failed' ? 'failed' : 'succeeded'
    const sinceMs = performance.now() - call.ageMs
    const { request } = call.init
    answered[answers % MAX_ANSWERED] = { request, call: call.id, tool: call.tool, outcome, sinceMs }
    answers += 1
  }

  /** The newest under this id. */
  function takeAnswered(id: JsonRpcId): Answered | undefined {
    for (let back = 1; back <= Math.min(answers, MAX_ANSWERED); back += 1) {
      const at = (answers - back) % MAX_ANSWERED
      const found = answered[at]
      if (found?.request !== id) continue
      answered[at] = undefined
      return found
    }
    return undefined
  }

  /**
   * Of a call whose answer has left already: its client had given up while something kept the event
   * loop from hearing it, or has closed the pipe.
   */
  function recordUnread(id: JsonRpcId): void {
    const unread = takeAnswered(id)
    if (!unread) return
    const { request: _, sinceMs, ...rest } = unread
    const ms = roundedMs(performance.now() - sinceMs)
    context.log?.record({ kind: 'late', ...rest, ms })
  }

  return {
    open(message, extra) {
      const call = new OpenCall(initOf(message, extra), context)
      call.dropped = droppedArguments(call)
      const { request } = call.init
      const same = byId.get(request)
      if (same) same.push(call)
      else byId.set(request, [call])
      const { log } = context
      if (log) {
        openCallsOf(log).add(call)
        log.journal.opened(call.id, () => call.entry())
      }
      return call
    },
    answeredBy(answer) {
      if (!isId(answer.id)) return undefined
      const waiting = byId.get(answer.id)
      const own = callContext.getStore()
      if (own?.init.request === answer.id) {
        if (waiting?.includes(own)) return own
        if (own.closed && own.context === context) return 'late'
      }
      return waiting?.[0]
    },
    cancel(params) {
      const id = isRecord(params) ? params.requestId : undefined
      // Of two calls with one id the SDK aborts the later.
      if (!isId(id)) return
      const call = byId.get(id)?.at(-1)
      const reason = isRecord(params) && typeof params.reason === 'string' ? params.reason : ''
      if (!call) {
        recordUnread(id)
        if (hasNoSession()) noteGivenUp(context, id, reason)
        return
      }
      close(call, cancelledEnding(reason))
    },
    unread: recordUnread,
    close,
    closeAll() {
      for (const calls of [...byId.values()]) {
        for (const call of calls) {
          // Some HTTP transports close as part of sending: whether it arrived, `send` will tell.
          if (!call.answering) close(call, disconnectedEnding(call))
        }
      }
    },
    expectList(id) {
      if (expectedLists.size < MAX_EXPECTED_LISTS) expectedLists.add(id)
    },
    isExpectedList: (id) => expectedLists.delete(id),
  }
}
