import type { Candidate } from './discovery.ts'
import type { FileFacts } from './file-port.ts'
import type { RotationName } from './rotation-name.ts'
import type { Stream } from './stream-state.ts'

/** A file that is followed, under whatever name it has now. */
export type Location = {
  path: string
  name: RotationName
  facts: FileFacts
  /** Not the file itself but what was in it; or its first bytes have shown that it is no archive. */
  isUnpacked: boolean
  /** Under its name at the last scan; otherwise deleted or moved away, and only held open. */
  isFound: boolean
  /** Open while it may still grow, so that it can be read to its end after it was deleted. */
  file: number | undefined
  stream: Stream | undefined
  state: LocationState
  /** The name changed since it was last stored. */
  renamed: boolean
  /** How the file stood when it was last read to its end: while it stands so, nothing is new. */
  readAt: FileMark | undefined
  /** How it stood when it was last found out which stream it holds. */
  settledAt: FileMark | undefined
  /** When its size last changed, by the file's clock or ours. */
  quietSinceMs: number
  lastUsedMs: number
  failure: Failure | undefined
  /** Bytes that are passed over if the file turns out to be unknown. */
  passOver: number
}

/** While these are equal nothing was written to a file. */
type FileMark = Pick<FileFacts, 'sizeBytes' | 'modifiedNs' | 'changedNs'>

export type LocationState =
  /** Not yet recognised. */
  | { kind: 'new' }
  | { kind: 'live' }
  /** A copy of lines that were read elsewhere; looked at again when it changes. */
  | { kind: 'contained' }
  /** May be a copy that is still being made: its own stream once it has stood still. */
  | { kind: 'pending' }
  /** Compressed, and not unpacked yet. */
  | { kind: 'packed' }
  /** Read to its end, an unfinished last line included. */
  | { kind: 'closed' }

export type Failure = { reason: string; sinceMs: number; delayMs: number; retryAtMs: number }

export function newLocation({ path, name, facts }: Candidate, nowMs: number): Location {
  return {
    path,
    name,
    facts,
    isUnpacked: false,
    isFound: true,
    file: undefined,
    stream: undefined,
    state: firstState(name),
    renamed: false,
    readAt: undefined,
    settledAt: undefined,
    quietSinceMs: Math.min(nowMs, Number(facts.modifiedNs / 1_000_000n)),
    lastUsedMs: 0,
    failure: undefined,
    passOver: 0,
  }
}

export function firstState({ compression }: RotationName): LocationState {
  return compression === 'none' ? { kind: 'new' } : { kind: 'packed' }
}

/** Found again, perhaps under another name. */
export function meetAgain(
  location: Location,
  { path, name, facts }: Candidate,
  nowMs: number,
): void {
  if (location.path !== path) {
    location.path = path
    location.name = name
    location.renamed = true
  }
  location.isFound = true
  noteFacts(location, facts, nowMs)
}

export function noteFacts(location: Location, facts: FileFacts, nowMs: number): void {
  if (facts.sizeBytes !== location.facts.sizeBytes) location.quietSinceMs = nowMs
  location.facts = facts
}

/** What it holds has to be found out anew. */
export function forgetStream(location: Location): void {
  location.stream = undefined
  location.settledAt = undefined
  location.state = { kind: 'new' }
}

const STANDS_STILL_MS = 1000

/** Nobody seems to be writing the file just now. */
export function standsStill({ quietSinceMs }: Location, nowMs: number): boolean {
  return nowMs - quietSinceMs >= STANDS_STILL_MS
}

/** Nothing was written to the file since it was last read to its end. */
export function isUnchanged(location: Location): boolean {
  return isUnchangedSince(location, location.readAt)
}

export function isUnchangedSince({ facts }: Location, mark: FileMark | undefined): boolean {
  return (
    mark !== undefined &&
    mark.sizeBytes === facts.sizeBytes &&
    mark.modifiedNs === facts.modifiedNs &&
    mark.changedNs === facts.changedNs
  )
}

/** When a file that could not be read is tried again; 0 for one that could. */
export function retryAtMsOf({ failure }: Location): number {
  return failure?.retryAtMs ?? 0
}
