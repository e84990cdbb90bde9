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

type Sum = { key: number[]; calls: number; durationUs: number }

export function createRollup(database: Database): Rollup {
  const sums = new Map<string, Sum>()
  const add = database.prepare(`
    INSERT INTO quarter_count
      (tool_id, class_id, outcome_id, server_id, client_id, quarter, calls, duration_us)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET
      calls = calls + excluded.calls, duration_us = duration_us + excluded.duration_us`)
  return {
    count(call, sign = 1) {
      const key = [
        call.toolId,
        call.classId,
        call.outcomeId,
        call.serverId,
        call.clientId,
        Math.floor(call.startedMs / QUARTER_MS),
      ]
      const name = key.join()
      let sum = sums.get(name)
      if (!sum) {
        sum = { key, calls: 0, durationUs: 0 }
        sums.set(name, sum)
      }
      sum.calls += sign
      sum.durationUs += sign * call.durationUs
    },
    flush() {
      for (const { key, calls, durationUs } of sums.values()) add.run(...key, calls, durationUs)
      sums.clear()
    },
    forget: () => sums.clear(),
  }
}
