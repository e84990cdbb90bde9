/** Sizes beyond which a record keeps a marker in place of the data. */
export const MAX_STRING_LENGTH = 32 * 1024
export const MAX_DEPTH = 8
export const MAX_ITEMS = 200
export const MAX_KEY_LENGTH = 128
/** Of the redacted arguments; the rest of a record is bounded field by field. */
export const MAX_ARGUMENTS_BYTES = 192 * 1024
export const MAX_RECORD_BYTES = 256 * 1024

/** What stands where something was left out. `bytes`: its size as JSON, or at least that. */
export type TruncationMarker = { $trunc: true; bytes: number; items?: number; hmac?: string }

const ESCAPED = /[\u0000-\u001f"\\\ud800-\udfff]/

/** Bytes of the string as JSON text in UTF-8, without its quotes. */
export function jsonBytes(text: string): number {
  return ESCAPED.test(text) ? Buffer.byteLength(JSON.stringify(text)) - 2 : Buffer.byteLength(text)
}
