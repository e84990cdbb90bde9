import { createHash } from 'node:crypto'
import type { StartRecord } from '../server/call-log/record.ts'
import { createRandom, type Random } from './random.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, utcWallTime } from './wall-clock.ts'
import { HOSTNAMES, NODE_VERSION, type ServerName, TOOL_NAMES, TOOLS, VERSIONS } from './world.ts'

/** How a process ends: told to, by an exception, without a word, or refusing to start. */
export type Ending = 'exit' | 'crash' | 'death' | 'fatal'

/** One process of a server, from its first record to its last. */
export type Life = {
  server: ServerName
  version: string
  startMs: number
  endMs: number
  ending: Ending
  pid: number
  hostname: string
  writer: string
  bootId: string
  /** Ids of its calls begin with it. */
  callPrefix: string
}

/** Writers' ids depend on all of it: samples of other options in the same database are others' calls. */
export type Range = { startMs: number; endMs: number; days: number; calls: number }

/** How long nobody noticed that the server was dead. */
export const SILENCE_MS = 5 * HOUR_MS

/** Between the end of a process and its successor. */
const RESTART_MS = 4_000
/** Until somebody has set the variable that was missing. */
const REPAIR_MS = 4 * MINUTE_MS
/** Processes are replaced at least this often. */
const LONGEST_LIFE_MS = 5.5 * DAY_MS
const EXTRA_RESTART_MS = 4 * DAY_MS

type Turn = { atMs: number; ending: Ending; upgrade?: true }

/** In order of start. Successors leave a gap, and never overlap. */
export function planLives(range: Range, seed: number): Life[] {
  return [
    ...livesOf('billing', billingTurns(range), range, seed),
    ...livesOf('docs-search', documentTurns(range), range, seed),
  ]
}

export function startRecord(life: Life, beatMs: number): StartRecord {
  const names = TOOL_NAMES.filter((name) => TOOLS[name].server === life.server)
  return {
    kind: 'start',
    server: { name: life.server, version: life.version },
    boot_id: life.bootId,
    node: NODE_VERSION,
    beat_ms: beatMs,
    tools: names.map((name) => ({ name, schema_hash: schemaHash(name, life.version) })),
  }
}

function billingTurns(range: Range): Turn[] {
  const at = clockOf(range)
  return [
    { atMs: at(0.14, 5, 40), ending: 'exit' },
    { atMs: at(0.32, 13, 20), ending: 'crash' },
    { atMs: at(0.5, 9, 30), ending: 'exit', upgrade: true },
    { atMs: at(0.5, 9, 30) + 2 * RESTART_MS, ending: 'fatal' },
    { atMs: at(0.7, 5, 40), ending: 'exit' },
    { atMs: at(0.86, 5, 40), ending: 'exit' },
  ]
}

function documentTurns(range: Range): Turn[] {
  const at = clockOf(range)
  const plannedMs = at(0.68, 22, 50)
  // The night of the weekly window is left alone.
  const diedMs = utcWallTime(plannedMs).weekday === 6 ? plannedMs + DAY_MS : plannedMs
  const turns: Turn[] = [
    { atMs: at(0.11, 6, 5), ending: 'exit' },
    { atMs: at(0.25, 6, 5), ending: 'exit' },
    { atMs: at(0.5, 12, 10) + DAY_MS, ending: 'exit', upgrade: true },
    { atMs: diedMs, ending: 'death' },
  ]
  const lastMs = at(0.9, 6, 5)
  // In a short range the last restart may not lie after the silence.
  return lastMs > diedMs + DAY_MS ? [...turns, { atMs: lastMs, ending: 'exit' }] : turns
}

/**
 * A share of the range's days, then a time of that day in UTC. All shares below 1 lie in the range,
 * wherever in a day it begins.
 */
export function clockOf({
  startMs,
  days,
}: Range): (share: number, hour: number, minute: number) => number {
  const midnight = Math.ceil(startMs / DAY_MS) * DAY_MS
  return (share, hour, minute) =>
    midnight + Math.floor(share * (days - 1)) * DAY_MS + hour * HOUR_MS + minute * MINUTE_MS
}

function livesOf(server: ServerName, planned: Turn[], range: Range, seed: number): Life[] {
  const random = createRandom(
    seed,
    `lives ${server} ${range.startMs} ${range.endMs} ${range.calls}`,
  )
  const bootId = uuid(random)
  const turns = [...withExtraRestarts(planned, range), lastTurn(range)]
  let startMs = range.startMs
  let version = VERSIONS[server].before
  return turns.map(({ atMs, ending, upgrade }) => {
    const writer = random.hex(32)
    const life: Life = {
      server,
      version,
      startMs,
      endMs: atMs,
      ending,
      pid: random.integer(2_000, 60_000),
      hostname: HOSTNAMES[server],
      writer,
      bootId,
      callPrefix: writer.slice(0, 12),
    }
    startMs = atMs + pauseAfter(ending)
    if (upgrade) version = VERSIONS[server].after
    return life
  })
}

function pauseAfter(ending: Ending): number {
  if (ending === 'death') return SILENCE_MS
  return ending === 'fatal' ? REPAIR_MS : RESTART_MS
}

function withExtraRestarts(planned: Turn[], range: Range): Turn[] {
  const turns: Turn[] = []
  let startMs = range.startMs
  for (const turn of [...planned, lastTurn(range)]) {
    while (turn.atMs - startMs > LONGEST_LIFE_MS) {
      startMs += EXTRA_RESTART_MS
      turns.push({ atMs: startMs, ending: 'exit' })
    }
    startMs = turn.atMs
    turns.push(turn)
  }
  return turns.slice(0, -1)
}

/** The samples end in good order, so that nobody looks for a process that went missing. */
function lastTurn({ endMs }: Range): Turn {
  return { atMs: endMs - 1_000, ending: 'exit' }
}

/** A new version has new schemas. */
function schemaHash(tool: string, version: string): string {
  return createHash('sha256').update(`${tool} ${version}`).digest('hex').slice(0, 16)
}

function uuid(random: Random): string {
  return [8, 4, 4, 4, 12].map((digits) => random.hex(digits)).join('-')
}
