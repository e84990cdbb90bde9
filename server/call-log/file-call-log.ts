import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { performance } from 'node:perf_hooks'
import { type CrashOrigin, isRecorded, watchProcessEnd } from '../process-end.ts'
import { attempt } from '../safe-read.ts'
import { tellOperator } from '../stderr.ts'
import { classify } from '../wrapper/classify.ts'
import { recordedError } from '../wrapper/recorded-error.ts'
import { startHeartbeat } from './heartbeat.ts'
import { bootId, pidNamespace } from './host.ts'
import { LineSink } from './line-sink.ts'
import { createLogFiles, type LogFiles } from './log-files.ts'
import { removeOldLogs } from './log-retention.ts'
import { createOpenJournal, OPEN_JOURNAL_EXTENSION, type OpenJournal } from './open-journal.ts'
import type { BeatRecord, LogRecord } from './record.ts'
import { createRecordLogger, type RecordLogger } from './record-logger.ts'
import { sealRecord } from './seal-record.ts'
import type { CallLog, CallLogOptions } from './writer.ts'

const DAY_MS = 24 * 3600 * 1000
/** Room that a file keeps for one more record and its own last line. */
const RESERVE_BYTES = 512 * 1024
const NOTICE_INTERVAL_MS = 60_000
const RETRY_MS = 1_000
/** After the server's own start, which is not to be delayed. */
const RETENTION_AFTER_MS = 2_000

export type CheckedCallLogOptions = CallLogOptions & { beatMs: number; maxFileBytes: number }

/** A call log in files of its own, from its opening to the end of the process. */
export class FileCallLog implements CallLog {
  readonly directory: string
  readonly journal: OpenJournal
  readonly #options: CheckedCallLogOptions
  readonly #now: () => number
  readonly #files: LogFiles
  readonly #sink: LineSink
  readonly #logger: RecordLogger
  readonly #forget: () => void
  readonly #stops: (() => void)[] = []
  readonly #openCalls: (() => BeatRecord['open'])[] = []
  readonly #guiltyCalls: ((error: unknown, origin: CrashOrigin) => string | undefined)[] = []
  readonly #closeCalls: ((code: number) => void)[] = []
  #started = false
  #ended = false
  #lastN = 0
  /** Set while a line is made that does not go to the end of the queue. */
  #intercept: ((line: { text: string; n: number }) => void) | undefined
  #fileName: string | undefined
  #fileSince = 0
  #endReason: string | undefined
  #noticeAt = Number.NEGATIVE_INFINITY
  #retry: NodeJS.Timeout | undefined

