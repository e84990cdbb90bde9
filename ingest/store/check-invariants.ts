import type { Database } from './load-sqlite.ts'

/** What an invariant is about: bytes of files, numbers of writers, sums of rows, the file itself. */
export type Invariant = 'bytes' | 'sequence' | 'counts' | 'damage'

/**
 * Looks whether the books balance: every byte of every stream is accounted for, every count is the
 * count of its rows, every stored number is in its writer's ranges. Returns what does not hold, as
 * sentences; none in a sound database. Reads all rows: seconds a million.
 */
export function checkInvariants(database: Database, only?: Invariant): string[] {
  const checks = only === undefined ? CHECKS : CHECKS.filter(({ about }) => about === only)
  return checks.flatMap(({ sql, say }) =>
    (database.prepare(sql).all() as Record<string, unknown>[]).slice(0, MAX_EACH).map(say),
  )
}

const MAX_EACH = 10

type Check = { about: Invariant; sql: string; say(row: Record<string, unknown>): string }

const CHECKS: readonly Check[] = [
  {
    about: 'bytes',
    sql: `
      SELECT id, path, row_bytes + quarantined_bytes + blank_bytes AS counted,
        committed_offset - base_offset AS read
      FROM stream WHERE counted <> read`,
    say: ({ path, counted, read }) =>
      `Of ${path} ${read} bytes were read and ${counted} are accounted for.`,
  },
  {
    about: 'bytes',
    sql: `
      SELECT path, quarantined_lines - removed_quarantined_lines AS quarantined_lines,
        quarantined_bytes - removed_quarantined_bytes AS quarantined_bytes,
        coalesce(sum(length_bytes), 0) AS kept_bytes, coalesce(sum(lines), 0) AS kept_lines
      FROM stream LEFT JOIN quarantine ON quarantine.stream_id = stream.id
      GROUP BY stream.id
      HAVING kept_bytes <> stream.quarantined_bytes - removed_quarantined_bytes
        OR kept_lines <> stream.quarantined_lines - removed_quarantined_lines`,
    say: ({ path, quarantined_lines, kept_lines }) =>
      `Of ${path} ${quarantined_lines} lines count as refused and ${kept_lines} are in the quarantine.`,
  },
  {
    about: 'counts',
    sql: `
      SELECT counted.tool_id, counted.calls, coalesce(stored.calls, 0) AS stored
      FROM (
        SELECT tool_id, class_id, outcome_id, server_id, client_id, quarter,
          calls - removed_calls AS calls, duration_us - removed_duration_us AS duration_us
        FROM quarter_count WHERE calls <> removed_calls
      ) AS counted
      LEFT JOIN (
        SELECT tool_id, class_id, outcome_id, server_id, client_id,
          started_ms / 900000 AS quarter, count(*) AS calls, sum(duration_us) AS duration_us
        FROM call GROUP BY 1, 2, 3, 4, 5, 6
      ) AS stored USING (tool_id, class_id, outcome_id, server_id, client_id, quarter)
      WHERE stored.calls IS NOT counted.calls OR stored.duration_us IS NOT counted.duration_us`,
    say: ({ tool_id, calls, stored }) =>
      `A quarter hour of tool ${tool_id} counts ${calls} calls and ${stored} are stored.`,
  },
  {
    about: 'counts',
    sql: `
      SELECT (SELECT count(*) FROM call) AS stored,
        coalesce(sum(calls - removed_calls), 0) AS counted
      FROM quarter_count WHERE true GROUP BY NULL HAVING stored <> counted`,
    say: ({ stored, counted }) => `${stored} calls are stored and ${counted} are counted.`,
  },
  {
    about: 'sequence',
    sql: `
      SELECT writer.w, call.n FROM call JOIN writer ON writer.id = call.writer_id
      WHERE writer.stamped = 1 AND NOT EXISTS (
        SELECT 1 FROM writer_range AS range WHERE range.writer_id = call.writer_id
          AND range.first_n <= call.n AND range.last_n >= call.n)`,
    say: ({ w, n }) => `Record ${n} of writer ${w} is stored and not among its numbers.`,
  },
  {
    about: 'sequence',
    sql: `
      SELECT writer.w, one.last_n AS last, other.first_n AS first FROM writer_range AS one
      JOIN writer_range AS other ON other.writer_id = one.writer_id AND other.first_n > one.first_n
        AND other.first_n <= one.last_n + 1
      JOIN writer ON writer.id = one.writer_id`,
    say: ({ w, last, first }) => `Ranges of writer ${w} overlap or touch at ${last} and ${first}.`,
  },
  {
    about: 'counts',
    sql: `
      SELECT call.id FROM call LEFT JOIN call_text ON call_text.call_id = call.id
      WHERE call_text.call_id IS NULL`,
    say: ({ id }) => `Call ${id} has no text.`,
  },
  {
    about: 'counts',
    sql: `
      SELECT call_id, sum(is_primary) AS primaries FROM call_signature
      GROUP BY call_id HAVING primaries <> 1`,
    say: ({ call_id, primaries }) => `Call ${call_id} has ${primaries} primary signatures.`,
  },
  {
    about: 'damage',
    sql: 'SELECT "table", rowid, parent FROM pragma_foreign_key_check',
    say: ({ table, rowid, parent }) => `Row ${rowid} of ${table} points to a missing ${parent}.`,
  },
  {
    about: 'damage',
    sql: "SELECT quick_check AS fault FROM pragma_quick_check WHERE quick_check <> 'ok'",
    say: ({ fault }) => `SQLite finds the file damaged: ${fault}.`,
  },
]
