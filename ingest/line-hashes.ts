const LF = 0x0a
const FNV_BASIS = 0x811c9dc5
const FNV_PRIME = 0x01000193

/**
 * One hash for each line in bytes, the last one without its break included. Each covers all bytes
 * from the beginning of the run, so that an equal hash says that everything before is equal too.
 */
export function lineHashes(bytes: Buffer): number[] {
  const hashes: number[] = []
  let hash = FNV_BASIS
  let position = 0
  while (position < bytes.length) {
    const found = bytes.indexOf(LF, position)
    const end = found < 0 ? bytes.length : found + 1
    for (; position < end; position += 1) {
      hash = Math.imul(hash ^ (bytes[position] as number), FNV_PRIME)
    }
    hashes.push(hash >>> 0)
  }
  return hashes
}

/** Of a run that may go on: only lines with their break. */
export function completeLineHashes(bytes: Buffer): number[] {
  return lineHashes(bytes.subarray(0, bytes.lastIndexOf(LF) + 1))
}
