import type { UnsilenceOptions } from '../../../server/index.ts'
import type { ColumnId } from '../silence/columns.ts'
import type { Floor } from './floor.ts'

/** One way to serve the same tool. */
export type Variant = {
  label: string
  id: ColumnId
  needsPeers: boolean
  options?: UnsilenceOptions
  floor?: Floor
  /** Set in the server's environment. */
  env?: Record<string, string>
  /** The most it may cost, as a ratio to the bare SDK. */
  target?: { memory: number; stdio?: number }
}

export const variants: readonly Variant[] = [
  { label: 'bare SDK', id: 'bare', needsPeers: false },
  // The same once more: how far apart two equal things are on this machine.
  { label: 'bare SDK again', id: 'bare', needsPeers: false },
  { label: 'a context only', id: 'bare', needsPeers: false, floor: 'context' },
  { label: '… and one write', id: 'bare', needsPeers: false, floor: 'context_and_write' },
  {
    label: 'Unsilent',
    id: 'unsilent',
    needsPeers: false,
    options: {},
    target: { memory: 2.2, stdio: 1.25 },
  },
  {
    label: 'Unsilent, logs: false',
    id: 'unsilent',
    needsPeers: false,
    options: { logs: false },
    target: { memory: 1.5 },
  },
  {
    label: 'UNSILENT=off',
    id: 'unsilent',
    needsPeers: false,
    options: {},
    env: { UNSILENT: 'off' },
    target: { memory: 1.5 },
  },
  { label: 'Sentry', id: 'sentry', needsPeers: true },
  { label: 'AgentCat', id: 'agentcat', needsPeers: true },
  { label: 'mcp-trace', id: 'mcp-trace', needsPeers: true },
]

/** What a server process is told, as JSON in its one argument. */
export type WorkerConfig = {
  variant: number
  transport: 'memory' | 'stdio'
  logs: string
  collector: string
  peers: string
}

/** Of a size that is usual: a few arguments, a paragraph of text. */
export const CALL = { name: 'search', arguments: { query: 'open invoices of March', limit: 10 } }
export const ANSWER = 'INV-1042, Gasthaus Adler, 412.50 EUR, due on 31 March. '.repeat(5)

/** Microseconds of each call, made one after the other. */
export async function timeCalls(call: () => Promise<unknown>, count: number): Promise<number> {
  const times = new Float64Array(count)
  for (let index = 0; index < count; index += 1) {
    const since = performance.now()
    await call()
    times[index] = (performance.now() - since) * 1_000
  }
  return median(times)
}

export function median(values: Iterable<number>): number {
  return quantile(values, 0.5)
}

export function quantile(values: Iterable<number>, share: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.floor(sorted.length * share)] ?? Number.NaN
}
