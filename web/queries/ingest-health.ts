import type { Database } from '../../ingest/store/load-sqlite.ts'
import type { IngestHealth } from './call-store.ts'
import { printableSample } from './quarantine.ts'
import {
  DATABASE_BYTES,
  GAPS,
  type GapRow,
  INGESTER,
  type IngesterRow,
  NEWEST_QUARANTINED,
  QUARANTINE_SUMS,
  type QuarantinedRow,
  type QuarantineSumRow,
  REMOVALS,
  type RemovalRow,
  type SizeRow,
  STREAMS,
  type StreamRow,
} from './sql/health.ts'

const SAMPLE_CHARACTERS = 200

export function readIngestHealth(database: Database): IngestHealth {
  const all = <Row>(sql: string) => database.prepare<[], Row>(sql).all()
  return {
    streams: all<StreamRow>(STREAMS).map((row) => ({
      path: row.path,
      state: row.state,
      committedOffset: row.committed_offset,
      rows: row.rows,
      duplicateRows: row.duplicate_rows,
      quarantinedLines: row.quarantined_lines,
      lastGrowthMs: row.last_growth_ms,
    })),
    quarantine: all<QuarantineSumRow>(QUARANTINE_SUMS),
    quarantined: all<QuarantinedRow>(NEWEST_QUARANTINED).map((row) => ({
      path: row.path,
      lineNumber: row.line_number,
      lineOffset: row.line_offset,
      lengthBytes: row.length_bytes,
      lines: row.lines,
      reason: row.reason,
      sample: printableSample(row.sample, SAMPLE_CHARACTERS),
    })),
    gaps: all<GapRow>(GAPS).map((row) => ({
      writer: row.w,
      server: row.server ?? undefined,
      firstN: row.first_n,
      lastN: row.last_n,
      reason: row.reason ?? undefined,
      exited: row.exited === 1,
    })),
    removals: all<RemovalRow>(REMOVALS).map((row) => ({
      reason: row.reason,
      calls: row.calls,
      events: row.events,
      refusedLines: row.refused_lines,
      lastMs: row.last_ms,
      newestMs: row.newest_ms ?? undefined,
    })),
    ingester: ingester(all<IngesterRow>(INGESTER)[0]),
    databaseBytes: all<SizeRow>(DATABASE_BYTES)[0]?.bytes ?? 0,
  }
}

function ingester(row: IngesterRow | undefined): IngestHealth['ingester'] {
  if (!row) return undefined
  return {
    pid: row.pid,
    lastPollMs: row.last_poll_ms,
    lagBytes: row.lag_bytes,
    roots: texts(row.roots),
    problems: texts(row.problems),
  }
}

/** A JSON list as lines of text; what is not a list of texts is shown as it is. */
function texts(json: string): string[] {
  const list: unknown = JSON.parse(json)
  if (!Array.isArray(list)) return [json]
  return list.map((entry: unknown) => (typeof entry === 'string' ? entry : JSON.stringify(entry)))
}
