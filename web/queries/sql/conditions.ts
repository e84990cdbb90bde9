import { CALL_FLAGS, QUARTER_MS } from '../../../ingest/store/schema.ts'
import { ERROR_CLASSES, OUTCOMES } from '../../../server/call-log/record.ts'
import { type Filter, type FlagName, isOpen } from '../filter.ts'
import type { ChosenIds } from '../names.ts'
import { offsetSpans, patternNumbers, quarterOf } from '../time-zones.ts'

/** Constant SQL with its bound values, in order. Names of people never become part of the text. */
export type Condition = { sql: string; values: (number | string)[] }

/** `table` is the FROM clause: \`call\`, with an index where the planner cannot know better. */
export type CallCondition = Condition & { table: string }

type Part = Condition | undefined

/** True for what only single rows know, and quarter_count does not. */
export function isNarrow(filter: Filter): boolean {
  const { session, signature, text, flag } = filter
  return session !== undefined || signature !== undefined || text !== undefined || !isOpen(flag)
}

/** For `quarter_count`. What makes a filter narrow is left out. */
export function countCondition(filter: Filter, ids: ChosenIds): Condition {
  const [from, to] = [quarterOf(filter.fromMs), quarterOf(filter.toMs)]
  return all([
    { sql: 'quarter >= ? AND quarter < ?', values: [from, to] },
    wallClock(filter, 'quarter'),
    ...dimensions(ids, ''),
  ])
}

/** What other questions must answer first, needed only by filters that ask for it. */
export type Narrowing = {
  /** Calls of the range that carry the mark `loop`. */
  loopIds: readonly number[]
  /** Calls before this are not searched for text. */
  textFromMs: number
}

/** For `call`: the same calls that countCondition counts, one by one. */
export function callCondition(filter: Filter, ids: ChosenIds, narrowing: Narrowing): CallCondition {
  // Few calls have a signature or are in a loop: the plus keeps the planner from walking all times.
  const byId = filter.signature !== undefined || keepsLoopsOnly(filter)
  const started = byId ? '+call.started_ms' : 'call.started_ms'
  const range: Part = {
    sql: `${started} >= ? AND ${started} < ?`,
    values: [filter.fromMs, filter.toMs],
  }
  const wall = wallClock(filter, `call.started_ms / ${QUARTER_MS}`)
  const parts = [...dimensions(ids, 'call.'), ...narrow(filter, narrowing)]
  return { table: 'call', ...all([range, wall, ...parts]) }
}

/**
 * The same by the index of failures, which the planner cannot choose by itself: it needs to be told
 * that no class is 0, and to have tools and classes named. Only for filters that keep failures alone.
 */
export function failureCondition(
  where: CallCondition,
  ids: ChosenIds,
  all: { tools: readonly number[] },
): CallCondition {
  const missing: Condition[] = [{ sql: 'call.class_id <> 0', values: [] }]
  if (!ids.tools) missing.push(oneOf('call.tool_id', all.tools))
  if (!ids.classes) missing.push(oneOf('call.class_id', CLASS_IDS))
  return {
    table: 'call INDEXED BY call_failed',
    sql: [where.sql, ...missing.map(({ sql }) => sql)].join(' AND '),
    values: [...where.values, ...missing.flatMap(({ values }) => values)],
  }
}

const CLASS_IDS = ERROR_CLASSES.map((_, i) => i + 1)
const FAILED = OUTCOMES.indexOf('failed') + 1

/** Every failed call has a class, and no other call has one. */
export function keepsFailuresOnly(ids: ChosenIds): boolean {
  const { classes, outcomes } = ids
  if (classes && !classes.includes(0)) return true
  return outcomes?.every((id) => id === FAILED) ?? false
}

function all(parts: Part[]): Condition {
  const given = parts.filter((part) => part !== undefined)
  return {
    sql: given.map(({ sql }) => `(${sql})`).join(' AND '),
    values: given.flatMap(({ values }) => values),
  }
}

function dimensions(ids: ChosenIds, table: '' | 'call.'): Part[] {
  return [
    ids.tools && oneOf(`${table}tool_id`, ids.tools),
    ids.classes && oneOf(`${table}class_id`, ids.classes),
    ids.outcomes && oneOf(`${table}outcome_id`, ids.outcomes),
    ids.servers && oneOf(`${table}server_id`, ids.servers),
    ids.clients && oneOf(`${table}client_id`, ids.clients),
  ]
}

