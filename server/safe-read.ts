/**
 * Reading values that strangers made. Any property of a thrown value or an argument may be a
 * getter that throws, and any object may be a Proxy whose every trap throws: these never do.
 */

export function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}

/** The property, or undefined where there is none or reading it throws. */
export function readProperty(value: unknown, key: PropertyKey): unknown {
  if (!isObject(value)) return undefined
  try {
    return Reflect.get(value, key)
  } catch {
    return undefined
  }
}

export function readString(value: unknown, key: PropertyKey): string | undefined {
  const property = readProperty(value, key)
  return typeof property === 'string' ? property : undefined
}

/** `value instanceof type`, false where the prototype cannot be asked. */
export function isInstance<T>(
  value: unknown,
  type: abstract new (...args: never[]) => T,
): value is T {
  try {
    return value instanceof type
  } catch {
    return false
  }
}

/** Calls it, and gives undefined where it throws. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
