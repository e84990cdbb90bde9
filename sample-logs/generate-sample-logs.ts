import { setImmediate } from 'node:timers/promises'
import type { PlantedSummary } from './planted.ts'
import { createSimulation } from './run-simulation.ts'
import { scheduledCallsPerDay } from './traffic.ts'
import { DAY_MS } from './wall-clock.ts'
import { openLogDirectory, SampleLogError } from './write-logs.ts'

const FEWEST_DAYS = 7
const MOST_DAYS = 366
/** At most half of all calls are the clock's. */
const FEWEST_CALLS_PER_DAY = 2 * scheduledCallsPerDay('sparse')
const MOST_CALLS = 1_000_000_000
/** The event loop gets a turn after so many, for progress lines and Ctrl-C. */
const SLICES_A_TURN = 8
const LATEST_END_MS = Date.UTC(9999, 0, 1)

export type SampleOptions = {
  /** Made if it does not exist; refused if there is anything in it. */
  directory: string
  /** 7 to 366. The first record is written so many times 24 hours before `endMs`. */
  days: number
  /** Number of `call` records: reached exactly. */
  calls: number
  /** Epoch ms; nothing is later. */
  endMs: number
  /** Whole number from 0 to 2^53 − 1. */
  seed: number
  /** Called for each simulated quarter hour, after its lines have been made. */
  onProgress?: ((progress: { calls: number; ofCalls: number }) => void) | undefined
}

export type SampleLogs = {
  /** Paths, in the order in which they were begun. */
  files: string[]
  lines: number
  calls: number
  plantedSummary: PlantedSummary
}

/**
 * Writes the call logs of two servers over some weeks, with the faults of planted.ts in them. Equal
 * options give equal bytes on every machine. Memory is bounded whatever the number of calls.
 *
 * Throws SampleLogError, whose message is for the user, where the options or the directory will not do.
 */
export async function generateSampleLogs(options: SampleOptions): Promise<SampleLogs> {
  checkOptions(options)
  const directory = openLogDirectory(options.directory)
  const simulation = createSimulation(options, directory)
  for (let slice = 0; slice < simulation.slices; slice += 1) {
    simulation.run(slice)
    options.onProgress?.({ calls: simulation.calls(), ofCalls: options.calls })
    if (slice % SLICES_A_TURN === 0) await setImmediate()
  }
  return {
    files: directory.files(),
    lines: directory.lines(),
    calls: simulation.calls(),
    plantedSummary: simulation.summary(),
  }
}

function checkOptions({ days, calls, endMs, seed }: SampleOptions): void {
  if (!isWhole(days, FEWEST_DAYS, MOST_DAYS)) {
    throw new SampleLogError(
      `days is ${days}: write a whole number from ${FEWEST_DAYS} to ${MOST_DAYS}.`,
    )
  }
  const fewest = days * FEWEST_CALLS_PER_DAY
  if (!isWhole(calls, fewest, MOST_CALLS)) {
    throw new SampleLogError(
      `calls is ${calls}: write a whole number from ${fewest} (what ${days} days need) to ${MOST_CALLS}.`,
    )
  }
  if (!isWhole(seed, 0, Number.MAX_SAFE_INTEGER)) {
    throw new SampleLogError(`seed is ${seed}: write a whole number from 0 on, such as 1.`)
  }
  if (!isWhole(endMs, days * DAY_MS, LATEST_END_MS)) {
    throw new SampleLogError(
      'end is out of range: write "now" or a time such as 2026-04-12T00:00:00Z.',
    )
  }
}

function isWhole(value: number, least: number, most: number): boolean {
  return Number.isInteger(value) && value >= least && value <= most
}
