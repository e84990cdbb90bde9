import { writeSync } from 'node:fs'
import { closeQuietly, isRemoved } from './log-files.ts'

export type LineSinkOptions = {
  /** Milliseconds from any fixed point, never set back. */
  monotonicMs(): number
  /** Lines that cannot be written wait here, up to this many bytes. */
  maxWaitingBytes?: number | undefined
  /** Appends and gives the number of bytes written, which may be fewer. For tests of full disks. */
  append?: Append | undefined
}

export type Append = (fd: number, data: string | Uint8Array) => number

/** Lines that were given up, by their sequence numbers. */
export type Dropped = { reason: string; records: number; fromN: number; toN: number }

export type SinkFault = { code: string; message: string }

type Line = { text: string; n: number }

const MAX_WAITING_BYTES = 4 * 1024 * 1024
/** At recovery one step writes so much, so that no tool call waits for all of it. */
const FLUSH_BYTES = 256 * 1024
const RETRY_AFTER_MS = 250
/** How long, and for how many bytes, lines are kept until their file was seen to exist still. */
const CONFIRM_AFTER_MS = 1_000
/** Kept low: strings that live longer than a moment cost the garbage collector dear. */
const CONFIRM_AFTER_BYTES = 64 * 1024

/** These pass: the file stays open, and the rest of a half-written line follows later. */
const PASSING = new Set(['ENOSPC', 'EDQUOT', 'EAGAIN', 'EINTR', 'EBUSY'])

/**
 * Appends whole lines to a file with one write each, in order, without ever throwing. While
 * writing fails, lines wait in memory; beyond its bound they are counted and let go. When the
 * file turns out to have been removed, the lines of the last second are written again elsewhere.
 */
export class LineSink {
  readonly #monotonicMs: () => number
  readonly #append: Append
  readonly #maxWaitingBytes: number
  #fd: number | undefined
  #sizeBytes = 0
  #linesInFile = 0
  #waiting: Line[] = []
  #waitingBytes = 0
  /** Bytes of the first waiting line that are in the file already. */
  #headBytes = 0
  #dropped: Dropped | undefined
  #fault: SinkFault | undefined
  #retryAt = 0
  #unconfirmed: Line[] = []
  #unconfirmedBytes = 0
  #confirmAt = 0

  constructor({ monotonicMs, append, maxWaitingBytes = MAX_WAITING_BYTES }: LineSinkOptions) {
    this.#monotonicMs = monotonicMs
    this.#append = append ?? appendNow
    this.#maxWaitingBytes = maxWaitingBytes
  }

