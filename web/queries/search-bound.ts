import { QUARTER_MS } from '../../ingest/store/schema.ts'
import { keptQuarters } from './count-questions.ts'
import type { Filter } from './filter.ts'
import type { Reader } from './reader.ts'

/** Calls that one question looks at one by one: about a tenth of a second. */
const MAX_SEARCHED = 100_000

export type SearchBound = {
  /** The newest calls are searched, back to here (a full quarter hour). */
  fromMs: number
  /** How many calls under the rest of the filter that is, and how many there are. */
  searched: number
  calls: number
}

/** How far back a text is searched for: as many calls as one search may look at. */
export function searchBound(reader: Reader, filter: Filter): SearchBound {
  const rows = keptQuarters(reader, { ...filter, text: undefined })
  const calls = rows.reduce((total, { n }) => total + n, 0)
  let searched = 0
  let i = rows.length
  while (i > 0) {
    const quarter = rows[i - 1]?.quarter ?? 0
    let first = i
    let inQuarter = 0
    while (first > 0 && rows[first - 1]?.quarter === quarter) inQuarter += rows[--first]?.n ?? 0
    // The newest quarter is searched however full it is.
    if (searched > 0 && searched + inQuarter > MAX_SEARCHED) {
      return { fromMs: (quarter + 1) * QUARTER_MS, searched, calls }
    }
    searched += inQuarter
    i = first
  }
  return { fromMs: filter.fromMs, searched, calls }
}
