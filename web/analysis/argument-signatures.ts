import type { CallStore, SignatureRow, WrongNameRow } from '../queries/call-store.ts'
import { type Filter, printFilter } from '../queries/filter.ts'
import { DAY_MS } from '../queries/time-zones.ts'
import { type ArgumentFix, argumentFix, parameterOf, wrongNameFix } from './argument-fix.ts'
import { type Finding, type Grade, stableId } from './finding.ts'
import { wilsonInterval } from './statistics.ts'
import { impactWords, listText, percentText, plural } from './words.ts'

/** Below this many sessions a signature may be one caller's slip: it is folded away. */
const MIN_SESSIONS = 2
/** Share of an unknown key's calls that lack one and the same parameter, to say what was meant. */
const PAIR_SHARE = 0.8

/** A signature with what its calls have to say together. */
export type RankedSignature = {
  /** Its finding's id, where there is one. */
  id: string
  row: SignatureRow
  /** The parameter that was meant by an unknown key, and how that is known. */
  meant: { name: string; by: 'pair' | 'spelling' } | undefined
  /** Wilson's lower bound of the share of sessions × log2(1 + calls). */
  score: number
  fix: ArgumentFix
  sentence: string
}

export type RankedSignatures = {
  /** In at least two sessions, best score first. */
  recurring: RankedSignature[]
  /** In one session only, in the same order. */
  isolated: RankedSignature[]
}

/**
 * Ranks by sessions before calls: one caller in a loop makes many calls of one mistake. A missing
 * parameter that always comes with one wrong name is left to that name's row.
 */
export function rankSignatures(
  rows: readonly SignatureRow[],
  pairs: readonly WrongNameRow[],
): RankedSignatures {
  const explained = new Set<string>()
  const meantBy = new Map<string, string>()
  for (const { unknown, missing, calls, sessions } of pairs) {
    const callsOf = (fingerprint: string) =>
      rows.find((row) => row.fingerprint === fingerprint)?.calls ?? 0
    if (sessions < MIN_SESSIONS || calls < PAIR_SHARE * callsOf(unknown.fingerprint)) continue
    meantBy.set(unknown.fingerprint, missing.path)
    if (calls >= PAIR_SHARE * callsOf(missing.fingerprint)) explained.add(missing.fingerprint)
  }
  const ranked = rows
    .filter((row) => !explained.has(row.fingerprint))
    .map((row) => rank(row, meantBy.get(row.fingerprint)))
    .sort((a, b) => b.score - a.score || b.row.calls - a.row.calls)
  return {
    recurring: ranked.filter(({ row }) => row.sessions >= MIN_SESSIONS),
    isolated: ranked.filter(({ row }) => row.sessions < MIN_SESSIONS),
  }
}

function rank(row: SignatureRow, pairedWith: string | undefined): RankedSignature {
  const meant = meantName(row, pairedWith)
  const name = parameterOf(row.path) ?? row.path
  const share = wilsonInterval(row.sessions, row.toolSessions)?.low ?? 0
  return {
    id: stableId('arguments', [row.fingerprint]),
    row,
    meant,
    score: share * Math.log2(1 + row.calls),
    fix: row.code === 'unknown_key' ? wrongNameFix(row.tool, name, meant?.name) : argumentFix(row),
    sentence: sentenceOf(row, meant),
  }
}

function meantName(row: SignatureRow, pairedWith: string | undefined): RankedSignature['meant'] {
  if (pairedWith !== undefined) return { name: pairedWith, by: 'pair' }
  return row.suggest === undefined ? undefined : { name: row.suggest, by: 'spelling' }
}

/** "`search` is sent `querry`, probably meant as `query`: 41 calls in 17 of 60 sessions." */
function sentenceOf(row: SignatureRow, meant: RankedSignature['meant']): string {
  const n = `${plural(row.calls, 'call')} in ${row.sessions} of ${plural(row.toolSessions, 'session')}`
  const by = row.clients.length === 0 ? '' : `, by ${listText(row.clients)}`
  return `\`${row.tool}\` ${faultText(row, meant)}: ${n}${by}.`
}