  get isOpen(): boolean {
    return this.#fd !== undefined
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  get fault(): SinkFault | undefined {
    return this.#fault
  }

  get waitingRecords(): number {
    return this.#waiting.length
  }

  get droppedRecords(): number {
    return this.#dropped?.records ?? 0
  }

  /** Whether it is time for another try after a failure, or for the rest of a long flush. */
  get isDue(): boolean {
    return this.#monotonicMs() >= this.#retryAt
  }

  /** Goes on in a new file. Lines that waited follow with the next `flush`. */
  useFile(fd: number): void {
    this.#leaveFile()
    this.#fd = fd
    this.#sizeBytes = 0
    this.#linesInFile = 0
    this.#fault = undefined
    this.#confirmAt = this.#monotonicMs() + CONFIRM_AFTER_MS
  }

  /** Puts a line in front of those that wait: the first line of a new file. */
  writeFirst(line: Line): void {
    this.#waiting.unshift(line)
    this.#waitingBytes += line.text.length
  }

  write(line: Line): void {
    // Once a line was let go, the following ones are too, until all that waits is written: so the
    // numbers that are missing form one range.
    if (this.#dropped || this.#waitingBytes + line.text.length > this.#maxWaitingBytes) {
      this.countDropped(line.n, this.#fault?.code ?? 'full')
      return
    }
    this.#waiting.push(line)
    this.#waitingBytes += line.text.length
    if (this.#waiting.length === 1 && this.#fault === undefined) this.flush()
  }

  /** A record that never became a line, or one that nothing has room for. */
  countDropped(n: number, reason: string): void {
    if (this.#dropped) {
      this.#dropped.records += 1
      this.#dropped.toN = n
    } else {
      this.#dropped = { reason, records: 1, fromN: n, toN: n }
    }
  }

  /** What was let go, once everything before it is written; the caller then records it. */
  takeDropped(): Dropped | undefined {
    if (this.#waiting.length > 0 || !this.isOpen) return undefined
    const dropped = this.#dropped
    this.#dropped = undefined
    return dropped
  }

  /** Writes what waits, at most `maxBytes` of it. True when nothing waits any more. */
  flush(maxBytes = FLUSH_BYTES): boolean {
    const until = this.#sizeBytes + maxBytes
    while (this.#waiting.length > 0 && this.#fd !== undefined && this.#sizeBytes < until) {
      if (!this.#writeHead(this.#fd)) return false
    }
    if (this.#waiting.length === 0) this.#confirm()
    return this.#waiting.length === 0
  }

  setFault(error: unknown): void {
    const code = (error as NodeJS.ErrnoException)?.code
    const message = error instanceof Error ? error.message : String(error)
    this.#fault = { code: typeof code === 'string' ? code : 'unwritable', message }
    this.#retryAt = this.#monotonicMs() + RETRY_AFTER_MS
  }

  /** Makes sure that the file still has a name. Otherwise its last lines wait for a new one. */
  confirm(): void {
    this.#confirmAt = 0
    this.#confirm()
  }

  close(): void {
    this.#leaveFile()
  }

  #leaveFile(): void {
    if (this.#fd !== undefined) closeQuietly(this.#fd)
    this.#fd = undefined
    // The other file holds only a part of the line: here it is written whole.
    this.#headBytes = 0
    this.#forgetUnconfirmed()
  }

  #writeHead(fd: number): boolean {
    const [line] = this.#waiting
    if (!line) return true
    try {
      const lineBytes = Buffer.byteLength(line.text)
      while (this.#headBytes < lineBytes) {
        // As a string: one copy less than by way of a buffer.
        const rest =
          this.#headBytes === 0 ? line.text : Buffer.from(line.text).subarray(this.#headBytes)
        const written = this.#append(fd, rest)
        this.#headBytes += written
        this.#sizeBytes += written
      }
    } catch (error) {
      this.#fail(error)
      return false
    }
    this.#fault = undefined
    this.#headBytes = 0
    this.#linesInFile += 1
    this.#waiting.shift()
    this.#waitingBytes -= line.text.length
    this.#unconfirmed.push(line)
    this.#unconfirmedBytes += line.text.length
    return true
  }

  #fail(error: unknown): void {
    this.setFault(error)
    const code = this.#fault?.code ?? ''
    if (code !== 'EFBIG') {
      if (!PASSING.has(code)) this.#leaveFile()
      return
    }
    // A file that may not grow further is left for a new one at once, unless it is new itself:
    // then the line is too long for any file.
    if (this.#linesInFile > 1) {
      this.#retryAt = 0
      this.#leaveFile()
    }
  }

  #confirm(): void {
    const now = this.#monotonicMs()
    if (now < this.#confirmAt && this.#unconfirmedBytes < CONFIRM_AFTER_BYTES) return
    this.#confirmAt = now + CONFIRM_AFTER_MS
    if (this.#fd === undefined) return
    try {
      if (isRemoved(this.#fd)) {
        this.#waiting = [...this.#unconfirmed, ...this.#waiting]
        this.#waitingBytes += this.#unconfirmedBytes
        this.#leaveFile()
        return
      }
    } catch (error) {
      this.setFault(error)
    }
    this.#forgetUnconfirmed()
  }

  #forgetUnconfirmed(): void {
    this.#unconfirmed = []
    this.#unconfirmedBytes = 0
  }
}

function appendNow(fd: number, data: string | Uint8Array): number {
  return typeof data === 'string' ? writeSync(fd, data) : writeSync(fd, data)
}
