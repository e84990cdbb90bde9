import type { Reader } from './reader.ts'
import { COUNTED_EXTENT, EXTENT, type ExtentRow } from './sql/calls.ts'
import { ANY_REMOVED } from './sql/counts.ts'

export type Extent = { firstMs: number; lastMs: number }

/** Of all calls, those that are only counted any more included. */
export function extentOf(reader: Reader): Extent | undefined {
  const rows = known(reader.first<ExtentRow>(EXTENT))
  if (reader.first(ANY_REMOVED) === undefined) return rows
  const counts = reader.remember('counted extent', undefined, () =>
    known(reader.first<ExtentRow>(COUNTED_EXTENT)),
  )
  if (!rows || !counts) return rows ?? counts
  return {
    firstMs: Math.min(rows.firstMs, counts.firstMs),
    lastMs: Math.max(rows.lastMs, counts.lastMs),
  }
}

function known(row: ExtentRow | undefined): Extent | undefined {
  if (!row || row.first_ms === null || row.last_ms === null) return undefined
  return { firstMs: row.first_ms, lastMs: row.last_ms }
}
