import pino from 'pino'
import { FORMAT_VERSION, type LogRecord } from './record.ts'

export type RecordLoggerOptions = {
  /**
   * Takes one whole line, its `\n` included, and the sequence number that stands in it. May throw;
   * the caller of `log` sees it, and the number is spent.
   */
  write(line: string, n: number): void
  /** Epoch ms, stamped on each line as `time`. */
  now(): number
  pid: number
  hostname: string
  /** The writer id `w`: 32 hex digits. */
  writer: string
}

export type RecordLogger = {
  /**
   * Writes one record under the next sequence number and returns that number. `argumentsJson`
   * stands on the line as `args`, for a call whose record has none.
   */
  log(record: LogRecord, argumentsJson?: string): number
  /** Spends a number on a record that cannot become a line, and returns it. */
  skip(): number
}

/** What pino is given for each line. */
type Line = { n: number; record: LogRecord; argumentsJson: string | undefined }
type Serialise = (this: PinoState, line: Line, text: unknown, level: number, time: string) => string
type PinoState = { readonly [symbol: symbol]: unknown }

const { asJsonSym, chindingsSym, lsCacheSym } = pino.symbols

/**
 * In place of pino's own, which goes through a record key by key: this way a record is one call of
 * JSON.stringify, and takes half of the time.
 */
const serialise: Serialise = function (line, _text, level, time) {
  const levels = this[lsCacheSym] as Record<number, string>
  return `${levels[level]}${time}${this[chindingsSym]},"n":${line.n},${bodyOf(line)}\n`
}

/** From the first key to the closing brace. */
function bodyOf({ record, argumentsJson }: Line): string {
  const json = JSON.stringify(record)
  if (argumentsJson === undefined) return json.slice(1)
  return `${json.slice(1, -1)},"args":${argumentsJson}}`
}

/**
 * Turns records into lines: pino with the envelope of record.ts. Both the writer in a live server
 * and the generator of sample logs use it, so there is one place where a line is put together.
 */
export function createRecordLogger(options: RecordLoggerOptions): RecordLogger {
  let n = 0
  const logger = pino(
    {
      level: 'trace',
      base: {
        pid: options.pid,
        hostname: options.hostname,
        v: FORMAT_VERSION,
        w: options.writer,
      },
      timestamp: () => `,"time":${options.now()}`,
    },
    { write: (line: string) => options.write(line, n) },
  )
  Object.defineProperty(logger, asJsonSym, { value: serialise })
  return {
    log(record, argumentsJson) {
      n += 1
      logger[levelOf(record)]({ n, record, argumentsJson } satisfies Line)
      return n
    },
    skip() {
      n += 1
      return n
    },
  }
}

export function levelOf(record: LogRecord): 'debug' | 'info' | 'warn' | 'error' | 'fatal' {
  switch (record.kind) {
    case 'beat':
      return 'debug'
    case 'drop':
      return 'error'
    case 'fatal':
      return 'fatal'
    case 'call':
      if (record.outcome !== 'failed') return 'info'
      return record.error?.class === 'unexpected' || record.error?.class === 'crashed'
        ? 'error'
        : 'warn'
    default:
      return 'info'
  }
}
