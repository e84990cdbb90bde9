const MAX_NAME_BYTES = 256
/** Names that are already clean, as nearly all are. */
const PLAIN = /^[ -~]{1,256}$/

/**
 * A name as it goes into a table that people search: at most 256 bytes, well-formed, without NUL (at
 * which SQLite's text functions stop). An empty one becomes `(empty)`.
 */
export function cleanName(name: string): string {
  if (name === '') return '(empty)'
  if (PLAIN.test(name)) return name
  // A cut may split a surrogate pair; it is mended below.
  let text = name.length > MAX_NAME_BYTES ? name.slice(0, MAX_NAME_BYTES) : name
  text = text.replace(/\0|\p{Surrogate}/gu, '\uFFFD')
  while (Buffer.byteLength(text) > MAX_NAME_BYTES) text = text.slice(0, -1)
  return text.replace(/\p{Surrogate}/gu, '')
}

/** The same for a version, which may be empty: not known. */
export function cleanVersion(version: string): string {
  return version === '' ? '' : cleanName(version)
}
