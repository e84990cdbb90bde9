import type { FilePort } from './file-port.ts'
import type { Location } from './location.ts'
import type { Locations } from './locations.ts'
import type { KnownStream, StreamIndex } from './store/stream-index.ts'
import { compareWithStream, holdsStream, isOnlyBegun } from './stream-identity.ts'
import type { Stream } from './stream-state.ts'

export type Recognition =
  | { kind: 'stream'; stream: Stream }
  /** A copy; each of its lines has been read. */
  | { kind: 'contained'; stream: Stream }
  /** Perhaps a copy that is not finished. */
  | { kind: 'unsure' }
  | { kind: 'new' }

export type RecogniseOptions = {
  files: FilePort
  index: StreamIndex
  locations: Locations
}

/**
 * Which stream an open file holds. Its inode is only where to look first: inodes are used again,
 * files are truncated and copied. What decides is content.
 */
export function recognise(
  location: Location,
  file: number,
  options: RecogniseOptions,
): Recognition {
  const { files, index } = options
  const { device, inode, birthNs, sizeBytes } = location.facts
  const atPlace = index.streamAt(device, inode)
  // A file that is gone from its name is at most what others were copied from.
  const isPrimary = location.name.primary && location.isFound
  let begun: Recognition = { kind: 'new' }
  if (atPlace) {
    const { stream } = atPlace
    // The birth time is a hint: where it differs, more than head and anchor has to agree.
    const holds =
      atPlace.birthNs === birthNs
        ? holdsStream(files, file, sizeBytes, stream.position)
        : compareWithStream(files, file, sizeBytes, atPlace, index) === 'covers'
    if (holds && (isPrimary || !isOnlyBegun(stream, index))) return { kind: 'stream', stream }
    // A copy of a log's first bytes may have been replaced by a copy of more of it.
    if (holds) begun = { kind: 'stream', stream }
  }
  const mates = index.familyStreams(location.name.family)
  if (isPrimary) return recognisePrimary(location, file, mates, options)
  const recognition = recogniseCopy(file, sizeBytes, mates, options)
  return recognition.kind === 'new' ? begun : recognition
}

/**
 * A program's own log is never taken for a copy because it begins alike: a fresh log may. It is an
 * old acquaintance only if the file that was read under this name is gone and all that was read
 * stands in this one (a remount, a restored or edited file).
 */
function recognisePrimary(
  location: Location,
  file: number,
  mates: readonly KnownStream[],
  { files, index, locations }: RecogniseOptions,
): Recognition {
  for (const mate of mates) {
    const { stream } = mate
    if (stream.id === undefined) continue
    const places = index.placesOf(stream.id).filter((place) => place.path === location.path)
    // Where the file that had this name lives on under another, it was rotated, and this is a fresh one.
    if (places.length === 0 || places.some((place) => locations.has(place))) continue
    if (compareWithStream(files, file, location.facts.sizeBytes, mate, index) === 'covers') {
      return { kind: 'stream', stream }
    }
  }
  return { kind: 'new' }
}

/**
 * A name that rotation gave: the log itself, renamed long ago, or a copy of it. Of several streams
 * that it may belong to it is the one with which it has most in common.
 */
export function recogniseCopy(
  file: number,
  sizeBytes: number,
  mates: readonly KnownStream[],
  { files, index }: Pick<RecogniseOptions, 'files' | 'index'>,
): Recognition {
  let verdict: Recognition = { kind: 'new' }
  let shared = 0
  for (const mate of mates) {
    const comparison = compareWithStream(files, file, sizeBytes, mate, index)
    const inCommon = Math.min(sizeBytes, mate.stream.position.offset)
    if (comparison === 'unsure' && verdict.kind === 'new') verdict = { kind: 'unsure' }
    if (comparison === 'unsure' || comparison === 'differs' || inCommon <= shared) continue
    shared = inCommon
    verdict = { kind: comparison === 'covers' ? 'stream' : 'contained', stream: mate.stream }
  }
  return verdict
}
