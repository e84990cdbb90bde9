import { codeOf, reasonOf, type Scan } from './discovery.ts'
import type { FilePort } from './file-port.ts'
import { firstState, type Location, meetAgain, newLocation, noteFacts } from './location.ts'
import type { StreamPlace } from './store/stream-index.ts'

const FIRST_RETRY_MS = 250
const LAST_RETRY_MS = 30_000
const MAX_OPEN_FILES = 256
/** Trimmed so many at a time. */
const SPARE_FILES = 32

/** All files that are followed, by device and inode. */
export class Locations {
  readonly #files: FilePort
  readonly #byInode = new Map<string, Location>()
  #openFiles = 0

  constructor(files: FilePort) {
    this.#files = files
  }

  /** Programs' own names first: a copy can only be recognised by what it was copied from. */
  inOrder(): Location[] {
    return [...this.#byInode.values()].sort(
      (a, b) =>
        Number(b.name.primary) - Number(a.name.primary) ||
        Number(a.facts.modifiedNs - b.facts.modifiedNs) ||
        (a.path < b.path ? -1 : 1),
    )
  }

  /** Is the file still there under some name? An inode that was used again is another file. */
  has({ deviceInode, birthNs }: StreamPlace): boolean {
    const facts = this.#byInode.get(deviceInode)?.facts
    return facts !== undefined && facts.links > 0 && facts.birthNs === birthNs
  }

  /** Brings the table up to what a scan has found. */
  meet(scan: Scan, nowMs: number): void {
    const found = new Set<string>()
    for (const candidate of scan.candidates) {
      const { deviceInode } = candidate.facts
      found.add(deviceInode)
      const known = this.#byInode.get(deviceInode)
      // While we hold a file open its inode cannot become another file's.
      const isSame = known?.file !== undefined || known?.facts.birthNs === candidate.facts.birthNs
      if (known && isSame) meetAgain(known, candidate, nowMs)
      else this.#byInode.set(deviceInode, newLocation(candidate, nowMs))
    }
    for (const [deviceInode, location] of this.#byInode) {
      if (!found.has(deviceInode)) this.#lookAtLost(deviceInode, location, nowMs)
    }
  }

  /** Not under any name that was scanned: deleted or moved away. Followed as long as it is open. */
  #lookAtLost(deviceInode: string, location: Location, nowMs: number): void {
    if (location.file === undefined) {
      this.#byInode.delete(deviceInode)
      return
    }
    location.isFound = false
    try {
      noteFacts(location, this.#files.facts(location.file), nowMs)
    } catch (error) {
      this.fail(location, error, nowMs)
    }
  }

  /**
   * Opens the file if need be and brings its facts up to date. False if it cannot be read now, or
   * is no longer the file that was found under the name.
   */
  open(location: Location, nowMs: number): boolean {
    location.lastUsedMs = nowMs
    try {
      if (location.file === undefined) {
        const file = this.#files.open(location.path)
        const facts = this.#files.facts(file)
        if (!facts.isFile || facts.deviceInode !== location.facts.deviceInode) {
          this.#files.close(file)
          return false
        }
        location.file = file
        this.#openFiles += 1
        if (this.#openFiles > MAX_OPEN_FILES + SPARE_FILES) this.limitOpenFiles()
      }
      noteFacts(location, this.#files.facts(location.file), nowMs)
      location.failure = undefined
      return true
    } catch (error) {
      this.fail(location, error, nowMs)
      return false
    }
  }

  /** Notes that a file could not be read, and when to try again. */
  fail(location: Location, error: unknown, nowMs: number): void {
    this.release(location)
    if (codeOf(error) === 'ENOENT') return
    const before = location.failure
    const delayMs = Math.min(LAST_RETRY_MS, before ? before.delayMs * 2 : FIRST_RETRY_MS)
    location.failure = {
      reason: reasonOf(error),
      sinceMs: before?.sinceMs ?? nowMs,
      delayMs,
      retryAtMs: nowMs + delayMs,
    }
  }

  /** A file that cannot be read is put off, not given up. Throws what is not the file's fault. */
  orPutOff(location: Location, nowMs: number, act: () => void): void {
    try {
      act()
    } catch (error) {
      if (!isFileError(error)) throw error
      this.fail(location, error, nowMs)
    }
  }

  release(location: Location): void {
    if (location.file === undefined) return
    const file = location.file
    location.file = undefined
    this.#openFiles -= 1
    try {
      this.#files.close(file)
    } catch (error) {
      location.failure ??= {
        reason: reasonOf(error),
        sinceMs: 0,
        delayMs: FIRST_RETRY_MS,
        retryAtMs: 0,
      }
    }
  }

  /** Closes what was not used for longest, but never a file that only we still hold. */
  limitOpenFiles(): void {
    const open = [...this.#byInode.values()].filter((location) => location.file !== undefined)
    if (open.length <= MAX_OPEN_FILES) return
    const closable = open
      .filter(({ facts, readAt, state }) => facts.links > 0 && (readAt || state.kind === 'closed'))
      .sort((a, b) => a.lastUsedMs - b.lastUsedMs)
    for (const location of closable.slice(0, open.length - MAX_OPEN_FILES)) this.release(location)
  }

  drop(location: Location): void {
    this.release(location)
    this.#byInode.delete(location.facts.deviceInode)
  }

  /** The streams in memory may be wrong after an error; files stay open. */
  forgetStreams(): void {
    for (const location of this.#byInode.values()) {
      location.stream = undefined
      location.readAt = undefined
      location.settledAt = undefined
      if (location.state.kind === 'pending') continue
      location.state = location.isUnpacked ? { kind: 'new' } : firstState(location.name)
    }
  }

  closeAll(): void {
    for (const location of this.#byInode.values()) this.release(location)
  }
}

export function isFileError(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || !('code' in error)) return false
  return typeof error.code === 'string' && /^E[A-Z0-9]+$/.test(error.code)
}
