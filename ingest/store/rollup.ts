import type { Database } from './load-sqlite.ts'
import { QUARTER_MS } from './schema.ts'

export type CountedCall = {
  toolId: number
  classId: number
  outcomeId: number
  serverId: number
  clientId: number
  startedMs: number
  durationUs: number
}

/** Adds up calls by quarter hour in memory and writes the sums once a transaction. */
export type Rollup = {
  /** `sign` −1 takes a call out again. */
  count(call: CountedCall, sign?: 1 | -1): void
  flush(): void
  forget(): void
}

/** One key of quarter_count but for the quarter. */
type Sum = { calls: number; durationUs: number; call: CountedCall }

/** Ids up to these make one number of at most 53 bits; larger ones are still told apart by text. */
const MAX_TOOL = 2 ** 22
const MAX_SERVER = 2 ** 12
const MAX_CLIENT = 2 ** 12

function keyOf({ toolId, classId, outcomeId, serverId, clientId }: CountedCall): number | string {
  if (toolId >= MAX_TOOL || serverId >= MAX_SERVER || clientId >= MAX_CLIENT) {
    return `${toolId},${classId},${outcomeId},${serverId},${clientId}`
  }
  const kind = classId * 8 + outcomeId
  return ((toolId * 128 + kind) * MAX_SERVER + serverId) * MAX_CLIENT + clientId
}

export function createRollup(database: Database): Rollup {
  const quarters = new Map<number, Map<number | string, Sum>>()
  const add = database.prepare(`
    INSERT INTO quarter_count
      (tool_id, class_id, outcome_id, server_id, client_id, quarter, calls, duration_us)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET
      calls = calls + excluded.calls, duration_us = duration_us + excluded.duration_us`)
  return {
    count(call, sign = 1) {
      const quarter = Math.floor(call.startedMs / QUARTER_MS)
      let sums = quarters.get(quarter)
      if (!sums) {
        sums = new Map()
        quarters.set(quarter, sums)
      }
      const key = keyOf(call)
      const sum = sums.get(key)
      if (sum) {
        sum.calls += sign
        sum.durationUs += sign * call.durationUs
      } else sums.set(key, { calls: sign, durationUs: sign * call.durationUs, call })
    },
    flush() {
      for (const [quarter, sums] of quarters) {
        for (const { calls, durationUs, call } of sums.values()) {
          const { toolId, classId, outcomeId, serverId, clientId } = call
          add.run(toolId, classId, outcomeId, serverId, clientId, quarter, calls, durationUs)
        }
      }
      quarters.clear()
    },
    forget: () => quarters.clear(),
  }
}
