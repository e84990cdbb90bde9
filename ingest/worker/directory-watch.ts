import { type FSWatcher, statfsSync, watch } from 'node:fs'

/**
 * Watches on directories, as a hint to look sooner and nothing more: they may miss changes, run out,
 * or never fire on a network file system.
 */
export type DirectoryWatch = {
  /** Watches these directories and no others. */
  cover(directories: readonly string[]): void
  /** All directories are watched, on file systems that report changes. */
  isReliable(): boolean
  close(): void
}

export type Watcher = Pick<FSWatcher, 'close' | 'on'>
export type StartWatch = (directory: string, onChange: () => void) => Watcher

const MAX_WATCHES = 64

/** statfs types on which changes by other machines, or under a mount, are not reported. */
const SILENT_FILE_SYSTEMS = new Set([
  0x6969, // NFS
  0xff534d42, // CIFS
  0xfe534d42, // SMB2
  0x01021997, // 9p
  0x65735546, // FUSE
  0x794c7630, // overlay
])

const startRealWatch: StartWatch = (directory, onChange) =>
  watch(directory, { persistent: false }, onChange)

export function createDirectoryWatch(
  onChange: () => void,
  startWatch: StartWatch = startRealWatch,
): DirectoryWatch {
  const watchers = new Map<string, Watcher>()
  let wanted = 0
  let failed = false

  function start(directory: string): void {
    try {
      const watcher = startWatch(directory, onChange)
      watchers.set(directory, watcher)
      // ENOSPC (no watches left) may come later than the call.
      watcher.on('error', () => stop(directory))
      if (isSilent(directory)) failed = true
    } catch {
      failed = true
    }
  }

  function stop(directory: string): void {
    const watcher = watchers.get(directory)
    watchers.delete(directory)
    failed = true
    watcher?.close()
  }

  return {
    cover(directories) {
      wanted = directories.length
      const next = new Set(directories.slice(0, MAX_WATCHES))
      for (const [directory, watcher] of watchers) {
        if (next.has(directory)) continue
        watchers.delete(directory)
        watcher.close()
      }
      // After a failure polling alone goes on: a watch that failed once is not worth its noise.
      if (failed) return
      for (const directory of next) if (!watchers.has(directory)) start(directory)
    },
    isReliable: () => !failed && wanted > 0 && watchers.size === wanted,
    close() {
      for (const watcher of watchers.values()) watcher.close()
      watchers.clear()
    },
  }
}

function isSilent(directory: string): boolean {
  try {
    return SILENT_FILE_SYSTEMS.has(statfsSync(directory).type)
  } catch {
    return true
  }
}
