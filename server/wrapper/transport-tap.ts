import { DEADLINE_REASON } from './classify.ts'
import { createDeadlineWatch, startDeadline } from './deadline.ts'
import { describeError } from './describe-error.ts'
import { dieOfFatal } from './fatal.ts'
import { deadlineJudgement, type Judgement, judgeAnswer } from './judge-answer.ts'
import { createLiveCalls, type LiveCalls } from './live-calls.ts'
import { isId, isRecord, type JsonRpcMessage, type TransportLike } from './mcp-shapes.ts'
import { callContext, type OpenCall } from './open-call.ts'
import { settingsFrom, type UnsilenceOptions } from './options.ts'
import { createPeer, transportKind } from './peer.ts'
import { observing, warnOnce } from './warn-once.ts'
import { createContext, type WrapperContext } from './wrapper-context.ts'

type Deliver = (message: unknown, ...rest: unknown[]) => unknown
type Send = (message: unknown, ...rest: unknown[]) => Promise<unknown>

const tapped = new WeakSet<object>()

/**
 * Puts a tap on a transport, for servers wired by hand: hand the returned transport to `connect`.
 * Every `tools/call` that passes leaves exactly one record, and every answer to one is made sound.
 * The given transport stays as it is; use `guard` on the handlers to have causes and retries too.
 */
export function tapTransport<T extends TransportLike>(
  transport: T,
  options: UnsilenceOptions = {},
): T {
  if (process.env.UNSILENT === 'off') return transport
  return tapWith(transport, createContext(settingsFrom(options)))
}

/**
 * A proxy, not a patch: the SDK holds the proxy and the owner keeps an untouched transport, with
 * its private fields and its class. The SDK chains the callbacks it finds on a transport, so they
 * must read back as they were set; only the transport underneath sees ours.
 */
export function tapWith<T extends TransportLike>(transport: T, context: WrapperContext): T {
  if (tapped.has(transport)) return transport
  const tap = createTap(transport, context)
  const set = new Map<string, unknown>()
  const proxy = new Proxy(transport, {
    get(target, key) {
      if (key === 'send') return tap.send
      if (typeof key === 'string' && set.has(key)) return set.get(key)
      const value = Reflect.get(target, key, target)
      return typeof value === 'function' && key !== 'constructor' ? value.bind(target) : value
    },
    set(target, key, value) {
      if (key === 'onmessage' || key === 'onclose') {
        set.set(key, value)
        const callback = typeof value === 'function' ? (value as Deliver) : undefined
        const ours = key === 'onmessage' ? tap.receiving(callback) : tap.closing(callback)
        return Reflect.set(target, key, ours, target)
      }
      return Reflect.set(target, key, value, target)
    },
  })
  tapped.add(proxy)
  return proxy
}

function createTap(transport: TransportLike, context: WrapperContext) {
  const kind = transportKind(transport)
  const peer = createPeer()
  const live = createLiveCalls(context, { kind, peer, transport })
  const sendOn = transport as unknown as { send: Send }
  const clock = createDeadlineWatch()

  function send(message: unknown, ...rest: unknown[]): Promise<unknown> {
    const answer = answerOf(message)
    if (!answer) {
      observing('Watching a deadline', () => clock.onSend(message))
      return sendOn.send(message, ...rest)
    }
    observing('Reading an answer', () => learn(answer, live, context))
    const call = live.answeredBy(answer)
    if (call === 'late') return Promise.resolve()
    if (!call) return sendOn.send(message, ...rest)
    const judgement = observing('Judging an answer', () => judgeAnswer(call, answer))
    if (!judgement)
      return deliver(call, { message: answer, ending: { outcome: 'succeeded' } }, rest)
    if (!(judgement instanceof Promise)) return deliver(call, judgement, rest)
    return judgement.then((judged) => deliver(call, judged, rest))
  }

  async function deliver(call: OpenCall, judgement: Judgement, rest: unknown[]): Promise<unknown> {
    // Cancelled, or past its deadline, while the answer was being judged.
    if (call.closed) return undefined
    const { message, ending, fatal } = judgement
    // Only an HTTP exchange can be told apart as gone; elsewhere the record comes first, so that
    // no answered call is lost with the process.
    if (kind === 'http') call.answering = ending
    else live.close(call, ending)
    const sent = sendOn.send(message, ...rest)
    if (fatal) dieOfFatal(fatal, context.log, { call: call.id, answered: sent })
    try {
      return await sent
    } catch (error) {
      live.close(call, { ...ending, delivered: false })
      throw error
    } finally {
      live.close(call, ending)
    }
  }

  return {
    send,
    receiving(callback: Deliver | undefined): Deliver | undefined {
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
    closing(callback: Deliver | undefined): Deliver {
      return (...args) => {
        observing('Closing open calls', () => live.closeAll())
        return callback?.(...(args as [unknown]))
      }
    },
  }

  function receiveCall(message: JsonRpcMessage, rest: unknown[], callback: Deliver): unknown {
    if (!isId(message.id)) return callback(message, ...rest)
    const call = observing('Opening a call', () => live.open(message, rest[0]))
    const sound = withSoundMeta(message)
    if (!call) return callback(sound, ...rest)
    const { timeoutMs } = call.settings
    // A task answers at once; how long it may run is between the client and the task.
    if (timeoutMs !== undefined && !isTaskRequest(message)) {
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
    sendOn.send(message, { relatedRequestId: id }).catch((error: unknown) => {
      warnOnce(`an answer at its deadline could not be sent: ${describeError(error).message}`)
    })
    const params = { requestId: id, reason: DEADLINE_REASON }
    callback({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
  }
}

function isTaskRequest({ params }: JsonRpcMessage): boolean {
  return isRecord(params) && params.task !== undefined
}

/** With `_meta: null` the SDK takes a request for no request at all, and never answers it. */
function withSoundMeta(message: JsonRpcMessage): JsonRpcMessage {
  const { params } = message
  if (!isRecord(params) || params._meta === undefined || isRecord(params._meta)) return message
  const { _meta, ...rest } = params
  return { ...message, params: rest }
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
