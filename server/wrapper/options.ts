import type { CallRecord, NameAndVersion } from '../call-log/record.ts'
import { defaultLogDirectory } from '../call-log/state-directory.ts'
import type { Classification } from './classify.ts'
import { parseDuration } from './duration.ts'
import { nearestName } from './nearest-name.ts'
import { createOwnLogger, isLogger, type Logger } from './own-logger.ts'
import type { RetryOptions } from './retry.ts'

const MIB = 1024 * 1024

/** What may differ from tool to tool. */
export type ToolOptions = {
  /** What the client reads of an unforeseen error: a generic sentence, or its redacted message. */
  errorText?: 'generic' | 'message'
  /** Argument names the schema does not have: only recorded, also told to the client, or refused. */
  unknownArguments?: 'report' | 'warn' | 'reject'
  /** A success that reads like a failure: flagged in the log, or turned into an error. */
  suspect?: 'flag' | 'error'
  /**
   * A success that says nothing: flagged in the log, also told to the client in a note after it, or
   * turned into an error. Default: `flag`; `warn` where `suspect` is `error`.
   */
  empty?: 'flag' | 'warn' | 'error'
  /** Longest time a call may take, in milliseconds or as '30s', '2m'; false for no limit. */
  timeout?: number | string | false
  /** What the log keeps of arguments: redacted values, only their types, or nothing. */
  capture?: 'full' | 'shapes' | 'off'
  /** Whether a transient failure may be retried, whatever the tool's annotations say. */
  retry?: boolean
}

export type UnsilenceOptions = Omit<ToolOptions, 'retry'> & {
  /** Directory of the call log. Default: `logs` in the state directory. False: no log at all. */
  logs?: string | false
  /**
   * The application's own pino logger, or one that is called like it: it gets a line a call as
   * well, with the redacted record under `toolCall`.
   */
  logger?: Logger
  /** The server's name and version in the log. Default: those it tells its clients. */
  server?: NameAndVersion
  /** How transient failures are retried; false for never. */
  retry?: RetryOptions | false
  /** The first word on what an error is; undefined leaves it to the built-in rules. */
  classify?: (error: unknown) => Classification | undefined
  /**
   * Low-level servers only: whether arguments are checked against the tool's listed schema before
   * the handler runs.
   */
  checkArguments?: boolean
  /** Over stdio: whether what tools write to stdout goes to stderr instead. */
  guardStdout?: boolean
  /** A result larger than this many bytes is refused. */
  maxResultBytes?: number
  /** Options by tool name; they stand above the general ones. */
  tools?: Record<string, ToolOptions>
  /** Epoch ms; for tests and simulations. */
  now?: () => number
}

export const DEFAULT_TOOL_OPTIONS = {
  errorText: 'generic',
  unknownArguments: 'warn',
  suspect: 'flag',
  empty: 'flag',
  timeout: false,
  capture: 'full',
} as const satisfies ToolOptions

export const DEFAULT_MAX_RESULT_BYTES = 8 * MIB

export type ToolSettings = {
  errorText: 'generic' | 'message'
  unknownArguments: 'report' | 'warn' | 'reject'
  suspect: 'flag' | 'error'
  empty: 'flag' | 'warn' | 'error'
  /** Undefined: no limit. */
  timeoutMs: number | undefined
  capture: 'full' | 'shapes' | 'off'
  /** Undefined: the tool's annotations decide. */
  retry: boolean | undefined
}

export type Settings = {
  /** Undefined: no log. */
  logDirectory: string | undefined
  /** Undefined: the application has no logger for it. */
  tellOwnLogger: ((record: CallRecord) => void) | undefined
  server: NameAndVersion | undefined
  retry: RetryOptions | false
  classify: ((error: unknown) => Classification | undefined) | undefined
  checkArguments: boolean
  guardStdout: boolean
  maxResultBytes: number
  now: () => number
  forTool(name: string): ToolSettings
}

/** Checks the options at the door and fills in the defaults. */
export function settingsFrom(options: UnsilenceOptions = {}): Settings {
  checkOptions(options)
  const general = toolSettings(options)
  const byTool = new Map(
    Object.entries(options.tools ?? {}).map(([name, own]) => [name, toolSettings(options, own)]),
  )
  return {
    logDirectory: options.logs === false ? undefined : (options.logs ?? defaultLogDirectory()),
    tellOwnLogger: options.logger && createOwnLogger(options.logger),
    server: options.server,
    retry: options.retry ?? {},
    classify: options.classify,
    checkArguments: options.checkArguments ?? true,
    guardStdout: options.guardStdout ?? true,
    maxResultBytes: options.maxResultBytes ?? DEFAULT_MAX_RESULT_BYTES,
    now: options.now ?? Date.now,
    forTool: (name) => byTool.get(name) ?? general,
  }
}

