import { setTimeout as sleep } from 'node:timers/promises'
import {
  type AgentConnection,
  type AgentServer,
  createAgentConnection,
  type StepResult,
} from './agent-connection.ts'
import { type AgentStep, exchangeRate, nextPlay } from './agent-plays.ts'
import { createSeededRandom, type SeededRandom, seedFor } from './seeded-random.ts'

const CONVERSATIONS = 4
const CALLS_PER_SECOND = 3
/** Half of a burst's calls give up after this long, so that both ways of timing out are seen. */
const IMPATIENCE_MS = 3_000

export type AgentOptions = {
  servers: readonly AgentServer[]
  seed?: number | undefined
  /** Default 3. */
  callsPerSecond?: number | undefined
  /** Ends after this many calls; absent: goes on until `signal` aborts. */
  calls?: number | undefined
  /** How many tasks it has in hand at once. Default 4; 1 gives the same calls in the same order. */
  conversations?: number | undefined
  /** A scheduled job on top: `calls` at once, `offsetMs` after each multiple of `everyMs` (epoch). */
  burst?: { everyMs: number; offsetMs: number; calls: number } | undefined
  signal?: AbortSignal | undefined
  onStep?: ((step: AgentStep, result: StepResult) => void) | undefined
}

export type AgentReport = { calls: number; results: Record<StepResult, number> }

/**
 * A scripted stand-in for a model: it talks to real servers through the SDK's own client, gets
 * things wrong the way models do, and mostly corrects itself. Ends its servers when it ends.
 */
export async function runAgent(options: AgentOptions): Promise<AgentReport> {
  const report: AgentReport = { calls: 0, results: { answered: 0, failed: 0, lost: 0 } }
  const finished = new AbortController()
  const signal = options.signal
    ? AbortSignal.any([options.signal, finished.signal])
    : finished.signal
  const connections = new Map(
    options.servers.map((server) => [server.service, createAgentConnection(server)] as const),
  )

  const inFlight = new Set<Promise<void>>()
  const call = async (connection: AgentConnection, step: AgentStep): Promise<void> => {
    const result = await connection.call(step)
    report.results[result] += 1
    options.onStep?.(step, result)
  }
  const take: TakeStep = async (step) => {
    const connection = connections.get(step.service)
    if (!connection || signal.aborted) return
    report.calls += 1
    if (report.calls >= (options.calls ?? Number.POSITIVE_INFINITY)) finished.abort()
    const running = call(connection, step).finally(() => inFlight.delete(running))
    inFlight.add(running)
    await running
  }

  try {
    await Promise.all([converse({ ...options, signal, take }), burst({ ...options, signal, take })])
    if (!options.signal?.aborted) await Promise.all(inFlight)
  } finally {
    await Promise.all([...connections.values()].map((connection) => connection.close()))
  }
  return report
}

type TakeStep = (step: AgentStep) => Promise<void>
type Part = Omit<AgentOptions, 'signal'> & { signal: AbortSignal; take: TakeStep }

/** Several tasks side by side, each one call after the other. */
async function converse(part: Part): Promise<void> {
  const conversations = part.conversations ?? CONVERSATIONS
  const gapMs = (conversations * 1_000) / (part.callsPerSecond ?? CALLS_PER_SECOND)
  const run = async (random: SeededRandom): Promise<void> => {
    while (!part.signal.aborted) {
      for (const step of nextPlay(random)) {
        if (!(await pause(gapMs * (0.5 + random.next()), part.signal))) return
        await untilAborted(part.signal, part.take(step))
      }
    }
  }
  const seeds = Array.from({ length: conversations }, (_, index) => `conversation ${index}`)
  await Promise.all(seeds.map((name) => run(createSeededRandom(seedFor(part.seed ?? 1, name)))))
}

async function burst({ burst, seed = 1, signal, take }: Part): Promise<void> {
  const random = createSeededRandom(seedFor(seed, 'burst'))
  while (burst && !signal.aborted) {
    const waitMs = burst.everyMs - ((Date.now() - burst.offsetMs) % burst.everyMs)
    if (!(await pause(waitMs, signal))) return
    const steps = Array.from({ length: burst.calls }, (_, index) =>
      exchangeRate(random, index % 2 === 0 ? IMPATIENCE_MS : undefined),
    )
    await untilAborted(signal, Promise.all(steps.map(take)))
  }
}

/** A call that hangs does not keep the agent from ending. */
async function untilAborted(signal: AbortSignal, work: Promise<unknown>): Promise<void> {
  let stop: () => void = () => undefined
  const aborted = new Promise<void>((resolve) => {
    stop = resolve
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** False where `signal` has cut it short. */
async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(ms, undefined, { signal })
    return true
  } catch (error) {
    if (signal.aborted) return false
    throw error
  }
}
