/** The last row of a page. Rows with equal times are told apart by their id. */
export type Cursor = { startedMs: number; id: number }

/** Opaque to readers: they pass on what they were given. */
export function printCursor({ startedMs, id }: Cursor): string {
  return Buffer.from(`${startedMs}.${id}`).toString('base64url')
}

/** Undefined where the text is not a cursor of ours. */
export function parseCursor(text: string): Cursor | undefined {
  const match = /^(\d{1,15})\.(\d{1,15})$/.exec(Buffer.from(text, 'base64url').toString('latin1'))
  return match ? { startedMs: Number(match[1]), id: Number(match[2]) } : undefined
}
