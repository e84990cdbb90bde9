import { performance } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import type { NameAndVersion } from '../call-log/record.ts'
import { type CallLog, openCallLog } from '../call-log/writer.ts'
import { isRecord } from './mcp-shapes.ts'
import type { Settings } from './options.ts'
import { createRetryPolicy, type RetryOptions, type RetryPolicy } from './retry.ts'
import { createToolCatalogue, type ToolCatalogue } from './tool-catalogue.ts'
import { observing } from './warn-once.ts'

/** What every call of one server shares. */
export type WrapperContext = {
  settings: Settings
  catalogue: ToolCatalogue
  retry: RetryPolicy
  /** Undefined where logging is off. Opened by its first use. */
  readonly log: CallLog | undefined
  serverName(): NameAndVersion
  /** Takes the name a server told its client, for want of a better source. */
  learnServerName(info: unknown): void
}

export function createContext(settings: Settings, server?: object): WrapperContext {
  let learnt: NameAndVersion | undefined
  const catalogue = createToolCatalogue()
  let opened: { log: CallLog | undefined } | undefined
  const serverName = () =>
    settings.server ?? learnt ?? ownName(server) ?? { name: 'unknown', version: '' }
  return {
    settings,
    catalogue,
    retry: sharedRetryPolicy(settings.retry === false ? { attempts: 1 } : settings.retry),
    serverName,
    learnServerName(info) {
      learnt ??= nameAndVersion(info)
    },
    get log() {
      opened ??= { log: open(settings, serverName(), catalogue) }
      return opened.log
    },
  }
}

function open(
  settings: Settings,
  server: NameAndVersion,
  catalogue: ToolCatalogue,
): CallLog | undefined {
  const directory = settings.logDirectory
  if (directory === undefined) return undefined
  return observing('Opening the call log', () =>
    openCallLog({ directory, server, now: settings.now, tools: () => catalogue.fingerprints() }),
  )
}

const policies = new Map<string, RetryPolicy>()

/** One retry budget a process for each set of options: stateless servers build a server a request. */
function sharedRetryPolicy(options: RetryOptions): RetryPolicy {
  const key = JSON.stringify(options)
  const known = policies.get(key)
  if (known) return known
  const policy = createRetryPolicy(options, {
    now: () => performance.now(),
    random: Math.random,
    sleep: (ms, signal) => setTimeout(ms, undefined, { signal }),
  })
  policies.set(key, policy)
  return policy
}

/** No SDK has a public way to ask a server its name; what it keeps is read, and never relied on. */
function ownName(server: object | undefined): NameAndVersion | undefined {
  return isRecord(server) ? nameAndVersion(server._serverInfo) : undefined
}

export function nameAndVersion(info: unknown): NameAndVersion | undefined {
  if (!isRecord(info) || typeof info.name !== 'string') return undefined
  return { name: info.name, version: typeof info.version === 'string' ? info.version : '' }
}
