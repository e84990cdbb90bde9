import { readProperty } from '../safe-read.ts'
import { guard, guardWith } from './handler-guard.ts'
import { checkBeforeHandler, type ListHandler } from './low-level-server.ts'
import { type Handler, isRecord, type TransportLike } from './mcp-shapes.ts'
import { settingsFrom, type UnsilenceOptions } from './options.ts'
import { tapWith } from './transport-tap.ts'
import { warnOnce } from './warn-once.ts'
import { createContext, type WrapperContext } from './wrapper-context.ts'

/** An `McpServer` or low-level `Server` of SDK v1 or v2; anything that connects to a transport. */
export type ServerLike = { connect(transport: never): Promise<unknown> }

type Callable = (...args: unknown[]) => unknown
type Methods = Record<string, unknown>

const unsilenced = new WeakSet<object>()

/**
 * Makes sure that no tool call of this server fails in silence. Returns the same server; call it
 * before `connect`, before or after tools are registered, as often as you like. Only public methods
 * of this one object are overridden. `UNSILENT=off` in the environment leaves all as it was.
 */
export function unsilence<S extends ServerLike>(server: S, options: UnsilenceOptions = {}): S {
  const settings = settingsFrom(options)
  if (!isRecord(server) || typeof server.connect !== 'function') {
    throw new TypeError('unsilence() takes an McpServer or a Server, and was given something else.')
  }
  if (process.env.UNSILENT === 'off') return server
  const high = server as Methods
  const low = isConnectable(high.server) ? high.server : high
  if (unsilenced.has(low)) return server
  unsilenced.add(low)
  const context = createContext(settings, low)
  tapConnections(low, context)
  guardRequestHandler(low, context, low === high ? 'low' : 'high')
  if (low !== high) {
    guardRegistrations(high, context)
    guardTaskRegistrations(high, context)
  }
  return server
}

function isConnectable(value: unknown): value is Methods {
  return isRecord(value) && typeof value.connect === 'function'
}

function tapConnections(low: Methods, context: WrapperContext): void {
  if (low.transport) {
    warnOnce('unsilence() was called after connect(): calls of this connection stay unseen.')
  }
  replaceMethod(low, 'connect', (connect) => (transport, ...rest) => {
    if (!isRecord(transport)) return connect(transport, ...rest)
    // The log begins when the server does: an idle server must not look like a dead one.
    void context.log
    return connect(tapWith(transport as TransportLike, context), ...rest)
  })
}

/** Tools of an McpServer: those that come, and those that are there already. */
function guardRegistrations(high: Methods, context: WrapperContext): void {
  for (const method of ['registerTool', 'tool']) {
    if (typeof high[method] !== 'function') continue
    replaceMethod(high, method, (register) => (...args) => {
      const last = args.length - 1
      if (typeof args[last] === 'function') args[last] = guardAny(args[last])
      const registered = register(...args)
      if (typeof args[0] === 'string') follow(args[0], registered, context)
      return registered
    })
  }
  adoptRegistered(high, context)
}

/** Tools that answer with a task are registered elsewhere, and with an object of functions. */
function guardTaskRegistrations(high: Methods, context: WrapperContext): void {
  const tasks = readProperty(high.experimental, 'tasks')
  if (!isRecord(tasks) || typeof tasks.registerToolTask !== 'function') return
  replaceMethod(tasks, 'registerToolTask', (register) => (name, config, handler, ...rest) => {
    const registered = register(name, config, guardAny(handler), ...rest)
    if (typeof name === 'string') follow(name, registered, context)
    return registered
  })
}

