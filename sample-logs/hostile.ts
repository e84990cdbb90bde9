export const DEFAULT_HUGE_LINE_BYTES = 1024 * 1024 + 1024
export async function writeHostileFile(_: { path: string; hugeLineBytes: number }) {
  return {}
}
