import type { ScannedWindow } from './recurrence-scan.ts'
import type { SlotWindow, Timeline } from './timeline.ts'

type SlotFacts = { hitUnits: number; rate: number }

/**
 * The scan's window lengths are coarse: from its slot with most failing units the window grows both
 * ways while the neighbour fails on at least a quarter as many units and at a quarter of the core's
 * rate, and at three times the overall rate.
 */
export function growBounds(timeline: Timeline, seed: ScannedWindow): SlotWindow {
  const { slotsPerUnit, maxLength } = timeline.frame
  const facts = (slot: number) =>
    factsOf(timeline, ((slot % slotsPerUnit) + slotsPerUnit) % slotsPerUnit)
  let core = seed.start
  for (let slot = seed.start; slot < seed.start + seed.length; slot++) {
    if (facts(slot).hitUnits > facts(core).hitUnits) core = slot
  }
  const centre = facts(core)
  const leastUnits = Math.max(2, centre.hitUnits / 4)
  const leastRate = Math.max(centre.rate / 4, 3 * overallRate(timeline))
  const belongs = (slot: number) => {
    const { hitUnits, rate } = facts(slot)
    return hitUnits >= leastUnits && rate >= leastRate
  }
  let [start, end] = [core, core + 1]
  let grew = true
  while (grew && end - start < maxLength) {
    grew = false
    if (belongs(end)) {
      end++
      grew = true
    }
    if (end - start < maxLength && belongs(start - 1)) {
      start--
      grew = true
    }
  }
  return { start: (start + slotsPerUnit) % slotsPerUnit, length: end - start }
}

function factsOf(timeline: Timeline, slotInUnit: number): SlotFacts {
  let [hitUnits, calls, failures] = [0, 0, 0]
  const { slotsPerUnit } = timeline.frame
  for (let slot = slotInUnit; slot < timeline.endSlot; slot += slotsPerUnit) {
    const failed = timeline.failures[slot] ?? 0
    if (failed > 0) hitUnits++
    calls += timeline.calls[slot] ?? 0
    failures += failed
  }
  return { hitUnits, rate: calls === 0 ? 0 : failures / calls }
}

function overallRate({ calls, failures }: Timeline): number {
  const total = calls.reduce((sum, n) => sum + n, 0)
  return total === 0 ? 0 : failures.reduce((sum, n) => sum + n, 0) / total
}
