import { CALL_FLAGS, QUARTER_MS } from '../../../ingest/store/schema.ts'
import { type Filter, type FlagName, isOpen } from '../filter.ts'
import type { ChosenIds } from '../names.ts'
import { offsetSpans, patternNumbers, quarterOf } from '../time-zones.ts'

/** Constant SQL with its bound values, in order. Names of people never become part of the text. */
export type Condition = { sql: string; values: (number | string)[] }

type Part = Condition | undefined

/** True for what only single rows know, and quarter_count does not. */
export function isNarrow(filter: Filter): boolean {
  return filter.session !== undefined || filter.signature !== undefined || !isOpen(filter.flag)
}

/** For `quarter_count`. The filter must not be narrow. */
export function countCondition(filter: Filter, ids: ChosenIds): Condition {
  const [from, to] = [quarterOf(filter.fromMs), quarterOf(filter.toMs)]
  return all([
    { sql: 'quarter >= ? AND quarter < ?', values: [from, to] },
    wallClock(filter, 'quarter'),
    ...dimensions(ids, ''),
  ])
}

/**
 * For `call`: the same calls that countCondition counts, one by one. `loopIds` are those of the
 * range, needed only where the filter names the mark `loop`.
 */
export function callCondition(
  filter: Filter,
  ids: ChosenIds,
  loopIds: readonly number[],
): Condition {
  return all([
    { sql: 'call.started_ms >= ? AND call.started_ms < ?', values: [filter.fromMs, filter.toMs] },
    wallClock(filter, `call.started_ms / ${QUARTER_MS}`),
    ...dimensions(ids, 'call.'),
    ...narrow(filter, loopIds),
  ])
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
    oneOf(`${table}tool_id`, ids.tools),
    oneOf(`${table}class_id`, ids.classes),
    oneOf(`${table}outcome_id`, ids.outcomes),
    oneOf(`${table}server_id`, ids.servers),
    oneOf(`${table}client_id`, ids.clients),
  ]
}

/** The list travels as one JSON text, so that its length does not change the statement. */
function oneOf(column: string, ids: number[] | undefined): Part {
  if (!ids) return undefined
  return { sql: `${column} IN (SELECT value FROM json_each(?))`, values: [JSON.stringify(ids)] }
}

function narrow(filter: Filter, loopIds: readonly number[]): Part[] {
  return [
    filter.session === undefined
      ? undefined
      : {
          sql: 'call.session_id = (SELECT id FROM session WHERE key = ?)',
          values: [filter.session],
        },
    filter.signature === undefined ? undefined : withSignature(filter.signature),
    flags(filter, loopIds),
  ]
}

function withSignature(fingerprint: string): Condition {
  return {
    sql: `call.id IN (SELECT call_id FROM call_signature WHERE signature_id =
      (SELECT signature.id FROM signature WHERE fingerprint = ?))`,
    values: [fingerprint],
  }
}

function flags(filter: Filter, loopIds: readonly number[]): Part {
  if (isOpen(filter.flag)) return undefined
  const { include, exclude } = filter.flag
  const ids = JSON.stringify(loopIds)
  // Any of the kept marks, and none of those left out. An empty list keeps all.
  const kept = `? = 0 OR call.flags & ? <> 0 OR (? AND ${IN_LOOP})`
  const leftOut = `call.flags & ? <> 0 OR (? AND ${IN_LOOP})`
  const wantsLoops = include.includes('loop') ? 1 : 0
  const leavesLoops = exclude.includes('loop') ? 1 : 0
  const keptValues = [include.length, bitsOf(include), wantsLoops, ids]
  return {
    sql: `(${kept}) AND NOT (${leftOut})`,
    values: [...keptValues, bitsOf(exclude), leavesLoops, ids],
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
