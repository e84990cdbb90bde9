import { hash } from 'node:crypto'

/**
 * JSON with one spelling for equal values (RFC 8785): keys sorted by UTF-16 units, no white space,
 * ECMAScript numbers. For plain data only, such as redacted arguments; undefined becomes null.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const record = value as Record<string, unknown>
    const members = Object.keys(record)
      .filter((key) => record[key] !== undefined)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonicalJson(record[key])}`)
    return `{${members.join(',')}}`
  }
  return JSON.stringify(value) ?? 'null'
}

/** First 16 hex digits of the SHA-256 of the canonical JSON. Equal arguments, equal hash. */
export function argumentsHash(redacted: unknown): string {
  return hash('sha256', canonicalJson(redacted)).slice(0, 16)
}
