import { isUtf8 } from 'node:buffer'
import type { RefusalReason } from './formats/parsed-line.ts'

export const SAMPLE_BYTES = 4096
const NUL_SAMPLE_BYTES = 16

/**
 * The beginning of a refused line as it may be kept: text goes through the redactor, UTF-16 is
 * turned into text first so that the redactor can see it.
 */
export function sampleOf(
  bytes: Buffer,
  reason: RefusalReason,
  redact: (text: string) => string,
): Buffer {
  const part = bytes.subarray(0, SAMPLE_BYTES)
  if (reason === 'nul_run') return Buffer.from(part.subarray(0, NUL_SAMPLE_BYTES))
  if (reason === 'encoding') return clipped(redact(utf16Text(part)), 'utf8')
  const whole = part.subarray(0, lastWholeCharacter(part))
  return isUtf8(whole)
    ? clipped(redact(whole.toString()), 'utf8')
    : clipped(redact(part.toString('latin1')), 'latin1')
}

function clipped(text: string, encoding: BufferEncoding): Buffer {
  return Buffer.from(text, encoding).subarray(0, SAMPLE_BYTES)
}

function utf16Text(bytes: Buffer): string {
  const even = Buffer.from(bytes.subarray(0, bytes.length & ~1))
  const bigEndian = (even[0] === 0xfe && even[1] === 0xff) || (even[0] === 0 && even[1] !== 0)
  return (bigEndian ? even.swap16() : even).toString('utf16le')
}

/** The end of bytes, or before a character that was cut there. */
function lastWholeCharacter(bytes: Buffer): number {
  let start = bytes.length - 1
  while (start > 0 && bytes.length - start < 4 && ((bytes[start] as number) & 0xc0) === 0x80) {
    start -= 1
  }
  const lead = bytes[start] ?? 0
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1
  return start >= 0 && start + length > bytes.length ? start : bytes.length
}
