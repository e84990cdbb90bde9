import type { BeatRecord, LogRecord } from '../server/call-log/record.ts'
import { endProcess } from './endings.ts'
import { type Life, startRecord } from './lives.ts'
import { createRandom, type Random } from './random.ts'
import {
  callsRunningAt,
  type Plan,
  type Process,
  type Queue,
  type SimulationEvent,
} from './simulation.ts'
import type { Tally } from './tally.ts'
import type { ServerName } from './world.ts'
import type { LogDirectory } from './write-logs.ts'

/** Records that a full disk swallows, once. */
const LOST_RECORDS = 6
/** A beat names no more open calls than this. */
const MOST_OPEN_IN_BEAT = 20

export type Processes = {
  /** The process that serves at that time; undefined where there is none. */
  at(server: ServerName, ms: number): Process | undefined
  /** Writes what the event leaves in the log. */
  handle(event: SimulationEvent, atMs: number): void
  all(): readonly Process[]
}

export type ProcessesOptions = {
  lives: readonly Life[]
  directory: LogDirectory
  queue: Queue
  plan: Plan
  tally: Tally
  beatMs: number
  seed: number
}

export function createProcesses(options: ProcessesOptions): Processes {
  const { lives, directory, queue, plan, tally, beatMs, seed } = options
  const random = createRandom(seed, 'processes')
  const processes = lives.map((life) => newProcess(life, queue))

  const write = (process: Process, record: LogRecord, atMs: number): void => {
    if (!process.log) return
    if (process.losing.left > 0) {
      loseRecord(process, atMs)
      if (record.kind === 'call') plan.calls -= 1
    } else {
      process.log.log(record, atMs)
    }
  }
  const queueNextBeat = (process: Process, atMs: number): void => {
    const nextMs = atMs + beatMs
    if (nextMs < process.life.endMs) queue.push(nextMs, { kind: 'beat', process })
  }

  const handle = (event: SimulationEvent, atMs: number): void => {
    const { process } = event
    switch (event.kind) {
      case 'start':
        process.log = directory.openLog(process.life)
        write(process, startRecord(process.life, beatMs), atMs)
        queueNextBeat(process, atMs)
        break
      case 'call':
        if (event.withdrawn) break
        if (process.losing.left === 0) tally.written(event)
        write(process, event.record, atMs)
        break
      case 'late':
        write(process, event.record, atMs)
        break
      case 'beat':
        write(process, beatRecord({ process, queue, beatMs, random }, atMs), atMs)
        queueNextBeat(process, atMs)
        break
      case 'rotate':
        process.log?.rotate(atMs)
        break
      case 'lose':
        process.losing = { left: LOST_RECORDS, fromN: undefined }
        break
      case 'end':
        endProcess({ process, queue, plan, tally, write, random }, atMs)
        break
    }
  }

  return {
    at: (server, ms) =>
      processes.find(({ life }) => life.server === server && life.startMs <= ms && ms < life.endMs),
    handle,
    all: () => processes,
  }
}

type BeatContext = { process: Process; queue: Queue; beatMs: number; random: Random }

function beatRecord({ process, queue, beatMs, random }: BeatContext, atMs: number): BeatRecord {
  const { server, version } = process.life
  const open = callsRunningAt(queue, process, atMs).slice(0, MOST_OPEN_IN_BEAT)
  return {
    kind: 'beat',
    server: { name: server, version },
    beat_ms: beatMs,
    open: open.map(({ record: { call, tool, started } }) => ({
      call,
      tool,
      ms: Math.round(atMs - started),
    })),
    loop_delay_ms: Math.round(random.logNormal(11, 0.4) * 10) / 10,
    rss_bytes: random.integer(88, 140) * 1024 * 1024,
  }
}

function newProcess(life: Life, queue: Queue): Process {
  const process: Process = {
    life,
    log: undefined,
    fileNames: [],
    calls: 0,
    losing: { left: 0, fromN: undefined },
  }
  queue.push(life.startMs, { kind: 'start', process })
  queue.push(life.endMs, { kind: 'end', process })
  return process
}

function loseRecord(process: Process, atMs: number): void {
  const { log, losing } = process
  if (!log) return
  const n = log.lose()
  losing.fromN ??= n
  losing.left -= 1
  if (losing.left > 0) return
  const drop = { reason: 'ENOSPC', records: LOST_RECORDS, from_n: losing.fromN, to_n: n }
  log.log({ kind: 'drop', ...drop }, atMs)
  process.lost = { fromN: losing.fromN, toN: n }
}
