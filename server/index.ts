export type { Classification } from './wrapper/classify.ts'
export { connection } from './wrapper/connection.ts'
export {
  ConnectionError,
  FatalError,
  InvalidArgumentsError,
  TimeoutError,
  ToolError,
} from './wrapper/errors.ts'
export { readConfig, requireEnv } from './wrapper/fatal.ts'
export { type GuardOptions, guard } from './wrapper/handler-guard.ts'
export type { ToolOptions, UnsilenceOptions } from './wrapper/options.ts'
export type { Logger } from './wrapper/own-logger.ts'
export type { RetryOptions } from './wrapper/retry.ts'
export { tapTransport } from './wrapper/transport-tap.ts'
export { unsilence } from './wrapper/unsilence.ts'
