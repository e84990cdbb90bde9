import { attempt, isInstance, isObject, readProperty, readString } from '../safe-read.ts'
import {
  cutText,
  jsonBytes,
  MAX_ARGUMENTS_BYTES,
  MAX_DEPTH,
  MAX_ITEMS,
  MAX_KEY_LENGTH,
  MAX_STRING_LENGTH,
  type TruncationMarker,
} from './limits.ts'
import { isCardNumber, maskText } from './mask-text.ts'
import { isSecretKey } from './secret-keys.ts'

/** Stands where reading threw. */
export const UNREADABLE = '[unreadable]'

const MAX_MEASURED_NODES = 5_000

type Member = [key: string, read: () => unknown]

/** Punctuation, and a number at its longest usual. */
const NODE_BYTES = 8

/** One walk over one value. */
export class Redaction {
  readonly #mask: (secret: string) => string
  readonly #fingerprint: (text: string) => string
  readonly #ancestors = new Set<object>()
  #bytesLeft = MAX_ARGUMENTS_BYTES
  #masked = 0

  constructor(mask: (secret: string) => string, fingerprint: (text: string) => string) {
    this.#fingerprint = fingerprint
    this.#mask = (secret) => {
      this.#masked += 1
      return mask(secret)
    }
  }

  copy(value: unknown): unknown {
    return this.#value(value, 0, false)
  }

  /** `secret`: the value stands under a secret's key, so that each of its leaves is masked. */
  #value(value: unknown, depth: number, secret: boolean): unknown {
    this.#bytesLeft -= NODE_BYTES
    switch (typeof value) {
      case 'string':
        return this.#spend(this.#string(value, depth, secret))
      case 'number':
        return this.#number(value, secret)
      case 'bigint':
        return this.#spend(this.#string(String(value), depth, secret))
      case 'boolean':
        return value
      case 'undefined':
        return undefined
      case 'symbol':
        return this.#spend(this.#string(String(value), depth, secret))
      case 'function':
        return '[function]'
      default:
        return isObject(value) ? this.#object(value, depth, secret) : null
    }
  }

  #number(value: number, secret: boolean): unknown {
    if (secret) return this.#mask(String(value))
    if (!Number.isFinite(value)) return String(value)
    if (value >= 1e12 && isCardNumber(String(value))) return this.#mask(String(value))
    return value
  }

  #string(text: string, depth: number, secret: boolean): string | TruncationMarker {
    if (secret) return text === '' ? text : this.#mask(text)
    if (text.length > MAX_STRING_LENGTH) return this.#truncatedString(text)
    return this.#jsonText(text, depth) ?? maskText(text, this.#mask)
  }

  /** JSON inside a string is searched as JSON; without a secret in it the text stays as it is. */
  #jsonText(text: string, depth: number): string | undefined {
    const first = text.trimStart()[0]
    if ((first !== '{' && first !== '[' && first !== '"') || depth >= MAX_DEPTH) return undefined
    const parsed = attempt((): { value: unknown } => ({ value: JSON.parse(text) }))
    if (!parsed) return undefined
    const before = this.#masked
    const bytesLeft = this.#bytesLeft
    const copied = this.#value(parsed.value, depth + 1, false)
    this.#bytesLeft = bytesLeft
    return this.#masked === before ? text : JSON.stringify(copied)
  }

  #truncatedString(text: string): TruncationMarker {
    return { $trunc: true, bytes: Buffer.byteLength(text), hmac: this.#fingerprint(text) }
  }

  /** Takes the copy out of the budget; where that is used up, only its size is kept. */
  #spend(copied: string | TruncationMarker): string | TruncationMarker {
    if (typeof copied !== 'string') return copied
    const bytes = jsonBytes(copied)
    if (bytes > this.#bytesLeft) return { $trunc: true, bytes }
    this.#bytesLeft -= bytes
    return copied
  }

  #object(value: object, depth: number, secret: boolean): unknown {
    if (this.#ancestors.has(value)) return '[circular]'
    if (depth >= MAX_DEPTH || this.#bytesLeft <= 0) {
      return { $trunc: true, bytes: measure(value) } satisfies TruncationMarker
    }
    this.#ancestors.add(value)
    try {
      return this.#contents(value, depth, secret)
    } catch {
      return UNREADABLE
    } finally {
      this.#ancestors.delete(value)
    }
  }

  #contents(value: object, depth: number, secret: boolean): unknown {
    if (ArrayBuffer.isView(value) || isInstance(value, ArrayBuffer)) {
      return { $bytes: value.byteLength }
    }
    const stand = standInFor(value)
    if (stand) return this.#value(stand.value, depth + 1, secret)
    if (Array.isArray(value)) return this.#list(value, depth, secret)
    if (isInstance(value, Set)) return this.#list([...value], depth, secret)
    const members: Member[] = isInstance(value, Map)
      ? [...value].map(([key, entry]) => [keyText(key), () => entry])
      : Object.keys(value).map((key) => [key, () => Reflect.get(value, key)])
    return this.#members(members, depth, secret)
  }

  #list(items: readonly unknown[], depth: number, secret: boolean): unknown[] {
    const copied: unknown[] = []
    let index = 0
    for (; index < Math.min(items.length, MAX_ITEMS) && this.#bytesLeft > 0; index++) {
      copied.push(this.#read(() => items[index], depth, secret) ?? null)
    }
    if (index < items.length) copied.push(this.#remainder(items.length - index))
    return copied
  }

  #members(members: readonly Member[], depth: number, secret: boolean): object {
    const copied = {}
    let index = 0
    for (const [key, read] of members) {
      if (this.#bytesLeft <= 0) break
      const value = this.#read(read, depth, secret || isSecretKey(key))
      if (value !== undefined) setOwn(copied, this.#key(key), value)
      index += 1
    }
    if (index < members.length) setOwn(copied, '…', this.#remainder(members.length - index))
    return copied
  }

  #read(read: () => unknown, depth: number, secret: boolean): unknown {
    let value: unknown
    try {
      value = read()
    } catch {
      return UNREADABLE
    }
    return this.#value(value, depth + 1, secret)
  }

  #remainder(items: number): TruncationMarker {
    // At least a comma and one digit each: walking what is left out could take for ever.
    return { $trunc: true, bytes: items * 2, items }
  }

  /** Keys are data too: a model may send a secret as a name. */
  #key(key: string): string {
    const masked = key.length < 8 ? key : maskText(key.slice(0, MAX_KEY_LENGTH * 4), this.#mask)
    const shown = cutText(masked, MAX_KEY_LENGTH)
    this.#bytesLeft -= jsonBytes(shown) + 2
    return shown
  }
}

