import type { ResultDay } from './call-store.ts'
import type { Filter } from './filter.ts'
import type { Reader } from './reader.ts'
import { type ResultDayRow, resultDayRows } from './sql/results.ts'

export function resultDays(reader: Reader, filter: Filter): ResultDay[] {
  const succeeded: Filter = {
    ...filter,
    outcome: { include: ['retried', 'succeeded'], exclude: [] },
  }
  return reader.remember('result days', succeeded, () => {
    const { callsByTime: where } = reader.select(succeeded)
    const { tools } = reader.names()
    return reader.all<ResultDayRow>(resultDayRows(where), where.values).map((row) => ({
      server: tools.get(row.tool_id)?.server ?? '',
      tool: tools.get(row.tool_id)?.name ?? '',
      day: row.day,
      calls: row.calls,
      empty: row.empty,
      suspect: row.suspect,
    }))
  })
}
