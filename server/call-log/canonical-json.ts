import { hash } from 'node:crypto'

/**
 * JSON with one spelling for equal values (RFC 8785): keys sorted by UTF-16 units, no white space,
 * ECMAScript numbers. For plain data only, such as redacted arguments; undefined becomes null.
 */
export function canonicalJson(value: unknown): string {
  if (isInOrder(value)) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  const record = value as Record<string, unknown>
  let members = ''
  for (const key of Object.keys(record).sort()) {
    if (record[key] === undefined) continue
    if (members !== '') members += ','
    members += `${JSON.stringify(key)}:${canonicalJson(record[key])}`
  }
  return `{${members}}`
}

/** First 16 hex digits of the SHA-256 of the canonical JSON. Equal arguments, equal hash. */
export function argumentsHash(redacted: unknown): string {
  return hash('sha256', canonicalJson(redacted)).slice(0, 16)
}

/** Its keys are sorted already, at every level: then JSON.stringify says it all, and faster. */
function isInOrder(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(isInOrder)
  let last: string | undefined
  for (const key of Object.keys(value)) {
    if (last !== undefined && last > key) return false
    if (!isInOrder((value as Record<string, unknown>)[key])) return false
    last = key
  }
  return true
}