  constructor(options: CheckedCallLogOptions, forget: () => void) {
    const writer = randomBytes(16).toString('hex')
    const started = (options.now ?? Date.now)()
    this.directory = options.directory
    this.#options = options
    this.#forget = forget
    this.#now = options.now ?? Date.now
    this.#sink = new LineSink({ monotonicMs: () => performance.now(), append: options.append })
    this.#files = createLogFiles({
      directory: options.directory,
      server: options.server.name,
      startedAt: started,
      pid: process.pid,
      writer,
    })
    this.journal = createOpenJournal({
      path: `${this.#files.stem}${OPEN_JOURNAL_EXTENSION}`,
      header: () => ({
        w: writer,
        pid: process.pid,
        pid_ns: pidNamespace(),
        boot_id: bootId(),
        started,
      }),
      monotonicMs: () => performance.now(),
    })
    this.#logger = createRecordLogger({
      now: this.#now,
      pid: process.pid,
      hostname: hostname(),
      writer,
      write: (text, n) => {
        const take = this.#intercept ?? ((line) => this.#sink.write(line))
        take({ text, n })
      },
    })
    this.#openFile()
    this.#watch()
    // By then the server's tools are registered, if they are registered at once.
    const starting = setImmediate(() => this.#safely(() => this.#start()))
    starting.unref()
    const cleaning = setTimeout(() => this.#removeOldLogs(), RETENTION_AFTER_MS)
    cleaning.unref()
    this.#stops.push(() => clearTimeout(cleaning))
  }

  record(body: LogRecord): void {
    this.#safely(() => {
      this.#start()
      this.#catchUp()
      this.#rotateIfDue()
      this.#logSealed(body)
      if (body.kind === 'call') this.journal.closed(body.call)
      if (this.#sink.waitingRecords > 0) this.#catchUp()
    })
  }

  onBeat(openCalls: () => BeatRecord['open']): void {
    this.#openCalls.push(openCalls)
  }

  onCrash(guiltyCall: (error: unknown, origin: CrashOrigin) => string | undefined): void {
    this.#guiltyCalls.push(guiltyCall)
  }

  onExit(closeCalls: (code: number) => void): void {
    this.#closeCalls.push(closeCalls)
  }

  close(): void {
    this.#end({ code: 0, reason: this.#endReason ?? 'the log was closed' })
    for (const stop of this.#stops.splice(0)) stop()
    clearTimeout(this.#retry)
    this.#sink.close()
    this.#forget()
  }

  #watch(): void {
    this.#stops.push(
      watchProcessEnd({
        onCrash: (error, origin) => this.#crash(error, origin),
        onExit: (code, signal) => {
          if (this.#ended) return
          for (const closeCalls of this.#closeCalls) attempt(() => closeCalls(code))
          this.#end({ code, reason: signal ?? this.#endReason })
        },
      }),
    )
    if (this.#options.beatMs === 0) return
    const heartbeat = startHeartbeat({
      server: this.#options.server,
      beatMs: this.#options.beatMs,
      monotonicMs: () => performance.now(),
      openCalls: () => this.#openCalls.flatMap((openCalls) => attempt(openCalls) ?? []),
      beat: (record) => {
        this.#safely(() => this.#sink.confirm())
        this.record(record)
      },
    })
    this.#stops.push(() => heartbeat.stop())
  }

  #start(): void {
    if (this.#started) return
    this.#started = true
    const tools = attempt(() => this.#options.tools?.())
    this.#log({
      kind: 'start',
      server: this.#options.server,
      boot_id: bootId(),
      node: process.version,
      beat_ms: this.#options.beatMs,
      ...(tools && { tools }),
    })
  }

  #crash(error: unknown, origin: CrashOrigin): void {
    const calls = this.#guiltyCalls.map((guiltyCall) => attempt(() => guiltyCall(error, origin)))
    const call = calls.find((each) => each !== undefined)
    const described = recordedError(error, classify(error))
    this.#endReason = `${origin}: ${described.name ?? 'error'}: ${described.message}`
    if (isRecorded(error)) return
    this.record({ kind: 'fatal', error: described, ...(call !== undefined && { call }) })
  }

  #end(exit: { code: number; reason: string | undefined }): void {
    if (this.#ended) return
    this.#ended = true
    // Whoever removed the directory while it was in use wants no new one as a last act.
    if (this.#fileName !== undefined && !existsSync(this.directory)) return
    this.record({ kind: 'exit', ...exit })
    this.#safely(() => {
      this.#sink.confirm()
      if (!this.#sink.isOpen) this.#openFile()
      this.#sink.flush(Number.POSITIVE_INFINITY)
      this.#logDropped()
      const lost = this.#sink.waitingRecords + this.#sink.droppedRecords
      if (lost > 0) this.#notice(`${lost} records of the call log are lost`)
      else this.journal.remove()
    })
  }

  #logSealed(body: LogRecord): void {
    const sealed = attempt(() => sealRecord(body))
    if (sealed) this.#log(sealed.record, sealed.argumentsJson)
    else this.#countDropped(this.#logger.skip(), 'unreadable')
  }

  /** Gives the record its number. One that cannot be serialised is counted in its place. */
  #log(record: LogRecord, argumentsJson?: string): void {
    try {
      this.#lastN = this.#logger.log(record, argumentsJson)
    } catch {
      this.#countDropped(this.#lastN + 1, 'unserialisable')
    }
  }

  #countDropped(n: number, reason: string): void {
    this.#lastN = n
    this.#sink.countDropped(n, reason)
  }

  /** Opens a file where there is none, writes what waits, and tells what was let go. */
  #catchUp(): void {
    const sink = this.#sink
    if (sink.isDue && !sink.isOpen) this.#openFile()
    if (sink.isDue && sink.waitingRecords > 0) sink.flush()
    this.#logDropped()
    if (sink.fault) this.#noticeFault()
    if (sink.waitingRecords > 0 || !sink.isOpen) this.#retryLater()
  }

  #logDropped(): void {
    const dropped = this.#sink.takeDropped()
    if (!dropped) return
    const { reason, records, fromN, toN } = dropped
    this.#log({ kind: 'drop', reason, records, from_n: fromN, to_n: toN })
  }

  #retryLater(): void {
    if (this.#retry || this.#ended) return
    const delayMs = this.#sink.fault ? RETRY_MS : 1
    this.#retry = setTimeout(() => {
      this.#retry = undefined
      this.#safely(() => this.#catchUp())
    }, delayMs)
    this.#retry.unref()
  }

  #openFile(): void {
    try {
      const { fd, name } = this.#files.openNext()
      const previous = this.#fileName
      this.#useFile(fd, name)
      if (previous !== undefined) this.#logFirst({ kind: 'open', previous_file: previous })
    } catch (error) {
      this.#sink.setFault(error)
      this.#noticeFault()
      this.#retryLater()
    }
  }

  #useFile(fd: number, name: string): void {
    this.#sink.useFile(fd)
    this.#fileName = name
    this.#fileSince = this.#now()
  }

  #rotateIfDue(): void {
    const { maxFileBytes, maxFileAgeMs = DAY_MS } = this.#options
    const sink = this.#sink
    if (!sink.isOpen || sink.waitingRecords > 0 || this.#fileName === undefined) return
    const full = sink.sizeBytes + RESERVE_BYTES > maxFileBytes
    if (!full && this.#now() - this.#fileSince < maxFileAgeMs) return
    // Where no new file can be opened, the old one goes on.
    const next = attempt(() => this.#files.openNext())
    if (!next) return
    const previous = this.#fileName
    this.#log({ kind: 'close', next_file: next.name })
    this.#useFile(next.fd, next.name)
    this.#logFirst({ kind: 'open', previous_file: previous })
    sink.flush()
    this.#removeOldLogs()
  }

  #removeOldLogs(): void {
    const { retention } = this.#options
    if (retention === false) return
    void removeOldLogs(this.directory, Date.now(), retention).then(
      ({ unread }) => {
        if (unread.length === 0) return
        this.#notice(
          `the call log was too large: ${unread.join(', ')} removed before being ingested`,
        )
      },
      () => undefined,
    )
  }

  /** Logs a record as the first line of the file, in front of what waits. */
  #logFirst(record: LogRecord): void {
    this.#intercept = (line) => this.#sink.writeFirst(line)
    try {
      this.#log(record)
    } finally {
      this.#intercept = undefined
    }
  }

  #noticeFault(): void {
    const now = performance.now()
    if (now < this.#noticeAt + NOTICE_INTERVAL_MS) return
    this.#noticeAt = now
    const { waitingRecords, droppedRecords, fault } = this.#sink
    this.#notice(
      `the call log cannot be written (${fault?.message ?? 'unknown'}); tool calls go on, ${waitingRecords} records wait in memory, ${droppedRecords} are lost`,
    )
  }

  #notice(what: string): void {
    tellOperator(`${what}; directory: ${this.directory}`)
  }

  /** Observing never breaks the observed. */
  #safely(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#sink.setFault(error)
      this.#noticeFault()
    }
  }
}
