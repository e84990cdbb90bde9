/**
 * What each column recorded, brought into one form. An entry is marked where an operator who
 * filters that tool's own records for failures would find it:
 *
 *   stderr      a line with error, exception, warning or fatal in it
 *   Sentry      an event with an exception; a span whose status is neither ok nor unset, or that
 *               carries error.type
 *   AgentCat    an event with isError
 *   mcp-trace   a line with an error, or whose response has isError
 *   Unsilent    a `call` that failed, or is flagged (suspect, empty, dropped, stray_stdout, not
 *               delivered); `late`, `fatal` and `drop`; a call left in the journal of a dead
 *               process; a dead process whose log has no `exit` record
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readOpenJournal } from '../../../server/call-log/open-journal.ts'
import type { ColumnId } from './columns.ts'

export type Entry = {
  /** Epoch ms; undefined where the record has none. */
  at: number | undefined
  /** Epoch ms, where the entry tells of a time from `at` on. */
  until?: number
  /** The record as text: names of tools are looked for in it. */
  text: string
  marked: boolean
}

type Json = Record<string, unknown>

export function entriesOf(column: ColumnId, logs: string, bodies: readonly string[]): Entry[] {
  if (column === 'sentry') return bodies.flatMap(sentryEntries)
  if (column === 'agentcat') return bodies.flatMap(agentcatEntries)
  if (column === 'mcp-trace') return linesIn(join(logs, 'trace.jsonl')).map(traceEntry)
  if (column.startsWith('unsilent')) return unsilentEntries(logs)
  return []
}

/** The marked entries that belong to a call: they name its tool, or no tool and fall into its time. */
export function isMarked(
  entries: readonly Entry[],
  tool: string,
  allTools: readonly string[],
  time: { from: number; to: number },
): boolean {
  const names = (text: string, name: string) => text.includes(`"${name}"`)
  return entries.some(({ at, until = at, text, marked }) => {
    if (!marked) return false
    if (names(text, tool)) return true
    if (at === undefined || until === undefined || at > time.to || until < time.from) return false
    return !allTools.some((name) => names(text, name))
  })
}

export function stderrEntry(text: string, at: number): Entry {
  return { at, text, marked: /error|exception|warning|fatal/i.test(text) }
}

/** An envelope: a header, then a header and a payload for each item, a line each. */
function sentryEntries(body: string): Entry[] {
  return body.split('\n').flatMap((line): Entry[] => {
    const item = parse(line)
    if (!item) return []
    if (Array.isArray(item.items)) return item.items.map(sentrySpan)
    if (item.exception) return [{ at: secondsToMs(item.timestamp), text: line, marked: true }]
    const contexts = item.contexts as { trace?: Json } | undefined
    if (item.type !== 'transaction' || !contexts?.trace) return []
    const { status, data } = contexts.trace
    const failed = status !== undefined && status !== 'ok' && status !== 'unset'
    const marked = failed || (data as Json | undefined)?.['error.type'] !== undefined
    return [{ at: secondsToMs(item.timestamp), text: line, marked }]
  })
}

/** Spans come in lists of their own from version 11 on. */
function sentrySpan(span: Json): Entry {
  const attributes = (span.attributes ?? {}) as Json
  return {
    at: secondsToMs(span.end_timestamp),
    text: JSON.stringify(span),
    marked: span.status !== 'ok' || attributes['error.type'] !== undefined,
  }
}

function agentcatEntries(body: string): Entry[] {
  const event = parse(body)
  if (!event) return []
  const isError = event.isError ?? event.is_error
  return [{ at: Date.parse(String(event.timestamp)), text: body, marked: isError === true }]
}

function traceEntry(line: string): Entry {
  const trace = parse(line) ?? {}
  const response = trace.response as Json | undefined
  return {
    at: Date.parse(String(trace.timestamp)),
    text: line,
    marked: Boolean(trace.error) || response?.isError === true,
  }
}

function unsilentEntries(logs: string): Entry[] {
  const names = existsSync(logs) ? readdirSync(logs) : []
  const records = names
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => linesIn(join(logs, name)))
  const recorded = new Set(records.map((line) => parse(line)?.call))
  const open = names
    .filter((name) => name.endsWith('.open'))
    .flatMap((name) => readOpenJournal(readFileSync(join(logs, name)))?.calls ?? [])
    .filter(({ call }) => !recorded.has(call))
    .map((entry) => ({ at: entry.started, text: JSON.stringify(entry), marked: true }))
  return [...records.map(unsilentEntry), ...open, ...unexplainedEnds(records)]
}

/**
 * Writers that began and never said that they ended: the reader shows them as died. Each died after
 * its last record and before the next one began.
 */
function unexplainedEnds(lines: readonly string[]): Entry[] {
  const writers = new Map<unknown, { began: number; last: number; ended: boolean }>()
  for (const line of lines) {
    const { kind, w, time } = parse(line) ?? {}
    const at = Number(time)
    const writer = writers.get(w) ?? { began: at, last: at, ended: false }
    writers.set(w, { ...writer, last: at, ended: writer.ended || kind === 'exit' })
  }
  const all = [...writers.values()].sort((a, b) => a.began - b.began)
  return all.flatMap(({ last, ended }, index): Entry[] => {
    const until = all[index + 1]?.began ?? Number.POSITIVE_INFINITY
    return ended ? [] : [{ at: last, until, text: '{"kind":"no exit"}', marked: true }]
  })
}

function unsilentEntry(line: string): Entry {
  const record = parse(line) ?? {}
  const result = record.result as Json | undefined
  const isFlagged =
    record.outcome === 'failed' ||
    result?.suspect !== undefined ||
    result?.empty !== undefined ||
    record.dropped !== undefined ||
    record.stray_stdout !== undefined ||
    record.delivered === false
  const marked =
    record.kind === 'call' ? isFlagged : ['late', 'fatal', 'drop'].includes(String(record.kind))
  return { at: Number(record.time), text: line, marked }
}

function secondsToMs(value: unknown): number | undefined {
  return typeof value === 'number' ? value * 1_000 : undefined
}

function linesIn(path: string): string[] {
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
}

function parse(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Json) : undefined
  } catch {
    return undefined
  }
}
