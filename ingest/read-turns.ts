import type { Archives } from './archives.ts'
import type { FileReader, Reading } from './file-reader.ts'
import {
  forgetStream,
  isUnchanged,
  isUnchangedSince,
  type Location,
  retryAtMsOf,
} from './location.ts'
import type { Locations } from './locations.ts'
import type { BatchWriter } from './store/write-batch.ts'
import type { StreamStore } from './stream-store.ts'

/** A stream is read so far before the next one has its turn. */
const QUANTUM_BYTES = 64 * 1024 * 1024

export type ReadTurnsOptions = {
  locations: Locations
  archives: Archives
  reader: FileReader
  store: StreamStore
  writer: BatchWriter
  batchBytes: number
  commit(): void
}

/** Who is read when: each file in its turn, until all are at their end or a poll's time is over. */
export class ReadTurns {
  readonly #options: ReadTurnsOptions
  /** The file that was read last, when a poll's time was over: the next one begins after it. */
  #lastRead: Location | undefined

  constructor(options: ReadTurnsOptions) {
    this.#options = options
  }

  /** False if time ran out. Deadline by performance.now(). */
  read(locations: Location[], deadline: number): boolean {
    return (
      this.#settleAll(locations, deadline) &&
      this.#readAll(this.#inTurn(locations), deadline) &&
      this.#readArchive(deadline)
    )
  }

  /**
   * Finds out which stream each file holds that has changed; false if time ran out. In strict order
   * and before anything else is read: a copy is recognised by what it was copied from, so that must
   * be known, with its first lines, before the copy is looked at.
   */
  #settleAll(locations: readonly Location[], deadline: number): boolean {
    const { reader } = this.#options
    for (const location of locations) {
      if (location.state.kind === 'packed') continue
      if (!this.#isDue(location) || isUnchangedSince(location, location.settledAt)) continue
      if (performance.now() > deadline) return false
      this.#options.locations.orPutOff(location, reader.nowMs, () => {
        if (!this.#options.locations.open(location, reader.nowMs) || !reader.settle(location)) {
          return
        }
        const nothingKnown = location.stream?.position.offset === 0
        if (nothingKnown && reader.readChunk(location) === 'lost') forgetStream(location)
        else location.settledAt = location.facts
      })
    }
    return true
  }

  /** Reads a quantum of each file in turn until all are at their end; false if time ran out. */
  #readAll(locations: readonly Location[], deadline: number): boolean {
    let reading = locations.filter(
      ({ state }) => state.kind !== 'pending' && state.kind !== 'packed',
    )
    while (reading.length > 0) {
      const unfinished: Location[] = []
      for (const location of reading) {
        if (!this.#isDue(location)) continue
        if (performance.now() > deadline) return false
        this.#lastRead = location
        this.#options.locations.orPutOff(location, this.#options.reader.nowMs, () => {
          if (this.#readQuantum(location)) unfinished.push(location)
        })
      }
      reading = unfinished
    }
    this.#lastRead = undefined
    return true
  }

  #inTurn(locations: Location[]): Location[] {
    const at = this.#lastRead ? locations.indexOf(this.#lastRead) + 1 : 0
    return [...locations.slice(at), ...locations.slice(0, at)]
  }

  /** Something may have changed since it was last read to its end. */
  #isDue(location: Location): boolean {
    const waits = location.state.kind !== 'pending' && isUnchanged(location)
    return !waits && this.#options.reader.nowMs >= retryAtMsOf(location)
  }

  /** True if there is more to read. */
  #readQuantum(location: Location): boolean {
    const { locations, reader, writer, commit } = this.#options
    if (!locations.open(location, reader.nowMs) || !reader.settle(location)) return false
    const stopAt = writer.bytes + QUANTUM_BYTES
    let reading: Reading = 'more'
    while (reading === 'more' && writer.bytes < stopAt) {
      reading = reader.readChunk(location)
      if (this.#isBatchFull()) {
        commit()
        break
      }
    }
    // Truncated or replaced under our eyes: what it is now will be seen at the next look.
    if (reading === 'lost') forgetStream(location)
    return reading === 'more'
  }

  /** Reads on in the content of an unpacked file; false if time ran out. */
  #readArchive(deadline: number): boolean {
    const { archives, reader, store, commit } = this.#options
    if (!archives.open) return true
    const { content, packed } = archives.open
    let isRead = content.facts.sizeBytes === 0 || !reader.settle(content)
    while (!isRead) {
      if (performance.now() > deadline) return false
      isRead = reader.readChunk(content) !== 'more'
      if (this.#isBatchFull()) commit()
    }
    const isCopy = content.state.kind === 'live' && !reader.stageTail(content)
    if (isCopy && content.state.kind === 'live') return this.#readArchive(deadline)
    if (content.stream) store.place(packed, content.stream)
    archives.finish()
    return true
  }

  #isBatchFull(): boolean {
    const { batchBytes, reader, writer } = this.#options
    return writer.lines >= reader.maxLines || writer.bytes >= batchBytes
  }
}
