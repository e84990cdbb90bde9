import { resolveRoots } from './discovery.ts'
import { type FilePort, realFiles } from './file-port.ts'
import { prepareDatabase } from './store/open-database.ts'
import type { Removed } from './store/removals.ts'
import type { TailLimits } from './tail-limits.ts'
import { IngestRun } from './worker/ingest-run.ts'
import { takeLease } from './worker/lease.ts'
import type { RetentionLimits } from './worker/retention.ts'

export type IngestOptions = {
  /** Directories (searched to a depth), files, or globs. */
  roots: string[]
  databasePath: string
  /** Reads all there is and returns, instead of following until aborted. */
  once?: boolean
  /** Passes over what stands now in files that were never read before; known ones are read on. */
  fromNow?: boolean
  /** Finishes the batch in hand, checkpoints, closes; the promise then resolves. */
  signal?: AbortSignal
  /** How often files are looked at while something happens. Default 500. */
  pollMs?: number
  onProgress?: (progress: IngestProgress) => void
  now?(): number
  /** Refuses to let the database grow beyond this. */
  maxDatabaseBytes?: number
  /** What is removed again, and counted. Default: nothing. */
  retention?: RetentionLimits
  limits?: Partial<TailLimits>
  files?: FilePort
}

export type IngestProgress = {
  /** Of the files found so far; what was ingested in earlier runs counts as done. */
  bytesDone: number
  bytesTotal: number
  /** Calls stored, refused lines, in this run. */
  rows: number
  quarantined: number
  /** Over the last seconds. */
  linesPerSecond: number
  bytesPerSecond: number
  /** Nothing complete is left to read. */
  caughtUp: boolean
  /** What stands in the way now (full disk, locked database, unreadable file), as sentences. */
  problems: string[]
}

export type IngestSummary = {
  files: number
  lines: number
  rows: number
  /** Records that were there already. */
  duplicates: number
  /** Process records: start, beat, exit … */
  events: number
  /** JSON lines of other programs that are not calls. */
  foreignLines: number
  /** Refused lines by reason. */
  quarantined: Record<string, number>
  /** Rows that were too old or too many. */
  removed: Removed
  bytes: number
  seconds: number
  problems: string[]
}

/**
 * From log files to the database. The only writer of it: a second one is refused with a LeaseError.
 * Throws StoreError, RootError or LeaseError, each with a sentence. A full disk, a lock or an
 * unreadable file is waited out and told through onProgress; with `once` only a lock is.
 */
export async function runIngest(options: IngestOptions): Promise<IngestSummary> {
  const files = options.files ?? realFiles
  const roots = resolveRoots(options.roots, files)
  prepareDatabase(options.databasePath)
  const lease = takeLease(options.databasePath)
  const run = new IngestRun(options, roots, files)
  try {
    return await run.toEnd()
  } finally {
    run.close()
    lease.release()
  }
}
