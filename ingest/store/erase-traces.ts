import { isObject } from '../formats/field-values.ts'
import type { ForgetWhat } from './forget-what.ts'
import type { Database } from './load-sqlite.ts'
import { QUARTER_MS } from './schema.ts'

/** What else of something forgotten is in the database, beside its calls; for a range of ids. */
export type TraceEraser = {
  /** Process records that tell of it: removed, or only its part of them. How many. */
  events(after: number, to: number): number
  /** Refused lines that may tell of it lose their sample; their place and reason stay. How many lines. */
  samples(after: number, to: number): number
  /** Calls that were only counted, and names that nothing uses any more. How many calls. */
  counts(): number
}

export function createTraceEraser(database: Database, what: ForgetWhat): TraceEraser {
  return {
    events: eventEraser(database, what),
    samples: sampleEraser(database, what),
    counts() {
      const calls = takeOldCounts(database, what)
      for (const sql of UNUSED_NAMES) database.prepare(sql).run()
      return calls
    },
  }
}

type EventRow = { id: number; kind: string; detail: string }

function eventEraser(database: Database, what: ForgetWhat): TraceEraser['events'] {
  const remove = database.prepare('DELETE FROM process_event WHERE id = ?')
  if (what.what === 'before') {
    const removeOld = database.prepare(
      'DELETE FROM process_event WHERE id > ? AND id <= ? AND at_ms < ?',
    )
    return (after, to) => removeOld.run(after, to, what.beforeMs).changes
  }
  const find = database.prepare(`
    SELECT id, kind, detail FROM process_event WHERE id > ? AND id <= ? AND instr(detail, ?) > 0`)
  const change = database.prepare('UPDATE process_event SET detail = ? WHERE id = ?')
  const name = what.what === 'tool' ? what.tool : what.session
  return (after, to) => {
    const found = find.all(after, to, JSON.stringify(name)) as EventRow[]
    for (const { id, detail } of found) {
      const rest = what.what === 'tool' ? withoutTool(detail, name) : undefined
      if (rest === undefined) remove.run(id)
      else change.run(rest, id)
    }
    return found.length
  }
}

/** Of `start` and `beat` records the tool's entries; undefined where the record is about the tool. */
function withoutTool(detail: string, tool: string): string | undefined {
  const record: unknown = JSON.parse(detail)
  if (!isObject(record) || record.tool === tool) return undefined
  for (const key of ['tools', 'open']) {
    const list = record[key]
    if (!Array.isArray(list)) continue
    record[key] = list.filter(
      (entry: unknown) => !isObject(entry) || (entry.name !== tool && entry.tool !== tool),
    )
  }
  const rest = JSON.stringify(record)
  return rest.includes(JSON.stringify(tool)) ? undefined : rest
}

function sampleEraser(database: Database, what: ForgetWhat): TraceEraser['samples'] {
  const condition = what.what === 'before' ? 'seen_ms < ?' : 'instr(sample, CAST(? AS BLOB)) > 0'
  const blank = database.prepare(`
    UPDATE quarantine SET sample = x'', sha256 = ''
    WHERE id > ? AND id <= ? AND length(sample) > 0 AND ${condition} RETURNING lines`)
  const value =
    what.what === 'before' ? what.beforeMs : what.what === 'tool' ? what.tool : what.session
  return (after, to) => {
    const blanked = blank.all(after, to, value) as { lines: number }[]
    return blanked.reduce((sum, { lines }) => sum + lines, 0)
  }
}

/** Of rows that were removed before only the counts are left, which know no session. */
function takeOldCounts(database: Database, what: ForgetWhat): number {
  if (what.what === 'session') return 0
  const [condition, value] =
    what.what === 'tool'
      ? ['tool_id IN (SELECT id FROM tool WHERE name = ?)', what.tool]
      : ['quarter < ?', Math.floor(what.beforeMs / QUARTER_MS)]
  const calls = database
    .prepare(`SELECT coalesce(sum(removed_calls), 0) FROM quarter_count WHERE ${condition}`)
    .pluck()
    .get(value) as number
  database
    .prepare(`
      UPDATE quarter_count SET calls = calls - removed_calls, removed_calls = 0,
        duration_us = duration_us - removed_duration_us, removed_duration_us = 0
      WHERE removed_calls <> 0 AND ${condition}`)
    .run(value)
  return calls
}

/** Each call of a tool or client is counted: what no count names has no call. */
const UNUSED_NAMES = [
  'DELETE FROM quarter_count WHERE calls = 0',
  `DELETE FROM signature WHERE tool_id NOT IN (SELECT tool_id FROM quarter_count)`,
  'DELETE FROM tool WHERE id NOT IN (SELECT tool_id FROM quarter_count)',
  'DELETE FROM client WHERE id <> 0 AND id NOT IN (SELECT client_id FROM quarter_count)',
]
