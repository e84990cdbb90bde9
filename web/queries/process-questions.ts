import type { ProcessRow } from './call-store.ts'
import type { Reader } from './reader.ts'
import { BEAT_GAPS, type BeatGapRow, PROCESSES, type ProcessDbRow } from './sql/processes.ts'

export function processes(reader: Reader, range: { fromMs: number; toMs: number }): ProcessRow[] {
  const gaps = new Map<number, ProcessRow['pauses']>()
  for (const row of reader.all<BeatGapRow>(BEAT_GAPS, [range.fromMs, range.toMs])) {
    const pause = {
      fromMs: row.from_ms,
      toMs: row.to_ms,
      loopDelayMs: row.loop_delay_ms ?? undefined,
    }
    gaps.set(row.writer_id, [...(gaps.get(row.writer_id) ?? []), pause])
  }
  return reader.all<ProcessDbRow>(PROCESSES, [range.toMs, range.fromMs]).map((row) => ({
    writer: row.w,
    server: row.server ?? '',
    version: row.version ?? '',
    pid: row.pid ?? undefined,
    hostname: row.hostname ?? undefined,
    bootId: row.boot_id ?? undefined,
    beatMs: row.beat_ms ?? undefined,
    startedMs: row.started_ms ?? undefined,
    lastSeenMs: row.last_seen_ms,
    exit:
      row.exited_ms === null
        ? undefined
        : {
            atMs: row.exited_ms,
            code: row.exit_code ?? undefined,
            reason: row.exit_reason ?? undefined,
          },
    fatal: row.fatal ?? undefined,
    openCalls: openCallsOf(row.open_calls),
    pauses: gaps.get(row.id) ?? [],
  }))
}

/** Of the last beat, as its record has them. */
function openCallsOf(json: string | null): ProcessRow['openCalls'] {
  const list: unknown = json === null ? [] : JSON.parse(json)
  if (!Array.isArray(list)) return []
  return list.flatMap((entry: unknown) => {
    if (typeof entry !== 'object' || entry === null) return []
    const { call, tool, ms } = entry as Record<string, unknown>
    if (typeof call !== 'string' || typeof tool !== 'string') return []
    return [{ call, tool, ms: typeof ms === 'number' ? ms : 0 }]
  })
}
