import { enqueueCall } from './call-events.ts'
import type { Fates } from './fates.ts'
import type { Processes } from './processes.ts'
import { createRandom, type Random } from './random.ts'
import { step } from './script.ts'
import type { Caller, Plan, Queue } from './simulation.ts'
import { type Density, dueTimes, SCHEDULES, type Schedule } from './traffic.ts'
import { DAY_MS } from './wall-clock.ts'
import { COLLECTIONS, CURRENCY_PAIRS, SCHEDULER, TOOLS } from './world.ts'

export type SchedulerOptions = {
  processes: Processes
  queue: Queue
  plan: Plan
  fates: Fates
  density: Density
  endMs: number
  seed: number
}

export type Scheduler = {
  /** Makes the calls that are due in [fromMs, toMs). */
  run(fromMs: number, toMs: number): void
}

/** The job that calls two tools by the clock; its connection is opened anew each UTC day. */
export function createScheduler(options: SchedulerOptions): Scheduler {
  const random = createRandom(options.seed, 'scheduler')
  const jobs = SCHEDULES[options.density].map((schedule) => createJob(schedule, options, random))
  return {
    run(fromMs, toMs) {
      for (const job of jobs) job(fromMs, toMs)
    },
  }
}

function createJob(
  schedule: Schedule,
  { processes, queue, plan, fates, endMs }: SchedulerOptions,
  random: Random,
): (fromMs: number, toMs: number) => void {
  let day = Number.NaN
  let request = 0
  let turn = 0
  let caller: Caller = { session: '', client: SCHEDULER }

  return (fromMs, toMs) => {
    for (const dueMs of dueTimes(schedule, fromMs, toMs)) {
      turn += 1
      // A cron job is a moment late, and stays well within its quarter hour.
      const startedMs = dueMs + random.integer(180, 2_400)
      const process = processes.at(TOOLS[schedule.tool].server, startedMs)
      if (!process) continue
      const call = step(schedule.tool, argumentsInTurn(schedule, turn))
      const fate = fates.decide(call, startedMs)
      if (startedMs + fate.durationMs >= endMs) continue
      const today = Math.floor(dueMs / DAY_MS)
      if (today !== day) {
        day = today
        request = 0
        caller = { session: random.hex(16), client: SCHEDULER }
      }
      request += 1
      enqueueCall(queue, { process, step: call, fate, caller, request, startedMs })
      plan.calls += 1
    }
  }
}

function argumentsInTurn({ tool }: Schedule, turn: number): Record<string, unknown> {
  if (tool === 'reindex_collection') return { collection: COLLECTIONS[turn % COLLECTIONS.length] }
  const [base, quote] = CURRENCY_PAIRS[turn % CURRENCY_PAIRS.length] ?? CURRENCY_PAIRS[0]
  return { base, quote }
}
