import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommandError } from './command-error.ts'

const DAY_MS = 86_400_000

/** What was generated so far, oldest first. */
type Batch = { directory: string; endMs: number; days: number; calls: number; seed: number }

export type HistoryOptions = {
  /** Holds a directory of logs for each batch. */
  directory: string
  /** The file that lists the batches; not among the logs. */
  list: string
  days: number
  calls: number
  nowMs: number
  generate(batch: {
    directory: string
    days: number
    calls: number
    endMs: number
    seed: number
  }): Promise<unknown>
}

/** `kept`: there was a recent one. `added`: the time since the last one was added to it. */
export type History = { state: 'made' | 'kept' | 'added'; days: number; calls: number }

/** The generator's least: its weekly faults need a week. */
const SHORTEST_BATCH_DAYS = 7

/**
 * Sees to it that there is a history that ends now, or less than a week ago. An older one is
 * continued and not made anew: its calls are in the database already, under ids that come from the
 * seed, so each batch has a seed of its own.
 */
export async function ensureHistory(options: HistoryOptions): Promise<History> {
  const batches = readList(options.list)
  const last = batches.at(-1)
  const missingDays = last ? Math.floor((options.nowMs - last.endMs) / DAY_MS) : options.days
  if (last && missingDays < SHORTEST_BATCH_DAYS) return { state: 'kept', ...totals(batches) }

  const days = Math.min(options.days, missingDays)
  const seed = batches.length + 1
  const batch: Batch = {
    directory: join(options.directory, `batch-${seed}`),
    endMs: options.nowMs,
    days,
    calls: Math.max(1, Math.round((options.calls * days) / options.days)),
    seed,
  }
  // Left there by a demo that was stopped half-way; nothing of it has been read yet.
  rmSync(batch.directory, { recursive: true, force: true })
  await options.generate(batch)
  const all = [...batches, batch]
  writeList(options.list, all)
  return { state: last ? 'added' : 'made', ...totals(all) }
}

function totals(batches: readonly Batch[]): { days: number; calls: number } {
  const sum = (pick: (batch: Batch) => number) => batches.reduce((all, one) => all + pick(one), 0)
  return { days: sum((batch) => batch.days), calls: sum((batch) => batch.calls) }
}

function readList(path: string): Batch[] {
  if (!existsSync(path)) return []
  try {
    return JSON.parse(readFileSync(path, 'utf8')).batches
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CommandError(`${path} cannot be read (${reason}): start with --fresh.`)
  }
}

/** In one step, so that a list is never half written. */
function writeList(path: string, batches: readonly Batch[]): void {
  const draft = `${path}.new`
  writeFileSync(draft, `${JSON.stringify({ batches }, undefined, 2)}\n`)
  renameSync(draft, path)
}
