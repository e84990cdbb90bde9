import { ERROR_CLASSES, type ErrorClass } from '../../server/call-log/record.ts'
import type { CallStore } from '../queries/call-store.ts'
import { type Filter, printFilter } from '../queries/filter.ts'
import { DAY_MS } from '../queries/time-zones.ts'
import { type Finding, type Grade, stableId } from './finding.ts'
import { findLoops, type LoopEnding, type RetryLoop } from './retry-loops.ts'
import { durationText, familyOf, impactWords, plural } from './words.ts'

/** All loops of one tool that fail with one class. */
export type LoopGroup = {
  id: string
  server: string
  tool: string
  class: ErrorClass
  loops: RetryLoop[]
  sessions: number
  wastedCalls: number
  wastedMs: number
  endings: Record<LoopEnding, number>
}

/** Most wasted calls first. Loops that begin outside the filter's range are left out. */
export function loopGroups(store: CallStore, filter: Filter, nowMs: number): LoopGroup[] {
  const groups = new Map<string, LoopGroup>()
  for (const loop of findLoops(store.repeatingSessions(filter), nowMs)) {
    const [first] = loop.calls
    if (!first?.class || first.startedMs < filter.fromMs || first.startedMs >= filter.toMs) continue
    const parts = [first.server, first.tool, first.class]
    const id = stableId('loops', parts)
    const group = groups.get(id) ?? emptyGroup(id, first.server, first.tool, first.class)
    group.loops.push(loop)
    group.wastedCalls += loop.wastedCalls
    group.wastedMs += loop.wastedMs
    group.endings[loop.ending]++
    group.sessions = new Set(group.loops.map(({ calls }) => calls[0]?.session)).size
    groups.set(id, group)
  }
  return [...groups.values()].sort(
    (a, b) =>
      b.wastedCalls - a.wastedCalls ||
      ERROR_CLASSES.indexOf(a.class) - ERROR_CLASSES.indexOf(b.class) ||
      (a.id < b.id ? -1 : 1),
  )
}

function emptyGroup(id: string, server: string, tool: string, name: ErrorClass): LoopGroup {
  const endings = {
    recovered: 0,
    changed_arguments: 0,
    switched_tool: 0,
    gave_up: 0,
    still_running: 0,
  }
  return {
    id,
    server,
    tool,
    class: name,
    loops: [],
    sessions: 0,
    wastedCalls: 0,
    wastedMs: 0,
    endings,
  }
}

/** One caller in one short loop is no finding: two loops, or one of five calls, are. */
function isWorthTelling({ loops }: LoopGroup): boolean {
  return loops.length >= 2 || loops.some(({ calls }) => calls.length >= 5)
}

export function loopFindings(
  groups: readonly LoopGroup[],
  store: CallStore,
  filter: Filter,
  nowMs: number,
): Finding[] {
  return groups.filter(isWorthTelling).map((group) => loopFinding(group, store, filter, nowMs))
}

function loopFinding(group: LoopGroup, store: CallStore, filter: Filter, nowMs: number): Finding {
  const evidence: Filter = {
    ...filter,
    server: { include: [group.server], exclude: [] },
    tool: { include: [group.tool], exclude: [] },
    class: { include: [group.class], exclude: [] },
    flag: { include: ['loop'], exclude: [] },
  }
  const { calls, sessions } = store.impact(evidence)
  return {
    id: group.id,
    kind: 'retry_loop',
    family: familyOf(group.class),
    grade: gradeOfLoops(group, nowMs),
    server: group.server,
    tool: group.tool,
    class: group.class,
    sentence: loopSentence(group),
    impact: { calls, sessions },
    impactText: impactWords('failed call', { calls, sessions }),
    action: ACTIONS[group.class] ?? DEFAULT_ACTION,
    paste: undefined,
    check: `So far, ${endingsText(group)}. It is called fading after three days without one.`,
    evidenceQuery: printFilter(evidence).toString(),
    detailPath: `/calls?${printFilter(evidence)}`,
  }
}

/** "`get_invoice` is called again and again with the same failing arguments (tool_error): …" */
function loopSentence({
  tool,
  class: name,
  loops,
  sessions,
  wastedCalls,
  wastedMs,
}: LoopGroup): string {
  const longest = Math.max(...loops.map(({ calls }) => calls.length))
  const loopCount = plural(loops.length, 'loop')
  const wasted = `${plural(wastedCalls, 'call')} and ${durationText(wastedMs)} wasted`
  return `\`${tool}\` is called up to ${longest} times in a row with the same arguments that fail (${name}): ${loopCount} in ${plural(sessions, 'session')}, ${wasted}.`
}

const ENDING_WORDS: Record<LoopEnding, string> = {
  recovered: 'succeeded in the end',
  changed_arguments: 'went on with other arguments',
  switched_tool: 'went on with another tool',
  gave_up: 'gave up',
  still_running: 'still running',
}

function endingsText({ endings, loops }: LoopGroup): string {
  const told = Object.entries(ENDING_WORDS).flatMap(([ending, words]) => {
    const n = endings[ending as LoopEnding]
    return n > 0 ? [`${n} ${words}`] : []
  })
  return `of ${plural(loops.length, 'loop')}, ${told.join(', ')}`
}

/** Each loop is a fact; the grade says how many callers fall into it. */
function gradeOfLoops({ loops, sessions }: LoopGroup, nowMs: number): Grade {
  const starts = loops.map(({ calls }) => calls[0]?.startedMs ?? 0)
  const [first, last] = [Math.min(...starts), Math.max(...starts)]
  if (nowMs - last >= Math.max(3 * DAY_MS, (nowMs - first) / 3)) return 'fading'
  if (sessions >= 5) return 'confirmed'
  return sessions >= 3 ? 'likely' : 'possible'
}

const DEFAULT_ACTION =
  'Say in the error’s text that the same call will fail again, and what to do instead.'

const ACTIONS: Partial<Record<ErrorClass, string>> = {
  invalid_arguments:
    'The answer does not lead the model to a correct call: name the parameter and what it must be, with an example.',
  rate_limited:
    'Say in the answer how long to wait, or wait in the tool: the wrapper honours Retry-After up to 5 s.',
  timeout:
    'Say in the answer that the upstream is slow and when to try again, or raise the tool’s own patience.',
  connection: 'Say in the answer that the upstream is down and that trying at once will not help.',
  upstream:
    'Say in the answer that the upstream is at fault and that trying at once will not help.',
}