const STRING_LIKE = [RegExp, URLSearchParams, String]
const OPAQUE = [Promise, WeakMap, WeakSet, WeakRef]

/** What speaks for an object that is no plain data: what JSON would say, or more where it says {}. */
function standInFor(value: object): { value: unknown } | undefined {
  const toJSON = readProperty(value, 'toJSON')
  const prototype: unknown = Object.getPrototypeOf(value)
  const isPlain = prototype === Object.prototype || prototype === Array.prototype
  if (isPlain && toJSON === undefined) return undefined
  if (isInstance(value, Date)) return { value: attempt(() => value.toISOString()) ?? null }
  if (isInstance(value, Error)) {
    return {
      value: {
        name: readString(value, 'name'),
        code: readProperty(value, 'code'),
        message: readProperty(value, 'message'),
        stack: readString(value, 'stack'),
        cause: readProperty(value, 'cause'),
      },
    }
  }
  if (STRING_LIKE.some((type) => isInstance<object>(value, type))) return { value: String(value) }
  const opaque = OPAQUE.find((type) => isInstance<object>(value, type))
  if (opaque) return { value: `[${opaque.name}]` }
  if (isInstance(value, Number) || isInstance(value, Boolean)) return { value: value.valueOf() }
  if (typeof toJSON !== 'function') return undefined
  const json: unknown = toJSON.call(value)
  return json === value ? undefined : { value: json }
}

function keyText(key: unknown): string {
  if (typeof key === 'string') return key
  return typeof key === 'object' ? '[object]' : String(key)
}

/** Also for `__proto__`, which JSON.parse makes an own key of. */
function setOwn(target: object, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  } else {
    Reflect.set(target, key, value)
  }
}

/** Bytes as JSON, roughly; of something large only of its first few thousand values. */
function measure(value: unknown): number {
  const waiting: unknown[] = [value]
  let bytes = 0
  for (let visited = 0; waiting.length > 0 && visited < MAX_MEASURED_NODES; visited++) {
    const next = waiting.pop()
    if (typeof next === 'string') bytes += next.length + 3
    else if (typeof next !== 'object' || next === null) bytes += 5
    else {
      bytes += 2
      const keys = attempt(() => Object.keys(next)) ?? []
      for (const key of keys.slice(0, MAX_MEASURED_NODES)) {
        if (!Array.isArray(next)) bytes += key.length + 3
        waiting.push(readProperty(next, key))
      }
    }
  }
  return bytes
}
