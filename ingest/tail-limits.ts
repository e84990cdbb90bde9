import { MAX_LINE_BYTES } from './line-reader.ts'

export type TailLimits = {
  maxLineBytes: number
  chunkBytes: number
  /** A batch ends at so many lines, live and while a backlog is read. */
  liveLines: number
  importLines: number
  batchBytes: number
  /** A poll returns after about so long, though there is more to read. */
  pollBudgetMs: number
  /** A rotated or deleted file that was quiet for so long is closed. */
  rotateWaitMs: number
  /** So is any other file. */
  idleCloseMs: number
}

export const LIMITS: TailLimits = {
  maxLineBytes: MAX_LINE_BYTES,
  chunkBytes: 256 * 1024,
  liveLines: 1000,
  importLines: 10_000,
  batchBytes: 8 * 1024 * 1024,
  pollBudgetMs: 200,
  rotateWaitMs: 60_000,
  idleCloseMs: 3_600_000,
}
