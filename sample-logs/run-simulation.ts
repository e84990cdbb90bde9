import { createEventQueue } from './event-queue.ts'
import { createFates } from './fates.ts'
import { planLives } from './lives.ts'
import type { PlantedSummary } from './planted.ts'
import { createProcesses } from './processes.ts'
import { createRandom } from './random.ts'
import { createScheduler } from './scheduler.ts'
import { createSessions, type Sessions } from './sessions.ts'
import type { Plan, SimulationEvent } from './simulation.ts'
import { plantSpecialEvents } from './special-events.ts'
import { summarize } from './summary.ts'
import { createTally } from './tally.ts'
import { BEAT_MS, densityFor, planTraffic, scheduledCalls, type Traffic } from './traffic.ts'
import { DAY_MS } from './wall-clock.ts'
import { planWindows } from './windows.ts'
import type { LogDirectory } from './write-logs.ts'

/** Sessions in a row that make no call: a fault of ours, better told than waited for. */
const MOST_IDLE_SESSIONS = 10_000

export type SimulationOptions = { days: number; calls: number; endMs: number; seed: number }

export type Simulation = {
  slices: number
  /** Slices are run in order. */
  run(slice: number): void
  calls(): number
  /** After the last slice. */
  summary(): PlantedSummary
}

/**
 * Events in order of time. Calls are queued by their end when their session is played; a session of
 * a later slice starts after all that an earlier one has yet to write, so a slice's events can be
 * written as soon as its sessions are queued. The queue holds no more than the open sessions' calls.
 */
export function createSimulation(
  { days, calls, endMs, seed }: SimulationOptions,
  directory: LogDirectory,
): Simulation {
  const range = { startMs: endMs - days * DAY_MS, endMs, days, calls }
  const density = densityFor(days, calls)
  const beatMs = BEAT_MS[density]
  const windows = planWindows(range, seed)
  const traffic = planTraffic(range)
  const queue = createEventQueue<SimulationEvent>()
  const plan: Plan = { calls: 0 }
  const tally = createTally(windows)
  const lives = planLives(range, seed)
  const processes = createProcesses({ lives, directory, queue, plan, tally, beatMs, seed })
  const special = plantSpecialEvents({ processes, queue, range, beatMs, seed })
  const players = {
    processes,
    queue,
    plan,
    fates: createFates({ seed, windows }),
    endMs,
    seed,
    density,
  }
  const scheduler = createScheduler(players)
  const scheduled = scheduledCalls(density, range.startMs, endMs)
  let stillScheduled = scheduled
  const sessions = createSessions(players)
  const fill = createFiller({ sessions, traffic, plan, calls, scheduled, seed })

  return {
    slices: traffic.slices,
    run(slice) {
      const { fromMs, toMs } = traffic.slice(slice)
      scheduler.run(fromMs, toMs)
      stillScheduled -= scheduledCalls(density, fromMs, toMs)
      fill(slice, stillScheduled)
      const isLast = slice + 1 === traffic.slices
      const untilMs = isLast ? Number.POSITIVE_INFINITY : toMs
      for (let due = queue.takeBefore(untilMs); due; due = queue.takeBefore(untilMs)) {
        processes.handle(due.event, due.atMs)
      }
    },
    calls: () => tally.calls(),
    summary: () => summarize({ processes: processes.all(), special, windows, tally }),
  }
}

/** Adds sessions to a slice until all calls that are due by its end are planned. */
function createFiller(options: {
  sessions: Sessions
  traffic: Traffic
  plan: Plan
  calls: number
  /** Calls of the clock in the whole range. */
  scheduled: number
  seed: number
}): (slice: number, stillScheduled: number) => void {
  const { sessions, traffic, plan, calls, scheduled, seed } = options
  const random = createRandom(seed, 'arrivals')
  return (slice, stillScheduled) => {
    const { fromMs, toMs } = traffic.slice(slice)
    const due = (calls - scheduled) * traffic.shareBy(slice) + scheduled - stillScheduled
    let idle = 0
    while (plan.calls < Math.floor(due)) {
      const startMs = fromMs + random.next() * (toMs - fromMs)
      const made = sessions.play(startMs, calls - stillScheduled - plan.calls)
      idle = made === 0 ? idle + 1 : 0
      // At night both servers may be down; the calls are made up for later.
      if (idle > 20 && slice + 1 < traffic.slices) return
      if (idle > MOST_IDLE_SESSIONS) throw new RangeError('No session can make a call.')
    }
  }
}
