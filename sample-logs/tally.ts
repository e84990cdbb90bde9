import {
  NIGHTLY_WINDOW,
  PLANTS,
  type Plant,
  type PlantedSummary,
  WEEKLY_WINDOW,
} from './planted.ts'
import type { CallEvent } from './simulation.ts'
import type { Windows } from './windows.ts'

export type Tally = {
  written(event: CallEvent): void
  calls(): number
  plants(): Pick<
    PlantedSummary,
    'calls' | 'wrongName' | 'stringNumber' | 'loops' | 'rateLimitBursts'
  >
}

/** Counts calls as they are written, so that what is claimed of a sample is what is in it. */
export function createTally(windows: Windows): Tally {
  const calls = Object.fromEntries(PLANTS.map((plant) => [plant, 0])) as Record<Plant, number>
  const firsts = new Map<Plant, number>()
  let corrected = 0
  let total = 0
  return {
    written({ record, plant, first, corrects }) {
      total += 1
      if (plant) calls[plant] += 1
      if (plant && first) firsts.set(plant, (firsts.get(plant) ?? 0) + 1)
      if (corrects) corrected += 1
      const window = windows.at(record.tool, record.started)
      if (!window) return
      window.calls += 1
      const planted = record.tool === NIGHTLY_WINDOW.tool ? NIGHTLY_WINDOW : WEEKLY_WINDOW
      if (record.error?.class === planted.class) window.failures += 1
    },
    calls: () => total,
    plants: () => ({
      calls,
      wrongName: { sessions: firsts.get('wrong_name') ?? 0, corrected },
      stringNumber: { sessions: firsts.get('string_number') ?? 0 },
      loops: firsts.get('loop') ?? 0,
      rateLimitBursts: firsts.get('rate_limited') ?? 0,
    }),
  }
}
