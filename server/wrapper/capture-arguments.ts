import { redact } from '../call-log/redact.ts'
import {
  asRedacted,
  type RedactedArguments,
  redactArguments,
} from '../call-log/redacted-arguments.ts'
import type { ToolSettings } from './options.ts'
import { observing } from './warn-once.ts'

/** Undefined where none are to be kept. */
export function captureArguments(
  value: unknown,
  capture: ToolSettings['capture'],
): RedactedArguments | undefined {
  switch (capture) {
    case 'off':
      return undefined
    case 'shapes':
      return observing('Redacting arguments', () => asRedacted(shapeOf(redact(value))))
    case 'full':
      return observing('Redacting arguments', () => redactArguments(value))
  }
}

/** Keys and types in place of values: enough to see what was sent wrongly, and to count repeats. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value !== 'object' || value === null)
    return value === null ? null : `<${typeof value}>`
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, shapeOf(entry)]))
}
