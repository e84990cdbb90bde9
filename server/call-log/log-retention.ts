import { readdir, readFile, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { OPEN_JOURNAL_EXTENSION } from './open-journal.ts'

export type RetentionLimits = {
  /** Default 14 days since the last write. */
  maxAgeMs?: number | undefined
  /** Of all log files in the directory. Default 2 GiB. */
  maxBytes?: number | undefined
}

export type Removed = {
  files: number
  bytes: number
  /** Files among them that no ingester had read to their end, though one works in the directory. */
  unread: string[]
}

/**
 * What the ingester keeps beside the logs it reads: how many bytes of each file are in its
 * database. Where it exists, age alone removes nothing that was not read.
 */
export const WATERMARK_FILE = '.ingested.json'
export type Watermark = { v: 1; files: Record<string, number> }

const DAY_MS = 24 * 3600 * 1000
const GIB = 1024 ** 3
/** Another process may be about to append to a file that was written to just now. */
const KEPT_WHILE_FRESH_MS = 3600 * 1000
/** Only files that were named by a writer of ours: see log-files.ts. */
const OUR_NAME = /^[\w-]{1,40}\.\d{8}T\d{6}Z\.\d+\.[0-9a-f]{8}\.(\d+\.jsonl|open)$/

/** A writer of ours would give a file such a name. */
export function isLogFileName(name: string): boolean {
  return OUR_NAME.test(name)
}

type LogFile = { name: string; bytes: number; writtenMs: number; isRead: boolean }

/**
 * Removes the oldest log files: those beyond the age, then as many as the size asks for. Works in
 * the background and gives up quietly on what it cannot read or remove.
 */
export async function removeOldLogs(
  directory: string,
  nowMs: number,
  { maxAgeMs = 14 * DAY_MS, maxBytes = 2 * GIB }: RetentionLimits = {},
): Promise<Removed> {
  const watermark = await readWatermark(directory)
  const files = await listFiles(directory, watermark)
  files.sort((a, b) => a.writtenMs - b.writtenMs)
  let totalBytes = files.reduce((sum, { bytes }) => sum + bytes, 0)
  const removed: Removed = { files: 0, bytes: 0, unread: [] }
  for (const file of files) {
    const ageMs = nowMs - file.writtenMs
    if (ageMs < KEPT_WHILE_FRESH_MS) break
    const isOver = totalBytes > maxBytes
    if (!isOver && (ageMs < maxAgeMs || !file.isRead)) continue
    if (!(await isRemoved(join(directory, file.name)))) continue
    totalBytes -= file.bytes
    removed.files += 1
    removed.bytes += file.bytes
    if (!file.isRead) removed.unread.push(file.name)
  }
  return removed
}

async function listFiles(directory: string, watermark: Watermark | undefined): Promise<LogFile[]> {
  const files: LogFile[] = []
  for (const name of await readdir(directory).catch(() => [])) {
    if (!isLogFileName(name)) continue
    const found = await stat(join(directory, name)).catch(() => undefined)
    if (!found?.isFile()) continue
    files.push({
      name,
      bytes: found.size,
      writtenMs: found.mtimeMs,
      isRead:
        !watermark ||
        name.endsWith(OPEN_JOURNAL_EXTENSION) ||
        (watermark.files[name] ?? 0) >= found.size,
    })
  }
  return files
}

async function isRemoved(path: string): Promise<boolean> {
  return unlink(path).then(
    () => true,
    () => false,
  )
}

async function readWatermark(directory: string): Promise<Watermark | undefined> {
  try {
    const parsed: unknown = JSON.parse(await readFile(join(directory, WATERMARK_FILE), 'utf8'))
    return isWatermark(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}

function isWatermark(value: unknown): value is Watermark {
  if (typeof value !== 'object' || value === null || !('v' in value) || !('files' in value)) {
    return false
  }
  return value.v === 1 && typeof value.files === 'object' && value.files !== null
}
