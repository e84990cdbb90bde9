import type { FileReader } from './file-reader.ts'
import { isUnchanged, type Location } from './location.ts'
import type { Locations } from './locations.ts'
import type { Stream } from './stream-state.ts'
import type { StreamStore } from './stream-store.ts'
import type { TailLimits } from './tail-limits.ts'

export type CloseQuietOptions = {
  locations: Locations
  reader: FileReader
  store: StreamStore
  limits: TailLimits
  commit(): void
}

/** Files that were quiet for long: their unfinished last line is not waited for any more. */
export function closeQuiet(locations: readonly Location[], options: CloseQuietOptions): void {
  const { reader } = options
  const holders = countHolders(locations)
  for (const location of locations) {
    if (!hasBeenQuiet(location, options)) continue
    options.locations.orPutOff(location, reader.nowMs, () => close(location, holders, options))
  }
}

function hasBeenQuiet(location: Location, { limits, reader }: CloseQuietOptions): boolean {
  const { name, state } = location
  if (state.kind === 'closed' || !isUnchanged(location)) return false
  const mayGrow = location.isFound && name.primary
  const waitMs = mayGrow ? limits.idleCloseMs : limits.rotateWaitMs
  return reader.nowMs - location.quietSinceMs >= waitMs
}

function close(
  location: Location,
  holders: Map<Stream, number>,
  { locations, reader, store, commit }: CloseQuietOptions,
): void {
  const { facts, state } = location
  if (state.kind === 'live' || (state.kind === 'new' && facts.sizeBytes > 0)) {
    if (!locations.open(location, reader.nowMs) || !isUnchanged(location)) return
    const stream = reader.stageTail(location)
    if (!stream) return
    const others = (holders.get(stream) ?? 1) - 1
    holders.set(stream, others)
    // A copy beside the log says nothing about the log.
    if (!stream.closed && others === 0) {
      store.store(location, stream, [], stream.position, { closes: true })
    }
    location.state = { kind: 'closed' }
  }
  if (location.isFound) locations.release(location)
  else {
    commit()
    locations.drop(location)
  }
}

/** How many files that are still followed hold each stream. */
function countHolders(locations: readonly Location[]): Map<Stream, number> {
  const holders = new Map<Stream, number>()
  for (const { state, stream } of locations) {
    if (state.kind === 'live' && stream) holders.set(stream, (holders.get(stream) ?? 0) + 1)
  }
  return holders
}
