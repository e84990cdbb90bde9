import { closeSync, openSync, readSync } from 'node:fs'
import { type Location, standsStill } from './location.ts'
import { compressionOf, unpack } from './unpack.ts'

/** A compressed file that has been unpacked and is being read. */
export type OpenArchive = {
  packed: Location
  /** Stands for its content: read like a file that rotation has named. */
  content: Location
  fault: string | undefined
}

/** Compressed files: waits until they are finished, unpacks one at a time, remembers faults. */
export class Archives {
  readonly #directory: string
  readonly #faults = new Map<string, string>()
  #open: OpenArchive | undefined

  constructor(directory: string) {
    this.#directory = directory
  }

  get open(): OpenArchive | undefined {
    return this.#open
  }

  isReady(location: Location, nowMs: number): boolean {
    return (
      this.#open === undefined && location.state.kind === 'packed' && standsStill(location, nowMs)
    )
  }

  /** Throws what the file system throws. */
  async unpack(location: Location): Promise<void> {
    const compression = compressionOf(firstBytes(location.path))
    if (compression === 'none') {
      // Only its name says otherwise.
      location.isUnpacked = true
      location.state = { kind: 'new' }
      location.readAt = undefined
      return
    }
    const { file, sizeBytes, fault } = await unpack(location.path, compression, this.#directory)
    if (fault) this.#faults.set(location.path, fault)
    else this.#faults.delete(location.path)
    const facts = { ...location.facts, sizeBytes }
    const content: Location = {
      ...location,
      isUnpacked: true,
      facts,
      file,
      state: { kind: 'new' },
      // Finished: what may be a copy is not waited for.
      quietSinceMs: 0,
      readAt: undefined,
    }
    this.#open = { packed: location, content, fault }
  }

  /** Everything in it has been read, or as much as can be. */
  finish(): void {
    if (!this.#open) return
    const { packed } = this.#open
    packed.state = { kind: 'closed' }
    packed.readAt = packed.facts
    this.close()
  }

  /** Closes without having finished. */
  close(): void {
    const file = this.#open?.content.file
    this.#open = undefined
    if (file !== undefined) closeSync(file)
  }

  problems(): string[] {
    return [...this.#faults].map(
      ([path, fault]) => `${path} could not be unpacked to its end: ${fault}.`,
    )
  }
}

function firstBytes(path: string): Buffer {
  const bytes = Buffer.alloc(4)
  const file = openSync(path, 'r')
  try {
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0))
  } finally {
    closeSync(file)
  }
}
