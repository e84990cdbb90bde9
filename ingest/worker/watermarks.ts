import { randomBytes } from 'node:crypto'
import { closeSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import {
  isLogFileName,
  WATERMARK_FILE,
  type Watermark,
} from '../../server/call-log/log-retention.ts'

/** So many bytes of a file are in the database. */
export type ReadMark = { path: string; bytes: number }

/**
 * Tells the wrappers that write logs what of them has been read, in a file beside the logs, so that
 * they do not remove for its age what was not.
 */
export type Watermarks = {
  /** Writes what has changed, where that is due. Never throws. */
  update(marks: () => ReadMark[]): void
  /** Writes what has changed. Never throws. */
  flush(marks: () => ReadMark[]): void
}

const WRITE_EVERY_MS = 5000

export function createWatermarks(): Watermarks {
  const written = new Map<string, string>()
  let writtenAt = Number.NEGATIVE_INFINITY

  function flush(marks: () => ReadMark[]): void {
    writtenAt = performance.now()
    const byDirectory = groupByDirectory(marks())
    for (const directory of written.keys()) {
      if (!byDirectory.has(directory)) byDirectory.set(directory, {})
    }
    for (const [directory, files] of byDirectory) {
      const text = `${JSON.stringify({ v: 1, files } satisfies Watermark)}\n`
      if (written.get(directory) === text) continue
      written.set(directory, text)
      replaceFile(join(directory, WATERMARK_FILE), text)
    }
  }

  return {
    flush,
    update(marks) {
      if (performance.now() - writtenAt >= WRITE_EVERY_MS) flush(marks)
    },
  }
}

/** Of the files that a wrapper has named: it removes no others. */
function groupByDirectory(marks: readonly ReadMark[]): Map<string, Watermark['files']> {
  const directories = new Map<string, Watermark['files']>()
  for (const { path, bytes } of marks) {
    if (!isLogFileName(basename(path))) continue
    const directory = dirname(path)
    const files = directories.get(directory) ?? {}
    files[basename(path)] = bytes
    directories.set(directory, files)
  }
  return directories
}

/** Whole or not at all. Logs may lie where nothing can be written: then nothing removes them either. */
function replaceFile(path: string, text: string): void {
  const aside = `${path}.${randomBytes(6).toString('hex')}`
  try {
    const file = openSync(aside, 'wx', 0o600)
    try {
      writeFileSync(file, text)
    } finally {
      closeSync(file)
    }
    renameSync(aside, path)
  } catch {
    removeQuietly(aside)
  }
}

function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // It is a hidden file that nobody reads.
    return
  }
}
