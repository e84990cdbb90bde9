import {
  type BigIntStats,
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs'

/** What a file is known by and how it stands, from one stat. */
export type FileFacts = {
  isFile: boolean
  isDirectory: boolean
  /** `device:inode`: which file it is, until it is deleted and the number is used again. */
  deviceInode: string
  device: string
  inode: string
  /** A hint only: 0 or the change time on some file systems. */
  birthNs: string
  sizeBytes: number
  modifiedNs: bigint
  changedNs: bigint
  /** 0: deleted, and only kept by our open file. */
  links: number
}

/**
 * All that ingest asks of the file system, so that a test can make any call of it fail, or change
 * the world between two calls. Everything is synchronous: a poll is one uninterrupted look.
 */
export type FilePort = {
  open(path: string): number
  close(file: number): void
  facts(file: number): FileFacts
  /** Follows symbolic links. */
  look(path: string): FileFacts
  /** Reads up to length bytes at position; fewer only at the end of the file. */
  read(file: number, buffer: Buffer, length: number, position: number): number
  list(directory: string): Dirent[]
  realPath(path: string): string
}

export const realFiles: FilePort = {
  // O_NONBLOCK: opening a FIFO that somebody put there must not hang.
  open: (path) => openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)),
  close: (file) => closeSync(file),
  facts: (file) => factsOf(fstatSync(file, { bigint: true })),
  look: (path) => factsOf(statSync(path, { bigint: true })),
  read(file, buffer, length, position) {
    let done = 0
    while (done < length) {
      const count = readSync(file, buffer, done, length - done, position + done)
      if (count === 0) break
      done += count
    }
    return done
  },
  list: (directory) => readdirSync(directory, { withFileTypes: true }),
  realPath: (path) => realpathSync(path),
}

function factsOf(stats: BigIntStats): FileFacts {
  return {
    isFile: stats.isFile(),
    isDirectory: stats.isDirectory(),
    deviceInode: `${stats.dev}:${stats.ino}`,
    device: String(stats.dev),
    inode: String(stats.ino),
    birthNs: String(stats.birthtimeNs),
    sizeBytes: Number(stats.size),
    modifiedNs: stats.mtimeNs,
    changedNs: stats.ctimeNs,
    links: Number(stats.nlink),
  }
}
