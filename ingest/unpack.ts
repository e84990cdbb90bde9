import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  createReadStream,
  openSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import zlib from 'node:zlib'
import type { Compression } from './rotation-name.ts'

/** A file that claims to unpack to more is a bomb or a mistake. */
const MAX_RATIO = 200
const MAX_UNPACKED_BYTES = 4 * 1024 ** 3
/** Below this a high ratio is harmless. */
const FREE_BYTES = 16 * 1024 * 1024

export type Unpacked = {
  /** An open file without a name; whoever has it closes it. */
  file: number
  sizeBytes: number
  /** Why there may be more, as part of a sentence; undefined where all of it was unpacked. */
  fault: string | undefined
}

/** What a file is by its first bytes, whatever it is called. */
export function compressionOf(magic: Buffer): Compression {
  if (magic[0] === 0x1f && magic[1] === 0x8b) return 'gzip'
  if (magic.length >= 4 && magic.readUInt32LE() === 0xfd2fb528) return 'zstd'
  return 'none'
}

/**
 * Unpacks into a file of its own in `directory`, so that it can be read like any other, in bounded
 * memory. A damaged or unfinished archive gives what could be unpacked of it. Throws what the file
 * system throws.
 */
export async function unpack(
  path: string,
  compression: Exclude<Compression, 'none'>,
  directory: string,
): Promise<Unpacked> {
  const decoder = createDecoder(compression)
  const file = openUnnamed(directory)
  if (!decoder) {
    return { file, sizeBytes: 0, fault: 'this Node cannot unpack zstd; use 22.15 or later' }
  }
  const packedBytes = statSync(path).size
  const limit = Math.max(FREE_BYTES, Math.min(MAX_UNPACKED_BYTES, packedBytes * MAX_RATIO))
  let sizeBytes = 0
  try {
    const source = createReadStream(path)
    source.on('error', (error) => decoder.destroy(error))
    for await (const chunk of source.pipe(decoder) as AsyncIterable<Buffer>) {
      if (sizeBytes + chunk.length > limit) {
        source.destroy()
        return { file, sizeBytes, fault: `it unpacks to more than ${limit} bytes` }
      }
      writeSync(file, chunk, 0, chunk.length, sizeBytes)
      sizeBytes += chunk.length
    }
    return { file, sizeBytes, fault: undefined }
  } catch (error) {
    if (isDamage(error))
      return { file, sizeBytes, fault: `it is damaged or unfinished (${error.code})` }
    closeSync(file)
    throw error
  }
}

function createDecoder(compression: 'gzip' | 'zstd'): Duplex | undefined {
  if (compression === 'gzip') return zlib.createGunzip()
  // Only in Node 22.15 and later; not in the types of 20.
  const { createZstdDecompress } = zlib as { createZstdDecompress?: () => Duplex }
  return createZstdDecompress?.()
}

/** Its name is gone at once: a killed process leaves nothing behind. */
function openUnnamed(directory: string): number {
  const path = join(directory, `.unpacked-${randomBytes(8).toString('hex')}`)
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600)
  try {
    unlinkSync(path)
  } catch {
    // Windows keeps it until it is closed; O_TEMPORARY is not within reach.
    return file
  }
  return file
}

function isDamage(error: unknown): error is { code: string } {
  if (typeof error !== 'object' || error === null || !('code' in error)) return false
  return /^(Z_|ZSTD_error|ERR_.*ZSTD|Z_BUF_ERROR)/.test(String(error.code))
}
