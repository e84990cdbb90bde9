import type { Piece } from './line-reader.ts'
import { type Staged, type StageOptions, stageLines } from './stage-lines.ts'

/**
 * The end of a closed file that has no line break. A whole record is a row like any other, flagged;
 * anything else is refused as unterminated, and read again if the file grows after all.
 */
export function stageTail(bytes: Buffer, options: StageOptions): Staged {
  const piece: Piece = {
    kind: 'line',
    start: 0,
    next: bytes.length,
    textStart: 0,
    textEnd: bytes.length,
  }
  const isBlank = bytes.toString('latin1').trim() === ''
  const staged = stageLines(
    bytes,
    [isBlank ? { kind: 'blank', start: 0, next: bytes.length } : piece],
    bytes.length,
    options,
  )
  for (const line of staged.lines) {
    if (line.kind === 'record') line.unterminated = true
    if (line.kind === 'refused' && line === staged.lines.at(-1)) line.piece.reason = 'unterminated'
  }
  return staged
}
