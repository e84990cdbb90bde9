import { billingScript } from './billing-scripts.ts'
import { enqueueCall } from './call-events.ts'
import { documentScript } from './document-scripts.ts'
import type { Fates } from './fates.ts'
import type { Processes } from './processes.ts'
import { createQuotas } from './quotas.ts'
import { createRandom, type Random } from './random.ts'
import type { Script } from './script.ts'
import type { Caller, Plan, Queue } from './simulation.ts'
import { CLIENTS, type Client, type ServerName } from './world.ts'

/** Between an answer and the next call: the model thinks. */
const PAUSE_MS = 4_500

const BILLING_SHARE = 0.56

export type SessionsOptions = {
  processes: Processes
  queue: Queue
  plan: Plan
  fates: Fates
  endMs: number
  seed: number
}

export type Sessions = {
  /** Plays one session that begins at that time, with at most so many calls; returns their number. */
  play(startMs: number, mostCalls: number): number
}

/**
 * A session is one agent's connection to one server: it ends when its script does, when its process
 * does, or when the next call would end after the samples do.
 */
export function createSessions(options: SessionsOptions): Sessions {
  const { processes, queue, plan, fates, endMs } = options
  const random = createRandom(options.seed, 'sessions')
  const quotas = createQuotas(options.seed)

  return {
    play(startMs, mostCalls) {
      const client = pickClient(random)
      const server: ServerName = random.chance(BILLING_SHARE) ? 'billing' : 'docs-search'
      const process = processes.at(server, startMs)
      if (!process) return 0
      const script = scriptFor(server, { random, client, quotas })
      const caller = callerOf(client, random)
      let request = random.integer(1, 3)
      let nowMs = startMs
      let calls = 0
      let next = script.next()
      while (!next.done && calls < mostCalls) {
        const step = next.value
        if (calls > 0) nowMs += random.logNormal(step.pauseMs ?? PAUSE_MS, 0.5)
        const startedMs = Math.floor(nowMs)
        if (startedMs >= process.life.endMs) break
        const fate = fates.decide(step, startedMs)
        if (startedMs + fate.durationMs >= endMs) break
        enqueueCall(queue, { process, step, fate, caller, request, startedMs })
        calls += 1
        request += 1
        nowMs = startedMs + fate.durationMs
        next = script.next({ failed: fate.outcome === 'failed', class: fate.error?.class })
      }
      plan.calls += calls
      return calls
    },
  }
}

function scriptFor(server: ServerName, cast: Parameters<typeof billingScript>[0]): Script {
  return server === 'billing' ? billingScript(cast) : documentScript(cast)
}

function pickClient(random: Random): Client {
  let draw = random.next()
  for (const client of CLIENTS) {
    draw -= client.share
    if (draw < 0) return client
  }
  return CLIENTS[0] as Client
}

function callerOf(client: Client, random: Random): Caller {
  return {
    session: random.hex(16),
    client: { name: client.name, version: client.version },
    trace: client.traced ? `00-${random.hex(32)}-${random.hex(16)}-01` : undefined,
  }
}
