import { DEADLINE_REASON } from './classify.ts'
import { createDeadlineWatch, startDeadline } from './deadline.ts'
import { describeError } from './describe-error.ts'
import { dieOfFatal } from './fatal.ts'
import { deadlineJudgement, judgeAnswer, plainJudgement } from './judge-answer.ts'
import type { Judgement } from './judgement.ts'
import { createLiveCalls, type LiveCalls } from './live-calls.ts'
import { isId, isRecord, type JsonRpcMessage, type TransportLike } from './mcp-shapes.ts'
import { callContext, type OpenCall } from './open-call.ts'
import { createPeer, transportKind } from './peer.ts'
import { soundRequest } from './refused-lines.ts'
import { watchStdio } from './stdio-watch.ts'
import { followTask, watchTaskEnd } from './task-ends.ts'
import { observing, warnOnce } from './warn-once.ts'
import type { WrapperContext } from './wrapper-context.ts'

export type Deliver = (...args: unknown[]) => unknown
type Send = (message: unknown, ...rest: unknown[]) => Promise<unknown>
type Target = { send: Send; start?(): unknown; onmessage?: Deliver }
type Wrap = (callback: Deliver | undefined) => Deliver | undefined

export type MessageTap = {
  send: Send
  start(): unknown
  onmessage: Wrap
  onclose: Wrap
  onerror: Wrap
}

/** Stands between one transport and its server: see `tapTransport`. */
export function createMessageTap(transport: TransportLike, context: WrapperContext): MessageTap {
  const kind = transportKind(transport)
  const peer = createPeer()
  const live = createLiveCalls(context, { kind, peer, transport })
  const stdio = watchStdio(kind, transport, context.settings)
  const target = transport as unknown as Target
  const sendOn: Send = (...args) => stdio.whileSending(() => target.send(...args))
  const clock = createDeadlineWatch()

  function send(message: unknown, ...rest: unknown[]): Promise<unknown> {
    const answer = answerOf(message)
    if (!answer) {
      observing('Watching a deadline', () => clock.onSend(message))
      if (isListChanged(message)) context.catalogue.forgetList()
      return sendOn(taskWatched(message), ...rest)
    }
    observing('Reading an answer', () => learn(answer, live, context))
    const call = live.answeredBy(answer)
    if (call === 'late') return Promise.resolve()
    if (!call) return sendOn(taskWatched(message), ...rest)
    const judgement =
      observing('Judging an answer', () => judgeAnswer(call, answer)) ?? plainJudgement(answer)
    if (!(judgement instanceof Promise)) return deliver(call, judgement, rest)
    return judgement.then(
      (judged) => deliver(call, judged, rest),
      () => deliver(call, plainJudgement(answer), rest),
    )
  }

  function deliver(call: OpenCall, judgement: Judgement, rest: unknown[]): Promise<unknown> {
    // Cancelled, or past its deadline, while the answer was being judged.
    if (call.closed) return Promise.resolve()
    const { message, ending } = judgement
    if (ending.outcome === 'deferred') {
      observing('Following a task', () => followTask(call, message))
    }
    if (kind === 'http') return deliverOverHttp(call, judgement, rest)
    // The record comes first, so that no answered call is lost with the process.
    live.close(call, ending)
    return sendAnswer(call, judgement, rest)
  }

  /** Only an HTTP exchange can be told apart as gone; its record waits for that. */
  async function deliverOverHttp(
    call: OpenCall,
    judgement: Judgement,
    rest: unknown[],
  ): Promise<unknown> {
    const { ending } = judgement
    call.answering = ending
    try {
      return await sendAnswer(call, judgement, rest)
    } catch (error) {
      live.close(call, { ...ending, delivered: false })
      throw error
    } finally {
      live.close(call, ending)
    }
  }

  function sendAnswer(
    call: OpenCall,
    { message, fatal }: Judgement,
    rest: unknown[],
  ): Promise<unknown> {
    const id = call.init.request
    const sent = stdio.whileSending(
      () => target.send(message, ...rest),
      () => live.unread(id),
    )
    if (fatal) dieOfFatal(fatal, context.log, { call: call.id, answered: sent })
    return sent
  }

  return {
    send,
    start() {
      observing('Watching stdio', () => stdio.start())
      return target.start?.()
    },
    onmessage(callback) {
      if (!callback) return callback
      return (message, ...rest) => {
        if (!isRecord(message)) return callback(message, ...rest)
        if (message.method === undefined) clock.onResponse(message.id)
        switch (message.method) {
          case 'tools/call':
            return receiveCall(message, rest, callback)
          case 'notifications/cancelled':
            observing('Reading a cancellation', () => live.cancel(message.params))
            break
          case 'initialize':
            observing('Reading a handshake', () => peer.learnInitialize(message.params))
            break
          case 'tools/list':
            if (isId(message.id)) live.expectList(message.id)
            break
        }
        return callback(message, ...rest)
      }
    },
    onclose(callback) {
      return (...args) => {
        observing('Closing open calls', () => live.closeAll())
        observing('Leaving stdio', () => stdio.stop())
        return callback?.(...args)
      }
    },
    onerror(callback) {
      return (...args) => {
        const refused = observing('Reading a refused line', () => stdio.refusedCalls()) ?? []
        // As if the transport had taken them for calls: through our own side of the tap.
        for (const message of refused) target.onmessage?.(message)
        if (refused.length === 0) return callback?.(...args)
        return undefined
      }
    },
  }

  function receiveCall(message: JsonRpcMessage, rest: unknown[], callback: Deliver): unknown {
    if (!isId(message.id)) return callback(message, ...rest)
    const call = observing('Opening a call', () => live.open(message, rest[0]))
    const sound = soundRequest(message)
    if (!call) return callback(sound, ...rest)
    const { timeoutMs } = call.settings
    if (timeoutMs !== undefined) {
      call.deadline = startDeadline(timeoutMs, () => expire(call, timeoutMs, callback))
    }
    return callContext.run(call, () => callback(sound, ...rest))
  }

  /**
   * Answers in the tool's place, then cancels the request the way a client would: the SDK aborts
   * the handler's signal and keeps its late answer to itself.
   */
  function expire(call: OpenCall, ms: number, callback: Deliver): void {
    if (call.closed) return
    const id = call.init.request
    const { message, ending } = deadlineJudgement(call, ms)
    live.close(call, ending)
    sendOn(message, { relatedRequestId: id }).catch((error: unknown) => {
      warnOnce(`an answer at its deadline could not be sent: ${describeError(error).message}`)
    })
    const params = { requestId: id, reason: DEADLINE_REASON }
    callback({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
  }
}

function taskWatched(message: unknown): unknown {
  return observing('Watching a task', () => watchTaskEnd(message)) ?? message
}

function isListChanged(message: unknown): boolean {
  return isRecord(message) && message.method === 'notifications/tools/list_changed'
}

/** The message, if it is a response. */
function answerOf(message: unknown): JsonRpcMessage | undefined {
  if (!isRecord(message) || message.method !== undefined || !isId(message.id)) return undefined
  return 'result' in message || 'error' in message ? message : undefined
}

function learn(answer: JsonRpcMessage, live: LiveCalls, context: WrapperContext): void {
  if (!isRecord(answer.result)) return
  if (isRecord(answer.result.serverInfo)) context.learnServerName(answer.result.serverInfo)
  else if (isId(answer.id) && live.isExpectedList(answer.id)) context.catalogue.learn(answer.result)
}
