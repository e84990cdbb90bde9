import { readFileSync } from 'node:fs'
import type { CallLog } from '../call-log/writer.ts'
import { markRecorded } from '../process-end.ts'
import { FatalError } from './errors.ts'
import { FATAL_EXIT_CODE, tellOfFatal } from './fatal-exit.ts'
import { recordedError } from './recorded-error.ts'

/** The variable's value. A missing or empty one ends the process: it will not appear later. */
export function requireEnv(name: string): string {
  const value = process.env[name]
  if (value === undefined || value.trim() === '') {
    throw new FatalError(
      `the environment variable ${name} is ${value === undefined ? 'not set' : 'empty'}; set it and start the server again`,
    )
  }
  return value
}

type SchemaIssue = {
  message: string
  path?: readonly (PropertyKey | { key: PropertyKey })[] | undefined
}

/** What any Standard Schema library gives: zod, valibot, arktype. */
export type ConfigSchema<T> = {
  readonly '~standard': {
    validate(
      value: unknown,
    ): { value: T; issues?: undefined } | { issues: readonly SchemaIssue[] } | Promise<unknown>
  }
}

/** Reads and checks a JSON file. Whatever is wrong with it ends the process, naming the place. */
export function readConfig<T>(path: string, schema: ConfigSchema<T>): T {
  const value = parseConfig(path, readConfigText(path))
  const result = schema['~standard'].validate(value)
  if (result instanceof Promise) {
    throw new TypeError('readConfig needs a schema that checks synchronously')
  }
  if (result.issues) throw new FatalError(`${path}: ${issuesText(result.issues)}`)
  return result.value
}

function readConfigText(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    const why = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`
    throw new FatalError(`the configuration file ${path} ${why}`, { cause: error })
  }
}

function parseConfig(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const place = placeOf(error, text)
    throw new FatalError(`${path}${place} is not valid JSON`)
  }
}

/** `:3:17`, where Node says at which character it stopped. */
function placeOf(error: unknown, text: string): string {
  const position = /position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1]
  const offset = position === undefined ? text.length : Number(position)
  const before = text.slice(0, offset).split('\n')
  return `:${before.length}:${(before.at(-1) ?? '').length + 1}`
}

function issuesText(issues: readonly SchemaIssue[]): string {
  const shown = issues.slice(0, 5).map(({ message, path = [] }) => {
    const place = path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.')
    return `${place || '(root)'}: ${message}`
  })
  const more = issues.length - shown.length
  return shown.join('; ') + (more > 0 ? `; and ${more} more` : '')
}

export type FatalCall = {
  /** The id of the call whose handler threw. */
  call?: string | undefined
  /** Settles when the client's answer has been handed to the transport. */
  answered?: Promise<unknown> | undefined
}

/** How long the client's answer may take to leave, and the other calls to be recorded. */
const ANSWER_GRACE_MS = 50
const MAX_ANSWER_MS = 1_000

let dying = false

/**
 * Ends the process for a FatalError that a handler threw, which the SDK would swallow: the `fatal`
 * record, one line on stderr, then the error once more outside every promise chain, so that the
 * application's own hooks see it. Exit code 78. Returns at once: the client's answer leaves first.
 */
export function dieOfFatal(
  error: FatalError,
  log?: Pick<CallLog, 'record'>,
  { call, answered }: FatalCall = {},
): void {
  if (dying) return
  dying = true
  log?.record({
    kind: 'fatal',
    error: recordedError(error, { class: 'fatal', transient: false }),
    ...(call !== undefined && { call }),
  })
  if (log) markRecorded(error)
  tellOfFatal(error)
  void answerGone(answered).then(() => {
    setImmediate(() => {
      // For an application that swallows uncaught exceptions: it must not go on like this.
      setTimeout(() => process.exit(FATAL_EXIT_CODE), ANSWER_GRACE_MS)
      throw error
    })
  })
}

async function answerGone(answered: Promise<unknown> | undefined): Promise<void> {
  const sent = Promise.resolve(answered).then(
    () => undefined,
    () => undefined,
  )
  await Promise.race([sent, delay(MAX_ANSWER_MS)])
  await delay(ANSWER_GRACE_MS)
  const until = Date.now() + MAX_ANSWER_MS
  while (process.stdout.writableLength > 0 && Date.now() < until) await delay(5)
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}
