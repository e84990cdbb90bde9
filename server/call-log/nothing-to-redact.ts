import { MAX_DEPTH, MAX_KEY_LENGTH } from './limits.ts'
import { isCardNumber, maskText } from './mask-text.ts'
import { isSecretKey } from './secret-keys.ts'

/** Beyond these a value is copied with all care: it is no longer what most calls send. */
const MAX_VALUES = 200
const MAX_TEXT_LENGTH = 8 * 1024

type Left = { values: number; textLength: number }

/**
 * Whether the value is plain JSON data in which there is nothing to mask and nothing to cut, so
 * that its redacted copy would be the same. False where that takes a closer look. Most calls'
 * arguments are like this, and this costs a third of a copy.
 */
export function nothingToRedact(value: unknown): boolean {
  return isClean(value, 0, { values: MAX_VALUES, textLength: MAX_TEXT_LENGTH })
}

function isClean(value: unknown, depth: number, left: Left): boolean {
  left.values -= 1
  if (left.values < 0) return false
  switch (typeof value) {
    case 'string':
      return isCleanText(value, left)
    case 'number':
      return Number.isFinite(value) && (value < 1e12 || !isCardNumber(String(value)))
    case 'boolean':
      return true
    case 'object':
      return value === null || isCleanObject(value, depth, left)
    default:
      return false
  }
}

function isCleanObject(value: object, depth: number, left: Left): boolean {
  if (depth >= MAX_DEPTH || !isPlain(value)) return false
  if (Array.isArray(value)) return value.every((item) => isClean(item, depth + 1, left))
  for (const key of Object.keys(value)) {
    if (!isCleanKey(key, left)) return false
    if (!isClean((value as Record<string, unknown>)[key], depth + 1, left)) return false
  }
  return true
}

/** No class's object, and none that speaks for itself. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== Array.prototype) return false
  return !('toJSON' in value)
}

function isCleanKey(key: string, left: Left): boolean {
  left.textLength -= key.length
  if (key.length > MAX_KEY_LENGTH || key === '__proto__' || isSecretKey(key)) return false
  return key.length < 8 || maskText(key, anyMask) === key
}

/** JSON inside a string would have to be searched as JSON. */
const JSON_START = /^\s*[{["]/

function isCleanText(text: string, left: Left): boolean {
  left.textLength -= text.length
  if (left.textLength < 0 || JSON_START.test(text)) return false
  return maskText(text, anyMask) === text
}

function anyMask(): string {
  return '\0'
}
