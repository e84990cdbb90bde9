import type { CallStore, QuarterSeries } from '../queries/call-store.ts'
import { type Filter, printFilter, withRange } from '../queries/filter.ts'
import { DAY_MS } from '../queries/time-zones.ts'
import { type Finding, type Grade, stableId } from './finding.ts'
import { type Episode, findEpisodes, type Incident, mergeEpisodes } from './incidents.ts'
import { binomialTail, sum } from './statistics.ts'
import type { TimeoutWindow } from './timeout-window.ts'
import { durationText, familyOf, impactWords, listText, momentText, percentText } from './words.ts'

/** Older ones are history: on the page of incidents, not among the findings. */
const RECENT_DAYS = 7
const MAX_FINDINGS = 5
const MIN_SESSIONS = 3
const MAX_P_WITHOUT_LOOPS = 0.001
/** No failure for so long: it is over. */
const OVER_AFTER_MS = 30 * 60_000

/** All incidents of the range, newest first. */
export function incidentsIn(
  store: CallStore,
  filter: Filter,
  series: readonly QuarterSeries[],
  windows: readonly TimeoutWindow[],
): Incident[] {
  const episodes = findEpisodes(series, windows).filter((episode) =>
    isOutage(episode, store, filter),
  )
  const incidents = mergeEpisodes(episodes, (episode) => upstreamOf(episode, store, filter))
  return incidents.sort((a, b) => b.fromMs - a.fromMs)
}

/**
 * Wrong arguments are the callers' and have findings of their own. What a tool answers itself may be
 * a few callers repeating themselves: there each loop counts once, and three sessions must be hit.
 */
function isOutage(episode: Episode, store: CallStore, filter: Filter): boolean {
  const family = familyOf(episode.class)
  if (family === 'network' || episode.class === 'crashed') return true
  if (family === 'arguments') return false
  const evidence = evidenceOf([episode], filter)
  if (store.impact(evidence).sessions < MIN_SESSIONS) return false
  const inLoops = store.impact({ ...evidence, flag: { include: ['loop'], exclude: [] } })
  const collapsed = episode.failures - inLoops.calls + inLoops.sessions
  return binomialTail(episode.calls, episode.usualRate, collapsed) <= MAX_P_WITHOUT_LOOPS
}

function upstreamOf(episode: Episode, store: CallStore, filter: Filter): string | undefined {
  const [row] = store.calls(evidenceOf([episode], filter), { limit: 1 }).rows
  const error = row && store.call(row.id)?.detail.error
  if (typeof error !== 'object' || error === null || !('upstream' in error)) return undefined
  return typeof error.upstream === 'string' ? error.upstream : undefined
}

/** The failing calls of all the tools between the first start and the last end. */
function evidenceOf(episodes: readonly Episode[], filter: Filter): Filter {
  const all = <K extends 'server' | 'tool' | 'class'>(name: K): Episode[K][] =>
    [...new Set(episodes.map((episode) => episode[name]))].sort()
  const fromMs = Math.min(...episodes.map((episode) => episode.fromMs))
  const toMs = Math.max(...episodes.map((episode) => episode.toMs))
  return {
    ...withRange(filter, fromMs, toMs),
    server: { include: all('server'), exclude: [] },
    tool: { include: all('tool'), exclude: [] },
    class: { include: all('class'), exclude: [] },
    outcome: { include: ['failed'], exclude: [] },
  }
}

export function incidentFindings(
  incidents: readonly Incident[],
  store: CallStore,
  filter: Filter,
  nowMs: number,
): Finding[] {
  return incidents
    .filter(({ toMs }) => nowMs - toMs < RECENT_DAYS * DAY_MS)
    .slice(0, MAX_FINDINGS)
    .flatMap((incident) => incidentFinding(incident, store, filter, nowMs) ?? [])
}

function incidentFinding(
  incident: Incident,
  store: CallStore,
  filter: Filter,
  nowMs: number,
): Finding | undefined {
  const [onset] = incident.episodes
  if (!onset) return undefined
  const evidence = evidenceOf(incident.episodes, filter)
  const { calls, sessions } = store.impact(evidence)
  const isOver = nowMs - incident.toMs >= OVER_AFTER_MS
  return {
    id: stableId('incident', [onset.server, onset.tool, onset.class, onset.fromMs]),
    kind: 'incident',
    family: familyOf(onset.class),
    grade: gradeOfIncident(incident, isOver),
    server: onset.server,
    tool: onset.tool,
    class: onset.class,
    sentence: incidentSentence(incident, filter.zone, isOver),
    impact: { calls, sessions },
    impactText: impactWords('failed call', { calls, sessions }),
    action: actionOf(incident),
    paste: undefined,
    check: endText(incident, store, filter, isOver),
    evidenceQuery: printFilter(evidence).toString(),
    detailPath: `/calls?${printFilter(evidence)}`,
  }
}

/** How surely it was more than the usual failures. */
function gradeOfIncident({ episodes }: Incident, isOver: boolean): Grade {
  if (!isOver) return 'emerging'
  const q = Math.min(...episodes.map((episode) => episode.q))
  const failures = sum(episodes.map((episode) => episode.failures))
  if (q <= 0.001 && failures >= 5) return 'confirmed'
  return q <= 0.01 ? 'likely' : 'possible'
}

/** "`a` and `b`: 46 of 60 calls failed (connection) from Tue 3 Mar 14:00, for about 45 minutes." */
function incidentSentence(incident: Incident, zone: string, isOver: boolean): string {
  const { episodes, fromMs, toMs, upstream } = incident
  const tools = [...new Set(episodes.map(({ tool }) => `\`${tool}\``))]
  const classes = [...new Set(episodes.map((episode) => episode.class))]
  const failures = sum(episodes.map((episode) => episode.failures))
  const calls = sum(episodes.map((episode) => episode.calls))
  const to = upstream === undefined ? '' : `, upstream ${upstream}`
  const length = isOver ? `for about ${durationText(toMs - fromMs)}` : 'and it goes on'
  return `${listText(tools)}: ${failures} of ${calls} calls failed (${listText(classes)}${to}) from ${momentText(zone, fromMs)}, ${length}.`
}

function actionOf({ episodes, upstream }: Incident): string {
  const [onset] = episodes
  const usual = `${percentText(onset?.usualRate ?? 0)} is usual for \`${onset?.tool}\``
  const many = episodes.length > 1 ? ` It began with \`${onset?.tool}\`.` : ''
  const where = upstream === undefined ? 'what it depends on' : upstream
  return `Consistent with an outage of ${where}; ${usual}.${many} Compare the times with the operator’s own reports.`
}

function endText(incident: Incident, store: CallStore, filter: Filter, isOver: boolean): string {
  if (!isOver) return 'Over when half an hour passes without such a failure.'
  const { outcome: _, class: __, ...rest } = evidenceOf(incident.episodes, filter)
  const open = { include: [], exclude: [] }
  const after = withRange(
    { ...rest, outcome: open, class: open },
    incident.toMs,
    incident.toMs + 2 * 3_600_000,
  )
  const { rated, failures } = store.keyFigures(after)
  return rated === 0
    ? 'Nobody called these tools in the two hours after it.'
    : `In the two hours after it ${rated - failures} of ${rated} calls succeeded.`
}
