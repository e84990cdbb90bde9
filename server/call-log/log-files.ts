import { closeSync, constants, fstatSync, lstatSync, mkdirSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'

export type LogFilesOptions = {
  directory: string
  /** The server's name; what a file name cannot hold is replaced. */
  server: string
  /** Epoch ms at which the writer began. */
  startedAt: number
  pid: number
  /** The writer id. */
  writer: string
}

export type LogFiles = {
  /** Opens the writer's next file for appending, making the directory if need be. May throw. */
  openNext(): { fd: number; name: string }
  /** The name of all files of this writer, without number and extension; with the directory. */
  readonly stem: string
}

const APPEND_NEW =
  constants.O_WRONLY |
  constants.O_CREAT |
  constants.O_EXCL |
  constants.O_APPEND |
  // Not known on Windows.
  (constants.O_NOFOLLOW ?? 0)

/**
 * The files of one writer, each with a name of its own for ever:
 * `<server>.<start>.<pid>.<first 8 digits of the writer>.<number>.jsonl`, numbered from 1. A clock
 * that is set back cannot bring an old name up again.
 */
export function createLogFiles(options: LogFilesOptions): LogFiles {
  const stem = [
    fileNamePart(options.server),
    new Date(options.startedAt).toISOString().replace(/[-:]|\.\d+/g, ''),
    options.pid,
    options.writer.slice(0, 8),
  ].join('.')
  let number = 0

  return {
    stem: join(options.directory, stem),
    openNext() {
      mkdirSync(options.directory, { recursive: true, mode: 0o700 })
      refuseUnsafe(options.directory)
      const name = `${stem}.${number + 1}.jsonl`
      try {
        const fd = openSync(join(options.directory, name), APPEND_NEW, 0o600)
        number += 1
        return { fd, name }
      } catch (error) {
        // Somebody has put a file there; the next try takes the next name.
        if ((error as NodeJS.ErrnoException).code === 'EEXIST') number += 1
        throw error
      }
    },
  }
}

/** Without dots, so that the parts of a file name can be told apart. */
function fileNamePart(server: string): string {
  const part = server.replace(/[^A-Za-z0-9_-]+/g, '-').replace(/^-+|-+$/g, '')
  return part.slice(0, 40) || 'server'
}

/** Arguments of tool calls stand in these files: not where any user can swap them for others. */
function refuseUnsafe(directory: string): void {
  if (process.platform === 'win32' || !process.getuid) return
  const ownUid = process.getuid()
  const link = lstatSync(directory)
  if (link.isSymbolicLink() && link.uid !== ownUid && link.uid !== 0) {
    throw new Error(`${directory} is a symbolic link made by another user`)
  }
  const { mode } = statSync(directory)
  const sticky = (mode & 0o1000) !== 0
  if (mode & 0o002 && !sticky) {
    throw new Error(`every user can write to ${directory}; run: chmod 700 ${directory}`)
  }
}

/** True where the open file no longer has a name: what is appended to it goes nowhere. */
export function isRemoved(fd: number): boolean {
  return fstatSync(fd).nlink === 0
}

export function closeQuietly(fd: number): void {
  try {
    closeSync(fd)
  } catch {
    // Nothing can be done for a descriptor that will not close.
    return
  }
}
