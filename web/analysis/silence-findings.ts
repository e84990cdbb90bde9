import type { CallStore } from '../queries/call-store.ts'
import { type Filter, printFilter, withRange } from '../queries/filter.ts'
import { DAY_MS } from '../queries/time-zones.ts'
import { type Finding, type Grade, stableId } from './finding.ts'
import { findSilences, type Silence, type SilenceKind } from './silences.ts'
import { sum } from './statistics.ts'
import { durationText, listText, momentText, plural } from './words.ts'

/** The calls that are shown for a silence: those of the server's last hour. */
const LAST_HOUR_MS = 3_600_000
const RECENT_DAYS = 14
/** Pauses of sleeping laptops and short stalls are no findings. */
const MIN_PAUSE_MS = 5 * 60_000

export function silencesIn(store: CallStore, filter: Filter, nowMs: number): Silence[] {
  return findSilences(store.processes(filter), nowMs).filter(
    ({ fromMs }) => fromMs >= filter.fromMs && fromMs < filter.toMs,
  )
}

/** One finding a server and kind of silence, told by its newest one. */
export function silenceFindings(
  all: readonly Silence[],
  store: CallStore,
  filter: Filter,
  nowMs: number,
): Finding[] {
  const groups = new Map<string, Silence[]>()
  for (const silence of all) {
    if (!isWorthTelling(silence)) continue
    const key = JSON.stringify([silence.server, silence.kind])
    groups.set(key, [...(groups.get(key) ?? []), silence])
  }
  return [...groups.values()].flatMap((silences) => {
    const newest = silences.at(-1)
    return newest ? [silenceFinding(newest, silences, store, filter, nowMs)] : []
  })
}

function isWorthTelling({ kind, server, fromMs, toMs }: Silence): boolean {
  if (server === '') return false
  if (kind === 'asleep') return false
  return kind !== 'hung' || (toMs ?? fromMs) - fromMs >= MIN_PAUSE_MS
}

function silenceFinding(
  newest: Silence,
  silences: readonly Silence[],
  store: CallStore,
  filter: Filter,
  nowMs: number,
): Finding {
  const { server, kind, fromMs } = newest
  const evidence: Filter = {
    ...withRange(filter, fromMs - LAST_HOUR_MS, fromMs + 1),
    server: { include: [server], exclude: [] },
  }
  const { calls, sessions } = store.impact(evidence)
  return {
    id: stableId('silence', [server, kind]),
    kind: 'silence',
    family: 'process',
    grade: gradeOfSilence(newest, nowMs),
    server,
    tool: undefined,
    class: undefined,
    sentence: sentenceOf(newest, silences, filter.zone),
    impact: { calls, sessions },
    impactText: `${plural(calls, 'call')} in its last hour`,
    action: ACTIONS[kind],
    paste: undefined,
    check: `It is called fading after ${RECENT_DAYS} days without another one.`,
    evidenceQuery: printFilter(evidence).toString(),
    detailPath: `/calls?${printFilter(evidence)}`,
  }
}

/** Facts, not statistics: only their age matters. */
function gradeOfSilence({ kind, fromMs }: Silence, nowMs: number): Grade {
  return kind === 'gone' || nowMs - fromMs < RECENT_DAYS * DAY_MS ? 'confirmed' : 'fading'
}

const VERBS: Record<SilenceKind, string> = {
  killed: 'ended without a word',
  machine_restarted: 'went down with its machine',
  gone: 'fell silent and has not come back',
  crashed: 'crashed',
  refused: 'refused to start',
  hung: 'hung',
  asleep: 'stood still',
}

/** "`docs` ended without a word on Thu 2 Apr 22:20 and was silent for 5 hours, with 3 calls open." */
function sentenceOf(newest: Silence, silences: readonly Silence[], zone: string): string {
  const { server, kind, fromMs, process } = newest
  const when = `on ${momentText(zone, fromMs)}`
  const start =
    silences.length === 1
      ? `\`${server}\` ${VERBS[kind]} ${when}`
      : `\`${server}\` ${VERBS[kind]} ${silences.length} times, last ${when}`
  const silentMs = sum(silences.map((silence) => (silence.toMs ?? silence.fromMs) - silence.fromMs))
  const silent =
    silentMs < 60_000
      ? ''
      : ` and was silent for ${durationText(silentMs)}${silences.length > 1 ? ' in all' : ''}`
  const words = process.fatal ?? (kind === 'crashed' ? process.exit?.reason : undefined)
  const lastWords = words === undefined ? '' : `: ${words.split('\n', 1)[0]?.slice(0, 160)}`
  const isLost = kind === 'killed' || kind === 'machine_restarted' || kind === 'gone'
  const open = isLost && process.openCalls.length > 0 ? openText(process.openCalls) : ''
  const alive = newest.othersAlive ? ' (other processes of it went on)' : ''
  return `${start}${silent}${open}${alive}${lastWords}`.replace(/\.?$/, '.')
}

function openText(open: Silence['process']['openCalls']): string {
  const tools = [...new Set(open.map(({ tool }) => `\`${tool}\``))]
  return `, with ${plural(open.length, 'call')} of ${listText(tools)} open`
}

const ACTIONS: Record<SilenceKind, string> = {
  killed:
    'Nothing of its own ended it: look at the operating system’s log for the out-of-memory killer, and at whoever stops the process without a signal it can hear.',
  machine_restarted: 'The machine was started anew; make sure that the server is started with it.',
  gone: 'Look whether the process is running and whether its log is still written where it is read.',
  crashed:
    'The log has the error’s stack: see the last calls. The wrapper catches what a tool throws; this came from elsewhere in the process.',
  refused: 'Set what the message asks for; the server was right not to start without it.',
  hung: 'Something kept the event loop busy: look at the calls before it for synchronous work or very large results.',
  asleep: 'The process was stopped or the machine slept.',
}
