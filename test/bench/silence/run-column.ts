import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Collector } from './collector.ts'
import type { Column, ServerConfig } from './columns.ts'
import { faults, soundTools, unseeable } from './corpus.ts'
import { type Entry, entriesOf, isMarked } from './entries.ts'
import { type Fault, sleep } from './fault.ts'
import { judge, type Outcome, type Verdict, whatClientSaw, wordsOf } from './judge.ts'
import { openSession, type Session } from './session.ts'

export type ColumnResult = {
  column: Column
  verdicts: Map<string, Verdict>
  /** Sound calls that were answered with an error or marked in the log. */
  falseAlarms: string[]
}

export type Bench = {
  collector: Collector
  /** Logs of all runs, a folder each. */
  folder: string
  peers: string
  /** The arguments with which Node runs a server. */
  node: readonly string[]
}

/** A client waits so long for an answer. */
const PATIENCE_MS = 1_000
/** Handlers that outlive their client may still end, and be recorded, before the server is closed. */
const LAST_WORDS_MS = 800
const OWN_PROCESSES_AT_ONCE = 2

type Called = { fault: Fault; outcome: Outcome; from: number; to: number }

let runs = 0

function newRun(bench: Bench, column: Column, level: 'high' | 'low') {
  runs += 1
  const run = runs
  const logs = join(bench.folder, `${run}-${column.id}-${level}`)
  mkdirSync(logs, { recursive: true, mode: 0o700 })
  const config: ServerConfig = {
    column: column.id,
    level,
    logs,
    collector: bench.collector.addressOf(run),
    peers: bench.peers,
  }
  const entries = () => entriesOf(column.id, logs, bench.collector.bodiesOf(run))
  return { config, entries }
}

export async function runColumn(column: Column, bench: Bench): Promise<ColumnResult> {
  const all = [...faults, ...unseeable]
  const verdicts = new Map<string, Verdict>()
  const keep = (called: readonly Called[], entries: readonly Entry[]) => {
    for (const { fault, outcome, from, to } of called) {
      const logged = isMarked(entries, nameOf(fault), allNames, { from, to })
      verdicts.set(fault.id, judge(fault, outcome, logged))
    }
  }
  const own = all.filter(({ ownProcess }) => ownProcess)
  const shared = all.filter(({ ownProcess }) => !ownProcess)
  const high = shared.filter(({ lowLevel }) => !lowLevel)
  const low = shared.filter(({ lowLevel }) => lowLevel)
  const [falseAlarms] = await Promise.all([
    runShared(column, bench, high, 'high', keep),
    runShared(column, bench, low, 'low', keep),
    runOwn(column, bench, own, keep),
  ])
  return { column, verdicts, falseAlarms }
}

const allNames = [...faults, ...unseeable].map(({ id }) => id)

function nameOf({ id, call }: Fault): string {
  return call?.tool ?? id
}

type Keep = (called: readonly Called[], entries: readonly Entry[]) => void

/** One process for all faults it survives, one after the other; a new one where it does not. */
async function runShared(
  column: Column,
  bench: Bench,
  list: readonly Fault[],
  level: 'high' | 'low',
  keep: Keep,
): Promise<string[]> {
  const { config, entries } = newRun(bench, column, level)
  const called: Called[] = []
  const stderr: Entry[] = []
  let session = await openSession(config, bench.node)
  for (const fault of list.filter(({ group }) => group !== 'hangs')) {
    if (!session.alive()) {
      stderr.push(...session.stderr)
      session = await openSession(config, bench.node)
    }
    const first = await callFault(session, fault)
    const isAsked = isUnsure(first) && session.alive()
    // What is said of the first try may not be said again of the second.
    called.push(isAsked ? { ...(await callFault(session, fault)), from: first.from } : first)
  }
  const sound = level === 'high' ? await callSound(session) : []
  // Each of them takes all of the client's patience, so they are waited for together.
  const hangs = list.filter(({ group }) => group === 'hangs')
  called.push(...(await Promise.all(hangs.map((fault) => callFault(session, fault)))))
  await sleep(LAST_WORDS_MS)
  await session.close()
  stderr.push(...session.stderr)
  await sleep(100)
  const found = [...entries(), ...stderr]
  keep(called, found)
  return falseAlarmsIn(sound, found)
}

/** No answer may be the busy machine's fault, so it has to come twice, save where it is the point. */
function isUnsure({ fault, outcome }: Called): boolean {
  return fault.group !== 'hangs' && whatClientSaw(fault, outcome) === 'none'
}

async function callFault(session: Session, fault: Fault): Promise<Called> {
  const from = Date.now()
  const outcome = await session.call(fault.id, fault.call ?? {}, PATIENCE_MS)
  // What a wrapper or the process says of it may come a moment after the answer.
  await sleep(10)
  return { fault, outcome, from, to: Date.now() }
}

type SoundCall = { name: string; isError: boolean; from: number; to: number }

async function callSound(session: Session): Promise<SoundCall[]> {
  const calls: SoundCall[] = []
  for (const [name] of soundTools) {
    const from = Date.now()
    const outcome = await session.call(name, {}, PATIENCE_MS)
    const isError = outcome.kind === 'error' || outcome.result.isError === true
    calls.push({ name, isError, from, to: Date.now() })
    if (outcome.kind === 'result' && wordsOf(outcome.result) === '')
      throw new Error(`${name} is empty`)
  }
  return calls
}

function falseAlarmsIn(calls: readonly SoundCall[], found: readonly Entry[]): string[] {
  return calls
    .filter(
      ({ name, isError, from, to }) => isError || isMarked(found, name, allNames, { from, to }),
    )
    .map(({ name }) => name)
}

async function runOwn(
  column: Column,
  bench: Bench,
  list: readonly Fault[],
  keep: Keep,
): Promise<void> {
  // The slowest first, so that nothing else waits for it in the end.
  const waiting = [...list].sort(
    (a, b) => Number(b.group === 'hangs') - Number(a.group === 'hangs'),
  )
  const work = async () => {
    for (let fault = waiting.shift(); fault; fault = waiting.shift()) {
      await runAlone(column, bench, fault, keep)
    }
  }
  await Promise.all(Array.from({ length: OWN_PROCESSES_AT_ONCE }, work))
}

async function runAlone(
  column: Column,
  bench: Bench,
  fault: Fault,
  keep: Keep,
  isSecond = false,
): Promise<void> {
  const { config, entries } = newRun(bench, column, 'high')
  const session = await openSession(config, bench.node)
  const called = await callFault(session, fault)
  // As a host does: stdin is closed, then come SIGTERM and SIGKILL.
  await session.close()
  if (isUnsure(called) && !isSecond) return runAlone(column, bench, fault, keep, true)
  await sleep(50)
  // All of it belongs to the one call.
  const found = [...entries(), ...session.stderr]
  keep([{ ...called, from: 0, to: Number.POSITIVE_INFINITY }], found)
}
