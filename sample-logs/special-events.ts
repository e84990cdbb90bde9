import { enqueueCall } from './call-events.ts'
import { clockOf, type Range } from './lives.ts'
import type { Processes } from './processes.ts'
import { createRandom } from './random.ts'
import { step } from './script.ts'
import type { Process, Queue } from './simulation.ts'
import { DAY_MS, MINUTE_MS } from './wall-clock.ts'
import { CLIENTS, DOCUMENT_IDS } from './world.ts'

/** Calls that hang when their process dies without a word. */
const HANGING_CALLS = 3

export type SpecialEvents = {
  /** Ids of the calls that no record tells of: only the last beat before the death names them. */
  hangingCalls: string[]
  rotated: Process
  lossy: Process
}

type SpecialEventOptions = {
  processes: Processes
  queue: Queue
  range: Range
  beatMs: number
  seed: number
}

export function plantSpecialEvents(options: SpecialEventOptions): SpecialEvents {
  const { processes, queue, range } = options
  const at = clockOf(range)
  const rotated = processAt(processes, 'docs-search', at(0.8, 12, 0))
  queue.push(at(0.8, 12, 0), { kind: 'rotate', process: rotated })
  const lossy = processAt(processes, 'billing', at(0.4, 10, 45))
  queue.push(at(0.4, 10, 45), { kind: 'lose', process: lossy })
  return { hangingCalls: plantHangingCalls(options), rotated, lossy }
}

function plantHangingCalls({ processes, queue, beatMs, seed }: SpecialEventOptions): string[] {
  const random = createRandom(seed, 'hanging calls')
  const dying = processes.all().find(({ life }) => life.ending === 'death')
  if (!dying) return []
  const { startMs, endMs } = dying.life
  const lastBeatMs = startMs + Math.floor((endMs - startMs - 1) / beatMs) * beatMs
  return Array.from({ length: HANGING_CALLS }, (_, index) => {
    const { name, version } = random.pick(CLIENTS)
    const document_id = `DOC-${random.integer(DOCUMENT_IDS.first, DOCUMENT_IDS.last)}`
    const event = enqueueCall(queue, {
      process: dying,
      step: step('summarize_document', { document_id }),
      fate: { outcome: 'succeeded', durationMs: DAY_MS, attempts: [] },
      caller: { session: random.hex(16), client: { name, version } },
      request: 2 + index,
      startedMs: lastBeatMs - random.integer(1, 20) * MINUTE_MS,
    })
    event.hanging = true
    return event.record.call
  })
}

function processAt(processes: Processes, server: 'billing' | 'docs-search', ms: number): Process {
  const process = processes.at(server, ms)
  if (!process)
    throw new RangeError(`No process of ${server} lives at ${new Date(ms).toISOString()}.`)
  return process
}