/** A tool's handler, in whichever form the SDK takes it; anything else as it is. */
function guardAny(handler: unknown): unknown {
  if (typeof handler === 'function') return guard(handler as unknown as Handler)
  const createTask = readProperty(handler, 'createTask')
  if (!isRecord(handler) || typeof createTask !== 'function') return handler
  const guarded = guard(createTask.bind(handler) as Handler)
  return new Proxy(handler, {
    get(target, key) {
      if (key === 'createTask') return guarded
      const value = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** Keeps up with a tool that is renamed, removed or given another handler later. */
function follow(name: string, registered: unknown, context: WrapperContext): void {
  if (!isRecord(registered)) return
  context.catalogue.register(name, registered)
  let current = name
  replaceMethod(registered, 'update', (update) => (updates, ...rest) => {
    if (!isRecord(updates)) return update(updates, ...rest)
    const { callback } = updates
    const guarded = callback === undefined ? updates : { ...updates, callback: guardAny(callback) }
    const result = update(guarded, ...rest)
    if (updates.name !== undefined && updates.name !== current) {
      const next = typeof updates.name === 'string' ? updates.name : undefined
      context.catalogue.rename(current, next)
      current = next ?? current
    }
    return result
  })
}

/**
 * Tools registered before. The SDK has no public list of them; the one it keeps is read, and each
 * tool's own public `update` puts the guard in place. Where that fails, the tap alone serves them.
 */
function adoptRegistered(high: Methods, context: WrapperContext): void {
  const tools = high._registeredTools
  if (!isRecord(tools)) {
    warnOnce('tools registered before unsilence() cannot be guarded: call it first.')
    return
  }
  for (const [name, tool] of Object.entries(tools)) {
    if (!isRecord(tool) || typeof tool.update !== 'function') continue
    follow(name, tool, context)
    if (tool.handler !== undefined) (tool.update as Callable)({ callback: tool.handler })
  }
}

/**
 * A low-level server has one handler for all its tools. An McpServer sets one of its own, which
 * looks at its registered tools and must stay as it is; its users may put another in its place.
 */
function guardRequestHandler(low: Methods, context: WrapperContext, level: 'low' | 'high'): void {
  if (typeof low.setRequestHandler !== 'function') {
    warnOnce('this server has no setRequestHandler(): causes and retries stay unseen.')
    return
  }
  if (level === 'low' && hasHandler(low, 'tools/call')) {
    warnOnce(
      'a tools/call handler was set before unsilence() and cannot be guarded: call it first.',
    )
  }
  let list: ListHandler | undefined
  const before = checkBeforeHandler(context, () => list)
  const isSdksOwn = level === 'high' ? watchOwnHandler(low) : () => false
  replaceMethod(low, 'setRequestHandler', (setHandler) => (request, ...rest) => {
    const last = rest.length - 1
    const method = typeof rest[last] === 'function' ? methodOf(request) : undefined
    if (method === 'tools/list') list = rest[last] as ListHandler
    if (method === 'tools/call' && !isSdksOwn()) {
      rest[last] = guardWith(rest[last] as Handler, { before })
    }
    return setHandler(request, ...rest)
  })
}

/** An McpServer asks whether it may set its tools/call handler right before it does; users do not. */
function watchOwnHandler(low: Methods): () => boolean {
  if (typeof low.assertCanSetRequestHandler !== 'function') return () => true
  let asked = false
  replaceMethod(low, 'assertCanSetRequestHandler', (ask) => (method, ...rest) => {
    const answer = ask(method, ...rest)
    if (method === 'tools/call') asked = true
    return answer
  })
  return () => {
    const own = asked
    asked = false
    return own
  }
}

/** The one public question both SDKs answer about their handlers: it throws where there is one. */
function hasHandler(low: Methods, method: string): boolean {
  if (typeof low.assertCanSetRequestHandler !== 'function') return false
  try {
    low.assertCanSetRequestHandler(method)
    return false
  } catch {
    return true
  }
}

/** The method a handler is set for: a word in SDK v2, a literal inside a zod schema in v1. */
function methodOf(request: unknown): unknown {
  if (typeof request === 'string') return request
  const shape = isRecord(request) ? (request.shape ?? defOf(request)?.shape) : undefined
  const fields = typeof shape === 'function' ? (shape as Callable)() : shape
  const method = isRecord(fields) ? fields.method : undefined
  if (!isRecord(method)) return undefined
  const def = defOf(method)
  return method.value ?? def?.value ?? (Array.isArray(def?.values) ? def.values[0] : undefined)
}

function defOf(schema: Record<string, unknown>): Record<string, unknown> | undefined {
  const zod4 = isRecord(schema._zod) ? schema._zod.def : undefined
  const def = zod4 ?? schema._def ?? schema.def
  return isRecord(def) ? def : undefined
}

/** Overrides a method on this one object; the prototype and other instances stay as they are. */
function replaceMethod(
  target: Methods,
  name: string,
  wrap: (original: Callable) => Callable,
): void {
  const original = target[name]
  if (typeof original !== 'function') {
    warnOnce(`there is no ${name}() to hook into; the server runs on without it.`)
    return
  }
  target[name] = wrap((original as Callable).bind(target))
}
