import { cutText } from '../call-log/limits.ts'

/** The arguments as a whole. */
export const ROOT_PATH = '(root)'

/** In place of an index: whichever item of the array. */
export const EVERY_ITEM = -1

const MAX_KEY_LENGTH = 60

/** `['items', 1, 'id']` → `items[1].id`. Keys are a stranger's data: cut, control characters out. */
export function formatPath(path: readonly unknown[]): string {
  let text = ''
  for (const step of path) {
    // Standard Schema allows `{ key }` in place of a plain key.
    const key = typeof step === 'object' && step !== null && 'key' in step ? step.key : step
    if (typeof key === 'number') text += key === EVERY_ITEM ? '[*]' : `[${key}]`
    else text += text === '' ? formatKey(String(key)) : `.${formatKey(String(key))}`
  }
  return text === '' ? ROOT_PATH : text
}

export function formatKey(key: string): string {
  const plain = key.replace(/[\p{Cc}\p{Cf}\p{Cs}`]/gu, '?')
  return cutText(plain, MAX_KEY_LENGTH)
}

/** Equal for equal paths; not for reading. */
export function pathKey(path: readonly PropertyKey[]): string {
  return path.map(String).join('\u0000')
}

/** The value at a path; undefined where there is none. */
export function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<PropertyKey, unknown>)[key]
  }
  return value
}
