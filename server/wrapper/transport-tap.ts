import type { TransportLike } from './mcp-shapes.ts'
import { createMessageTap, type Deliver } from './message-tap.ts'
import { settingsFrom, type UnsilenceOptions } from './options.ts'
import { createContext, type WrapperContext } from './wrapper-context.ts'

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
  const tap = createMessageTap(transport, context)
  const set = new Map<string, unknown>()
  const proxy = new Proxy(transport, {
    get(target, key) {
      if (key === 'send') return tap.send
      if (key === 'start') return tap.start
      if (typeof key === 'string' && set.has(key)) return set.get(key)
      const value = Reflect.get(target, key, target)
      return typeof value === 'function' && key !== 'constructor' ? value.bind(target) : value
    },
    set(target, key, value) {
      if (!isCallbackName(key)) return Reflect.set(target, key, value, target)
      set.set(key, value)
      const callback = typeof value === 'function' ? (value as Deliver) : undefined
      return Reflect.set(target, key, tap[key](callback), target)
    },
  })
  tapped.add(proxy)
  return proxy
}

function isCallbackName(key: PropertyKey): key is 'onmessage' | 'onclose' | 'onerror' {
  return key === 'onmessage' || key === 'onclose' || key === 'onerror'
}
