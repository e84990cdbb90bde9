/**
 * The trial that this project was made for, compressed: two servers, three weeks of simulated
 * traffic, at least one fault a day. Every call is a real one over stdio; only the clock is made
 * up. Bare and wrapped servers get the same calls at the same simulated times.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSeededRandom, type SeededRandom } from '../../../server/demo/seeded-random.ts'
import type { ColumnId, ServerConfig } from './columns.ts'
import { faults, soundTools } from './corpus.ts'
import { type Entry, entriesOf, isMarked } from './entries.ts'
import type { Fault } from './fault.ts'
import { judge, type Outcome, type Verdict } from './judge.ts'
import type { Bench } from './run-column.ts'
import { openSession, type Session } from './session.ts'

const DAYS = 21
const SERVERS = ['billing', 'documents'] as const
const SOUND_CALLS_A_DAY = 20
/** Every day has one at least. */
const MAX_FAULTS_A_DAY = 3
const PATIENCE_MS = 1_000
const DAY_MS = 86_400_000
const BEGIN = Date.UTC(2026, 0, 5)
const SEED = 20_260_105

type ServerName = (typeof SERVERS)[number]
type Planned = { at: number; server: ServerName; fault?: Fault; sound?: string }
type Arm = { verdicts: Verdict[]; spoilt: number; restarts: number }

const ARMS: readonly [ColumnId, string][] = [
  ['bare', 'bare'],
  ['unsilent', 'Unsilent'],
  ['unsilent-strict', "suspect: 'error'"],
]

export async function runTrial(bench: Bench): Promise<void> {
  const plan = planTraffic()
  const arms = await Promise.all(ARMS.map(([id]) => runArm(id, plan, bench)))
  const planned = plan.filter(({ fault }) => fault).length
  const size = `${plan.length} calls, ${planned} of them faulty (seed ${SEED})`
  console.log(`\ntrial: ${DAYS} simulated days, ${SERVERS.length} servers, ${size}`)
  printArms(arms)
}

function printArms(arms: readonly Arm[]): void {
  const row = (name: string, cells: readonly string[]) =>
    console.log(`  ${name.padEnd(44)}${cells.map((cell) => cell.padEnd(18)).join('')}`.trimEnd())
  const count = (name: string, matches: (verdict: Verdict) => boolean) =>
    row(
      name,
      arms.map(({ verdicts }) => {
        const n = verdicts.filter(matches).length
        return `${n} (${(n / DAYS).toFixed(1)} a day)`
      }),
    )
  row(
    '',
    ARMS.map(([, label]) => label),
  )
  count('unexplained, to client and operator', ({ unexplained }) => unexplained)
  count('silent: client not told, log without a mark', ({ silent }) => silent)
  count('misled: a failure taken for data', ({ misled }) => misled)
  row(
    'sound calls that did not get their answer',
    arms.map(({ spoilt }) => String(spoilt)),
  )
  row(
    'processes that had to be started again',
    arms.map(({ restarts }) => String(restarts)),
  )
}

function planTraffic(): Planned[] {
  const random = createSeededRandom(SEED)
  const pool = shuffled(
    faults.filter(({ lowLevel }) => !lowLevel),
    random,
  )
  const plan: Planned[] = []
  for (let day = 0; day < DAYS; day += 1) {
    const at = () => BEGIN + day * DAY_MS + random.below(DAY_MS)
    // Each kind at most once, so that a mark in the log belongs to one call.
    for (const fault of pool.splice(0, 1 + random.below(MAX_FAULTS_A_DAY))) {
      plan.push({ at: at(), server: random.pick(SERVERS), fault })
    }
    for (const server of SERVERS) {
      for (let n = 0; n < SOUND_CALLS_A_DAY; n += 1) {
        plan.push({ at: at(), server, sound: random.pick(soundTools)[0] })
      }
    }
  }
  return plan.sort((a, b) => a.at - b.at)
}

function shuffled<T>(list: readonly T[], random: SeededRandom): T[] {
  const keyed = list.map((value) => ({ value, key: random.next() }))
  return keyed.sort((a, b) => a.key - b.key).map(({ value }) => value)
}

type FaultyCall = { fault: Fault; outcome: Outcome; at: number; server: RunningServer }

async function runArm(id: ColumnId, plan: readonly Planned[], bench: Bench): Promise<Arm> {
  const servers = new Map<ServerName, RunningServer>()
  for (const name of SERVERS) servers.set(name, await startServer(id, name, bench))
  const called: FaultyCall[] = []
  let spoilt = 0
  for (const { at, server: name, fault, sound } of plan) {
    const server = servers.get(name) as RunningServer
    server.setTime(at)
    if (fault) {
      const outcome = await server.call(fault.id, fault.call ?? {}, fault.ownProcess === true)
      called.push({ fault, outcome, at, server })
    } else if (sound) {
      const outcome = await server.call(sound, {}, false)
      if (outcome.kind === 'error' || outcome.result.isError === true) spoilt += 1
    }
  }
  for (const server of servers.values()) await server.close()
  const restarts = [...servers.values()].reduce((sum, server) => sum + server.restarts(), 0)
  return { verdicts: judgeAll(called), spoilt, restarts }
}

function judgeAll(called: readonly FaultyCall[]): Verdict[] {
  const entries = new Map<RunningServer, Entry[]>()
  return called.map(({ fault, outcome, at, server }) => {
    const found = entries.get(server) ?? server.entries()
    entries.set(server, found)
    const time = { from: at, to: at }
    return judge(fault, outcome, isMarked(found, fault.call?.tool ?? fault.id, names, time))
  })
}

const names = faults.map(({ id }) => id)

type RunningServer = {
  setTime(at: number): void
  call(tool: string, call: Fault['call'] & object, isLast: boolean): Promise<Outcome>
  close(): Promise<void>
  entries(): Entry[]
  restarts(): number
}

/** A server that its host starts again whenever it has ended. */
async function startServer(column: ColumnId, name: string, bench: Bench): Promise<RunningServer> {
  const logs = join(bench.folder, `trial-${column}-${name}`)
  mkdirSync(logs, { recursive: true, mode: 0o700 })
  const clock = join(bench.folder, `clock-${column}-${name}`)
  const base = { column: column, level: 'high', collector: '', peers: bench.peers } as const
  const config: ServerConfig = { ...base, logs, clock }
  let time = BEGIN
  const setTime = (at: number) => {
    time = at
    writeFileSync(clock, String(at))
  }
  setTime(BEGIN)
  const open = () => openSession(config, bench.node, () => time)
  const stderr: Entry[] = []
  let session: Session = await open()
  let restarts = 0
  async function end(): Promise<void> {
    await session.close()
    stderr.push(...session.stderr)
  }
  return {
    setTime,
    entries: () => [...entriesOf(column, logs, []), ...stderr],
    restarts: () => restarts,
    close: end,
    async call(tool, call, isLast) {
      if (!session.alive()) {
        await end()
        session = await open()
        restarts += 1
      }
      const outcome = await session.call(tool, call, PATIENCE_MS)
      // A process that hangs, or is about to die, is closed by its host.
      if (isLast) await session.close()
      return outcome
    },
  }
}