/** The list travels as one JSON text, so that its length does not change the statement. */
function oneOf(column: string, ids: readonly number[]): Condition {
  return { sql: `${column} IN (SELECT value FROM json_each(?))`, values: [JSON.stringify(ids)] }
}

function narrow(filter: Filter, { loopIds, textFromMs }: Narrowing): Part[] {
  return [
    filter.session === undefined
      ? undefined
      : {
          sql: 'call.session_id = (SELECT id FROM session WHERE key = ?)',
          values: [filter.session],
        },
    filter.signature === undefined ? undefined : withSignature(filter.signature),
    flags(filter, loopIds),
    filter.text === undefined ? undefined : holds(filter.text, textFromMs),
  ]
}

function withSignature(fingerprint: string): Condition {
  return {
    sql: `call.id IN (SELECT call_id FROM call_signature WHERE signature_id =
      (SELECT signature.id FROM signature WHERE fingerprint = ?))`,
    values: [fingerprint],
  }
}

/**
 * The text as it was typed, and as JSON writes it: both columns are JSON. Reading the error out of
 * its JSON is dear, so the whole is looked at first.
 */
function holds(text: string, fromMs: number): Condition {
  // LIKE ends its pattern at a NUL, which JSON writes as \u0000.
  const spellings = [text, JSON.stringify(text).slice(1, -1)].filter((one) => !one.includes('\0'))
  const patterns = [...new Set(spellings)].map(
    (written) => `%${written.replace(/[\\%_]/g, '\\$&')}%`,
  )
  const like = (column: string) =>
    `(${patterns.map(() => `${column} LIKE ? ESCAPE '\\'`).join(' OR ')})`
  const inError = `(${like('detail')} AND ${like("detail -> '$.error'")})`
  return {
    sql: `call.started_ms >= ? AND EXISTS (SELECT 1 FROM call_text WHERE call_id = call.id
      AND (${like('args')} OR ${inError}))`,
    values: [fromMs, ...patterns, ...patterns, ...patterns],
  }
}

function keepsLoopsOnly({ flag: { include } }: Filter): boolean {
  return include.length === 1 && include[0] === 'loop'
}

/** Any of the kept marks, and none of those left out. An empty list keeps all. */
function flags(filter: Filter, loopIds: readonly number[]): Part {
  if (isOpen(filter.flag)) return undefined
  const ids = JSON.stringify(loopIds)
  const { include, exclude } = filter.flag
  const kept = marked(include, ids)
  const leftOut = marked(exclude, ids)
  return all([
    include.length > 0 ? kept : undefined,
    exclude.length > 0 ? { sql: `NOT (${leftOut.sql})`, values: leftOut.values } : undefined,
  ])
}

/** Has one of the marks. */
function marked(names: readonly FlagName[], loopIds: string): Condition {
  const bits = bitsOf(names)
  const parts: Condition[] = []
  if (bits !== 0) parts.push({ sql: 'call.flags & ? <> 0', values: [bits] })
  if (names.includes('loop')) parts.push({ sql: IN_LOOP, values: [loopIds] })
  return {
    sql: parts.map(({ sql }) => sql).join(' OR '),
    values: parts.flatMap(({ values }) => values),
  }
}

const IN_LOOP = 'call.id IN (SELECT value FROM json_each(?))'

/** Marks that are bits of call.flags; `loop` is none. */
function bitsOf(names: readonly FlagName[]): number {
  return names.reduce((bits, name) => bits | (name === 'loop' ? 0 : CALL_FLAGS[name]), 0)
}

/** Times of day and weekdays, once for each offset that the zone has in the range. */
function wallClock(filter: Filter, quarter: string): Part {
  const numbers = patternNumbers(filter)
  if (!numbers) return undefined
  const spans = offsetSpans(filter.zone, quarterOf(filter.fromMs), quarterOf(filter.toMs))
  const one = `${quarter} >= ? AND ${quarter} < ? AND (${quarter} + ?) % 96 < ?
    AND (? >> (((${quarter} + ?) / 96 + 3) % 7)) & 1`
  return {
    sql: spans.map(() => `(${one})`).join(' OR '),
    values: spans.flatMap(({ fromQuarter, toQuarter, offsetQuarters }) => {
      const shift = offsetQuarters - numbers.startQuarter
      return [fromQuarter, toQuarter, shift, numbers.lengthQuarters, numbers.weekdayMask, shift]
    }),
  }
}
