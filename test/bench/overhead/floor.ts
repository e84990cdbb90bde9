import { AsyncLocalStorage } from 'node:async_hooks'
import { openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Wrap } from '../silence/wrap.ts'

/** What no recorder of calls can do without, in the least code: the price of this machine. */
export type Floor = 'context' | 'context_and_write'

type Message = { id?: unknown; method?: unknown; params?: unknown }
type Receive = (message: Message, ...rest: unknown[]) => unknown
type Transport = { onmessage?: Receive; send(message: Message, ...rest: unknown[]): unknown }
type Server = { connect(transport: Transport): Promise<void> }

export function floorWrap(floor: Floor, logs: string): Wrap {
  const context = new AsyncLocalStorage<Message>()
  const file = openSync(join(logs, 'floor.jsonl'), 'a', 0o600)
  return (server) => {
    const target = server as unknown as Server
    const connect = target.connect.bind(target)
    target.connect = async (transport) => {
      const send = transport.send.bind(transport)
      transport.send = (message, ...rest) => {
        const call = context.getStore()
        if (call && message.id === call.id && floor === 'context_and_write') {
          writeSync(file, `${JSON.stringify({ time: Date.now(), ...call })}\n`)
        }
        return send(message, ...rest)
      }
      await connect(transport)
      const receive = transport.onmessage
      transport.onmessage = (message, ...rest) =>
        message.method === 'tools/call'
          ? context.run(message, () => receive?.(message, ...rest))
          : receive?.(message, ...rest)
    }
    return server
  }
}
