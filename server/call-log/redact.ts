import { createHmac } from 'node:crypto'
import { cutText, MAX_STRING_LENGTH } from './limits.ts'
import { maskText } from './mask-text.ts'
import { loadRedactionKey } from './redaction-key.ts'
import { Redaction, UNREADABLE } from './redaction-walk.ts'

export type Redactor = {
  /** A copy as plain JSON data, without secrets and within the limits. Never throws. */
  redact(value: unknown): unknown
  /** The text without the secrets that can be told from their looks, cut at `maxLength`. */
  redactText(text: string, maxLength?: number): string
  /** A keyed hash, 12 hex digits: equal texts have equal ones, and nobody can guess the text. */
  fingerprint(text: string): string
}

const MARKER = /^\[redacted [0-9]+(?:-[0-9]+|\+) chars #[0-9a-f]{12}\]$/
const LENGTH_CLASSES = [
  [8, '1-7'],
  [16, '8-15'],
  [32, '16-31'],
  [64, '32-63'],
  [128, '64-127'],
] as const

/** Of a longer text only this much and its length are hashed. */
const MAX_HASHED_LENGTH = 1024 * 1024

export function createRedactor(key: () => Buffer): Redactor {
  let loaded: Buffer | undefined

  function fingerprint(text: string): string {
    loaded ??= key()
    const hashed =
      text.length <= MAX_HASHED_LENGTH ? text : `${text.length}:${text.slice(0, MAX_HASHED_LENGTH)}`
    return createHmac('sha256', loaded).update(hashed).digest('hex').slice(0, 12)
  }

  function mask(secret: string): string {
    if (MARKER.test(secret)) return secret
    const lengthClass = LENGTH_CLASSES.find(([below]) => secret.length < below)?.[1] ?? '128+'
    return `[redacted ${lengthClass} chars #${fingerprint(secret)}]`
  }

  return {
    fingerprint,
    redact(value) {
      try {
        return new Redaction(mask, fingerprint).copy(value)
      } catch {
        return UNREADABLE
      }
    },
    redactText(text, maxLength = MAX_STRING_LENGTH) {
      try {
        return cutText(maskText(searchable(text, maxLength), mask), maxLength)
      } catch {
        return UNREADABLE
      }
    },
  }
}

/**
 * What is searched of a text of which `maxLength` is kept. The last word of a cut text is left
 * out: it may be the first half of a secret, which no pattern would know.
 */
function searchable(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const part = text.slice(0, maxLength)
  const lastSpace = part.search(/\s\S*$/)
  return `${lastSpace === -1 ? '' : part.slice(0, lastSpace)} …`
}

const ofThisProcess = createRedactor(() => loadRedactionKey())

/** Plain JSON data in place of any value, secrets masked, sizes bounded. Never throws. */
export const redact = ofThisProcess.redact

/** For messages, stacks and names. */
export const redactText = ofThisProcess.redactText

export const fingerprint = ofThisProcess.fingerprint
