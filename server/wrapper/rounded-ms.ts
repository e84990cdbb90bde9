/** Milliseconds to a thousandth: enough for any reader, and short in the log. */
export function roundedMs(ms: number): number {
  return Math.round(Math.max(0, ms) * 1_000) / 1_000
}
