import type { Location } from './location.ts'
import type { BatchResult } from './store/batch-result.ts'

/** What one look at the world has found and done. */
export type Poll = {
  /** Its time was over before all was read. */
  hasMore: boolean
  /** Nothing complete is left to read, and nothing waits to be recognised. */
  caughtUp: boolean
  files: number
  bytesDone: number
  bytesTotal: number
  problems: string[]
  directories: string[]
  stored: BatchResult
}

export function progressOf(locations: readonly Location[]): Pick<Poll, 'bytesDone' | 'bytesTotal'> {
  let bytesDone = 0
  let bytesTotal = 0
  for (const location of locations) {
    bytesTotal += location.facts.sizeBytes
    bytesDone += bytesRead(location)
  }
  return { bytesDone, bytesTotal }
}

/** How many bytes of a file are in the database, or were there before. */
export function bytesRead({ facts, state, stream }: Location): number {
  const isRead = state.kind === 'contained' || state.kind === 'closed'
  return isRead ? facts.sizeBytes : Math.min(facts.sizeBytes, stream?.position.offset ?? 0)
}

/** Will be read once it stands still. */
export function isWaiting({ failure, state }: Location): boolean {
  return !failure && (state.kind === 'pending' || state.kind === 'packed')
}

export function problemOf({ path, failure }: Location): string[] {
  if (!failure) return []
  const since = new Date(failure.sinceMs).toISOString()
  return [`${path} cannot be read (${failure.reason}) since ${since}; it is tried again.`]
}
