import type { ErrorClass, RecordedError } from '../call-log/record.ts'
import { redact } from '../call-log/redact.ts'
import type { Classification } from './classify.ts'
import { describeError } from './describe-error.ts'

/** A thrown value as the log keeps it: described, bounded, redacted. */
export function recordedError(error: unknown, classification: Classification): RecordedError {
  const { name, message, stack, causes } = describeError(error)
  const { class: kind, code, status, retryAfterS, upstream, by } = classification
  return {
    class: kind,
    ...(code === undefined ? {} : { code }),
    name,
    message: redactedText(message),
    ...(stack === undefined ? {} : { stack: redactedText(stack) }),
    ...(causes === undefined || causes.length === 0
      ? {}
      : { causes: causes.map((cause) => ({ ...cause, message: redactedText(cause.message) })) }),
    ...(upstream === undefined ? {} : { upstream: redactedText(upstream) }),
    ...(status === undefined ? {} : { status }),
    ...(retryAfterS === undefined ? {} : { retry_after_s: retryAfterS }),
    ...(by === undefined ? {} : { by }),
  }
}

/** A failure without a thrown value: only a class and a sentence. */
export function plainError(kind: ErrorClass, message: string): RecordedError {
  return { class: kind, message: redactedText(message) }
}

function redactedText(text: string): string {
  const redacted = redact(text)
  return typeof redacted === 'string' ? redacted : '[redacted]'
}
