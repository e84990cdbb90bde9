import type { Grade } from './finding.ts'

export type GradeFacts = {
  /** Benjamini–Hochberg false discovery rate. */
  q: number
  /** Units at risk (with calls in the window), in order: was each one hit, and in which unit it lay. */
  units: readonly { unit: number; hit: boolean }[]
  /** The unit in which the data end. */
  lastUnit: number
  /** Lower end of the risk ratio's 95 % interval. */
  riskRatioLow: number
}

const RECENT_UNITS = 5

/**
 * Words for how sure we are; undefined for what is not shown. `fading`: it was there and has not
 * been seen for a while. `emerging`: only in the last five units, of a longer history.
 */
export function gradeOf(facts: GradeFacts): Grade | undefined {
  const { q, units, lastUnit, riskRatioLow } = facts
  const hits = units.filter(({ hit }) => hit).length
  if (q > 0.05 || hits < 3) return undefined
  const share = hits / units.length
  const unitsSinceLastHit = [...units].reverse().findIndex(({ hit }) => hit)
  if (unitsSinceLastHit >= Math.max(3, 2 / share)) return 'fading'
  const isRecent = ({ unit }: { unit: number }) => unit > lastUnit - RECENT_UNITS
  const hasOlderUnits = units.some((unit) => !isRecent(unit))
  if (hasOlderUnits && units.every((unit) => !unit.hit || isRecent(unit))) return 'emerging'
  if (q <= 0.001 && hits >= 5 && share >= 0.6 && riskRatioLow >= 3) return 'confirmed'
  if (q <= 0.01 && share >= 0.4 && riskRatioLow >= 2) return 'likely'
  return 'possible'
}