function toolSettings(general: UnsilenceOptions, own: ToolOptions = {}): ToolSettings {
  const given = { ...withoutUndefined(general), ...withoutUndefined(own) }
  const merged = { ...DEFAULT_TOOL_OPTIONS, ...given }
  return {
    errorText: merged.errorText,
    unknownArguments: merged.unknownArguments,
    suspect: merged.suspect,
    // Who wants failures in disguise told as errors cannot trust a success that says nothing.
    empty: given.empty ?? (merged.suspect === 'error' ? 'warn' : DEFAULT_TOOL_OPTIONS.empty),
    timeoutMs: merged.timeout === false ? undefined : parseDuration(merged.timeout, '`timeout`'),
    capture: merged.capture,
    retry: own.retry,
  }
}

function withoutUndefined<T extends object>(
  value: T,
): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined)
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> }
}

type Check = { accepts: (value: unknown) => boolean; instead: string }

function oneOf(...words: (string | boolean)[]): Check {
  const list = words.map((word) => (typeof word === 'string' ? `'${word}'` : String(word)))
  return {
    accepts: (value) => words.some((word) => word === value),
    instead: list.join(' or '),
  }
}

const text: Check = { accepts: (value) => typeof value === 'string' && value !== '', instead: '' }

const toolChecks: Record<keyof ToolOptions, Check> = {
  errorText: oneOf('generic', 'message'),
  unknownArguments: oneOf('report', 'warn', 'reject'),
  suspect: oneOf('flag', 'error'),
  empty: oneOf('flag', 'warn', 'error'),
  timeout: {
    accepts: (value) => value === false || typeof value === 'number' || typeof value === 'string',
    instead: "milliseconds, a text like '30s', or false",
  },
  capture: oneOf('full', 'shapes', 'off'),
  retry: oneOf(true, false),
}

const checks: Record<keyof UnsilenceOptions, Check> = {
  ...toolChecks,
  logs: {
    accepts: (value) => value === false || text.accepts(value),
    instead: 'the path of a directory, or false for no log',
  },
  logger: { accepts: isLogger, instead: 'a pino logger, or an object with info, warn and error' },
  server: { accepts: isNameAndVersion, instead: "{ name: '…', version: '…' }" },
  retry: {
    accepts: (value) => value === false || isPlainObject(value),
    instead: 'an object like { attempts: 3 }, or false',
  },
  classify: { accepts: (value) => typeof value === 'function', instead: 'a function' },
  checkArguments: oneOf(true, false),
  guardStdout: oneOf(true, false),
  maxResultBytes: {
    accepts: (value) => typeof value === 'number' && value > 0,
    instead: 'a number of bytes above 0',
  },
  tools: { accepts: isPlainObject, instead: 'an object of options by tool name' },
  now: { accepts: (value) => typeof value === 'function', instead: 'a function' },
}

export const OPTION_NAMES = Object.keys(checks)

function checkOptions(options: unknown): void {
  if (!isPlainObject(options)) {
    throw new TypeError('The options must be an object, such as { logs: "./logs" }.')
  }
  checkEach(options, checks, '')
  for (const [tool, own] of Object.entries((options.tools ?? {}) as Record<string, unknown>)) {
    if (!isPlainObject(own)) {
      throw new TypeError(`The options of tool \`${tool}\` must be an object.`)
    }
    checkEach(own, toolChecks, ` of tool \`${tool}\``)
  }
}

function checkEach(given: Record<string, unknown>, known: Record<string, Check>, where: string) {
  for (const [name, value] of Object.entries(given)) {
    const check = Object.hasOwn(known, name) ? known[name] : undefined
    if (!check) throw new TypeError(unknownOption(name, Object.keys(known), where))
    if (value !== undefined && !check.accepts(value)) {
      throw new TypeError(`The option \`${name}\`${where} must be ${check.instead}.`)
    }
  }
}

function unknownOption(name: string, known: string[], where: string): string {
  const nearest = nearestName(
    name,
    known.map((option) => ({ name: option })),
  )
  const help = nearest
    ? `Did you mean \`${nearest.name}\`?`
    : `There are: ${known.map((option) => `\`${option}\``).join(', ')}.`
  return `There is no option \`${name}\`${where}. ${help}`
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isNameAndVersion(value: unknown): boolean {
  return isPlainObject(value) && typeof value.name === 'string' && typeof value.version === 'string'
}