function faultText(row: SignatureRow, meant: RankedSignature['meant']): string {
  const sent = row.received === undefined ? 'something else' : withArticle(row.received)
  const expected = row.expected === undefined ? 'its type' : row.expected
  switch (row.code) {
    case 'unknown_key':
      return `is sent \`${row.path}\`, ${unknownKeyText(row, meant)}`
    case 'missing_required':
      return `is called without \`${row.path}\``
    case 'wrong_type':
      return `gets ${sent} in \`${row.path}\` where ${withArticle(expected)} is needed`
    case 'not_in_enum':
      return `gets a value in \`${row.path}\` that is not ${expected}`
    case 'out_of_range':
      return `gets \`${row.path}\` out of its range (${expected})`
    case 'bad_format':
      return `gets \`${row.path}\` in a wrong format (${expected})`
    case 'too_long':
    case 'too_short':
      return `gets \`${row.path}\` ${row.code === 'too_long' ? 'too long' : 'too short'} (${expected})`
    case 'union_no_match':
      return `gets a \`${row.path}\` that fits none of its forms`
    case 'malformed_json':
      return `gets arguments that are no JSON object`
    default:
      return `gets a wrong \`${row.path}\``
  }
}

function unknownKeyText(row: SignatureRow, meant: RankedSignature['meant']): string {
  if (meant?.by === 'pair') return `in place of \`${meant.name}\``
  if (meant) return `probably meant as \`${meant.name}\``
  return row.failures === 0 ? 'which it ignores' : 'which it does not have'
}

function withArticle(noun: string): string {
  if (!/^[a-z]+\b/.test(noun) || /^(one of|null)/.test(noun)) return noun
  return /^[aeio]/.test(noun) ? `an ${noun}` : `a ${noun}`
}

/** The findings of a range, best first. */
export function argumentFindings(store: CallStore, filter: Filter, nowMs: number): Finding[] {
  const { recurring } = rankSignatures(store.signatures(filter), store.wrongNames(filter))
  return recurring.map((ranked) => argumentFinding(ranked, store, filter, nowMs))
}

function argumentFinding(
  { id, row, fix, sentence }: RankedSignature,
  store: CallStore,
  filter: Filter,
  nowMs: number,
): Finding {
  const failed = row.failures > 0
  const evidence: Filter = { ...filter, signature: row.fingerprint }
  const { calls, sessions } = store.impact(evidence)
  return {
    id,
    kind: failed ? 'malformed_arguments' : 'ignored_arguments',
    family: 'arguments',
    grade: gradeOfSignature(row, filter, nowMs),
    server: row.server,
    tool: row.tool,
    class: failed ? 'invalid_arguments' : undefined,
    sentence,
    impact: { calls, sessions },
    impactText: impactWords(failed ? 'failed call' : 'call', { calls, sessions }),
    action: fix.action,
    paste: fix.paste,
    check: checkOf(row),
    evidenceQuery: printFilter(evidence).toString(),
    detailPath: `/arguments#${id}`,
  }
}

/**
 * Sessions are the replicate here. New: first seen in the last two of at least seven days. Fading:
 * quiet for at least three days and a third of the time since it was first seen.
 */
export function gradeOfSignature(row: SignatureRow, filter: Filter, nowMs: number): Grade {
  const ago = nowMs - row.lastMs
  if (ago >= Math.max(3 * DAY_MS, (nowMs - row.firstMs) / 3)) return 'fading'
  const rangeIsLong = filter.toMs - filter.fromMs >= 7 * DAY_MS
  if (rangeIsLong && nowMs - row.firstMs <= 2 * DAY_MS) return 'emerging'
  if (row.sessions >= 5) return 'confirmed'
  return row.sessions >= 3 ? 'likely' : 'possible'
}

function checkOf(row: SignatureRow): string {
  const interval = wilsonInterval(row.sessions, row.toolSessions)
  const share = interval
    ? `now ${percentText(interval.low)} to ${percentText(interval.high)} of the sessions that call \`${row.tool}\``
    : 'none yet'
  // Three times the mean distance between two affected sessions: chance leaves such a gap once in 20.
  const needed = Math.ceil((3 * row.toolSessions) / Math.max(1, row.sessions))
  return `Over when ${plural(needed, 'session')} in a row call it without this; ${share}.`
}
