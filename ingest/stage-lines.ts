import { isAscii, isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { gluedRecordAt, parseLine } from './formats/parse-line.ts'
import type { ParseContext, ParsedLine, RefusalReason, Stamp } from './formats/parsed-line.ts'
import type { Piece } from './line-reader.ts'
import { sampleOf } from './sample.ts'
import type { StagedLine } from './store/staged-line.ts'

/** Of a longer piece only the first part is hashed. */
export const HASHED_BYTES = 1024 * 1024

export type StageOptions = {
  /** Where the chunk begins in the stream. */
  offset: number
  /** Lines before it. */
  lineNumber: number
  context: ParseContext
}

export type Staged = {
  lines: StagedLine[]
  lineNumber: number
  /** At least one line has no stamp of its own. */
  hasUnstamped: boolean
}

/** Decides the fate of each piece of a chunk. Touches neither a file nor the database. */
export function stageLines(
  chunk: Buffer,
  pieces: readonly Piece[],
  used: number,
  options: StageOptions,
): Staged {
  const stager = new LineStager(chunk, used, options)
  for (const piece of pieces) stager.add(piece)
  return stager
}

class LineStager implements Staged {
  readonly lines: StagedLine[] = []
  lineNumber: number
  hasUnstamped = false
  readonly #chunk: Buffer
  readonly #options: StageOptions
  readonly #ascii: boolean
  readonly #wellFormed: boolean

  constructor(chunk: Buffer, used: number, options: StageOptions) {
    this.lineNumber = options.lineNumber
    this.#chunk = chunk
    this.#options = options
    const region = chunk.subarray(0, used)
    this.#ascii = isAscii(region)
    this.#wellFormed = this.#ascii || isUtf8(region)
  }

  add(piece: Piece): void {
    const { start, next } = piece
    switch (piece.kind) {
      case 'blank':
        this.lineNumber += 1
        this.#passOver(next - start, 0)
        break
      case 'nul_run':
        this.#refuse(start, next, 'nul_run', 1)
        break
      case 'too_long':
        if (piece.begins) this.lineNumber += 1
        this.#refuse(start, next, 'too_long', piece.begins ? 1 : 0)
        break
      case 'line':
        this.lineNumber += 1
        this.#line(piece)
    }
  }

  #line({ start, next, textStart, textEnd }: Extract<Piece, { kind: 'line' }>): void {
    const bytes = this.#chunk.subarray(textStart, textEnd)
    const fault = this.#wellFormed ? undefined : encodingFault(bytes)
    if (fault) {
      this.#refuse(start, next, fault, 1)
      return
    }
    const text = this.#chunk.toString(this.#ascii ? 'latin1' : 'utf8', textStart, textEnd)
    const parsed = parseLine(text, this.#options.context)
    const isBroken =
      parsed.fate === 'refused' && (parsed.reason === 'json' || parsed.reason === 'not_json')
    if (!isBroken) {
      this.#parsed(parsed, start, next)
      return
    }
    const glued = gluedRecordAt(text)
    if (hasScatteredNuls(bytes)) this.#refuse(start, next, 'encoding', 1)
    else if (glued !== undefined) this.#glued(text, glued, start, textStart, next)
    else this.#parsed(parsed, start, next)
  }

  /** Two records on one line: the first may be whole itself. */
  #glued(text: string, at: number, start: number, textStart: number, next: number): void {
    const middle = textStart + Buffer.byteLength(text.slice(0, at))
    const before = parseLine(text.slice(0, at), this.#options.context)
    if (before.fate === 'refused') this.#refuse(start, middle, 'torn', 1)
    else this.#parsed(before, start, middle)
    this.#parsed(parseLine(text.slice(at), this.#options.context), middle, next)
  }

  #parsed(parsed: ParsedLine, start: number, next: number): void {
    switch (parsed.fate) {
      case 'call':
      case 'event':
        if (!parsed.stamp) this.hasUnstamped = true
        this.lines.push({
          kind: 'record',
          offset: this.#options.offset + start,
          bytes: next - start,
          lineNumber: this.lineNumber,
          parsed,
        })
        break
      case 'foreign':
        this.hasUnstamped = true
        this.#passOver(next - start, 1)
        break
      case 'refused':
        this.#refuse(start, next, parsed.reason, 1, parsed.stamp)
    }
  }

  #passOver(bytes: number, foreignLines: number): void {
    const last = this.lines.at(-1)
    if (last?.kind === 'passed_over') {
      last.bytes += bytes
      last.foreignLines += foreignLines
    } else this.lines.push({ kind: 'passed_over', bytes, foreignLines })
  }

  #refuse(start: number, next: number, reason: RefusalReason, lines: number, stamp?: Stamp): void {
    if (!stamp) this.hasUnstamped = true
    const offset = this.#options.offset + start
    const bytes = next - start
    const last = this.lines.at(-1)
    if (
      last?.kind === 'refused' &&
      !stamp &&
      last.piece.reason === reason &&
      last.piece.offset + last.piece.bytes === offset
    ) {
      last.piece.bytes += bytes
      // A hole that goes on is one hole.
      last.piece.lines += reason === 'nul_run' ? 0 : lines
      return
    }
    const hashed = this.#chunk.subarray(start, Math.min(next, start + HASHED_BYTES))
    this.lines.push({
      kind: 'refused',
      stamp,
      piece: {
        offset,
        lineNumber: this.lineNumber,
        bytes,
        lines,
        reason,
        sha256: createHash('sha256').update(hashed).digest('hex'),
        sample: sampleOf(
          this.#chunk.subarray(start, next),
          reason,
          this.#options.context.redactor.text,
        ),
      },
    })
  }
}

function encodingFault(bytes: Buffer): 'encoding' | 'utf8' | undefined {
  const mark = bytes.length >= 2 ? bytes.readUInt16BE(0) : 0
  if (mark === 0xfffe || mark === 0xfeff || hasScatteredNuls(bytes)) return 'encoding'
  return isUtf8(bytes) ? undefined : 'utf8'
}

/** UTF-16 of Latin text has a zero byte for each character. */
function hasScatteredNuls(bytes: Buffer): boolean {
  const end = Math.min(bytes.length, 256)
  let nuls = 0
  for (let index = 0; index < end; index += 1) if (bytes[index] === 0) nuls += 1
  return nuls > 0 && nuls * 4 >= end
}
