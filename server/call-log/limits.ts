/** Sizes beyond which a record keeps a marker in place of the data. Lengths are UTF-16 units. */
export const MAX_STRING_LENGTH = 32 * 1024
export const MAX_DEPTH = 8
export const MAX_ITEMS = 200
export const MAX_KEY_LENGTH = 128
/** Of the redacted arguments; the rest of a record is bounded field by field. */
export const MAX_ARGUMENTS_BYTES = 192 * 1024

/** What stands where something was left out. */
export type TruncationMarker = {
  $trunc: true
  /** Its size as JSON, or at least that. */
  bytes: number
  /** How many items or members of a list or object were left out. */
  items?: number
  /** Of a string: equal strings have equal ones. */
  hmac?: string
}

/** Bytes of the string as a JSON string in UTF-8, its quotes included. */
export function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text))
}

/** Not more than `maxLength`, and not half a surrogate pair at the end. */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const last = text.charCodeAt(maxLength - 2)
  const end = last >= 0xd800 && last <= 0xdbff ? maxLength - 2 : maxLength - 1
  return `${text.slice(0, end)}…`
}
