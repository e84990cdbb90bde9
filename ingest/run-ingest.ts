export type IngestOptions = {
  /** Directories (searched to a depth), files, or globs. */
  roots: string[]
  databasePath: string
  /** Reads all there is and returns, instead of following until aborted. */
  once?: boolean
  /** Finishes the batch in hand, checkpoints, closes; the promise then resolves. */
  signal?: AbortSignal
  /** How often files are looked at while something happens. Default 500. */
  pollMs?: number
  onProgress?: (progress: IngestProgress) => void
  now?(): number
}

export type IngestProgress = {
  /** Of the files found so far; what was ingested in earlier runs counts as done. */
  bytesDone: number
  bytesTotal: number
  /** Calls stored, refused lines, in this run. */
  rows: number
  quarantined: number
  linesPerSecond: number
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
  /** Refused lines by reason. */
  quarantined: Record<string, number>
  bytes: number
  seconds: number
}

/**
 * From log files to the database. The only writer of it: a second one is refused with a LeaseError.
 * Throws StoreError, RootError or LeaseError, each with a sentence.
 */
export async function runIngest(options: IngestOptions): Promise<IngestSummary> {
  throw new Error(`not built yet: ${options.roots.join(', ')}`)
}
