import type { CallRecord } from '../call-log/record.ts'
import { levelOf } from '../call-log/record-logger.ts'
import { redactText } from '../call-log/redact.ts'
import { sealRecord } from '../call-log/seal-record.ts'
import { isObject, readProperty } from '../safe-read.ts'
import { observing, warnOnce } from './warn-once.ts'

/** A pino logger, or one that is called like it. */
export type Logger = Record<'info' | 'warn' | 'error', (fields: object, message: string) => unknown>

/**
 * Tells the application's own logger of calls that have ended: the redacted record under the one
 * key `toolCall`, so that no other key of theirs is touched, and a sentence. A fault of the logger
 * is told once on stderr.
 */
export function createOwnLogger(logger: Logger): (record: CallRecord) => void {
  const breaksStdio = observing('Looking at the logger of the options', () =>
    writesToStdout(logger),
  )
  return (record) => {
    if (record.transport === 'stdio' && breaksStdio) return warnOnce(STDOUT_WARNING)
    observing('Writing to the logger of the options', () => tell(logger, record))
  }
}

const STDOUT_WARNING =
  'the logger of the options writes to stdout, which belongs to the protocol: it gets no ' +
  'lines. Give it another place, such as pino(pino.destination(2)) for stderr.'

function tell(logger: Logger, record: CallRecord): void {
  const sealed = sealRecord(record)
  const toolCall = { ...sealed.record, args: JSON.parse(sealed.argumentsJson ?? 'null') }
  const level = levelOf(record)
  logger[level === 'warn' || level === 'error' ? level : 'info'](
    { toolCall },
    `${redactText(record.tool)} ${record.outcome} after ${record.duration_ms} ms`,
  )
}

const STDOUT = 1

/** As far as that can be told: pino keeps its stream under a symbol of its own copy. */
function writesToStdout(logger: Logger): boolean {
  const stream = streamOf(logger)
  return stream === process.stdout || readProperty(stream, 'fd') === STDOUT
}

function streamOf(logger: object): unknown {
  for (let at: object | null = logger; at !== null; at = Object.getPrototypeOf(at)) {
    const key = Object.getOwnPropertySymbols(at).find(
      ({ description }) => description === 'pino.stream',
    )
    if (key) return readProperty(at, key)
  }
  return undefined
}

export function isLogger(value: unknown): boolean {
  return (
    isObject(value) &&
    (['info', 'warn', 'error'] as const).every(
      (level) => typeof readProperty(value, level) === 'function',
    )
  )
}
