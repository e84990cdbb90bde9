import { argumentsHash } from './canonical-json.ts'
import { nothingToRedact } from './nothing-to-redact.ts'
import { redact } from './redact.ts'

const REDACTED = Symbol('unsilent.redacted-arguments')

/**
 * A call's arguments, redacted, as the JSON text that goes into the log. Made when they arrive,
 * because the tool may change its own while it runs.
 */
export type RedactedArguments = {
  readonly json: string
  /** For `args_hash`. */
  readonly hash: string
  readonly [REDACTED]: true
}

/** Never throws. Absent arguments are `null`. */
export function redactArguments(value: unknown): RedactedArguments {
  return asTheyAre(value) ?? asRedacted(redact(value))
}

/** Of what `redact` gave, or of something made of it. */
export function asRedacted(redacted: unknown): RedactedArguments {
  const json = JSON.stringify(redacted) ?? 'null'
  return { json, hash: argumentsHash(redacted), [REDACTED]: true }
}

export function isRedacted(value: unknown): value is RedactedArguments {
  return typeof value === 'object' && value !== null && REDACTED in value
}

/** Where there is nothing to redact, or no longer. */
function asTheyAre(value: unknown): RedactedArguments | undefined {
  try {
    if (isRedacted(value)) return value
    return nothingToRedact(value) ? asRedacted(value) : undefined
  } catch {
    // A getter or a Proxy: the copy knows what to do about it.
    return undefined
  }
}
