import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { stateDirectory } from '../../server/call-log/state-directory.ts'
import { CommandError } from './command-error.ts'
import { UsageError } from './usage-error.ts'

/** Says that everything in the folder was made by the demo. */
const MARKER = 'made-by-unsilent-demo.txt'
const LOCK = 'demo.lock'
const LOCK_BEAT_MS = 5_000
/** A lock that was not touched for this long belongs to a demo that is gone. */
const LOCK_STALE_MS = 60_000

export type DemoFolder = {
  path: string
  historyLogs: string
  historyList: string
  liveLogs: string
  databasePath: string
  /** What the demo's processes have to say while it runs. */
  processLog: string
  /** Lets another demo have the folder. */
  release(): void
}

/**
 * In the state directory and not in the current one, so that a demo started anywhere finds its
 * history again and leaves nothing in a project.
 */
export function defaultDemoDirectory(): string {
  return join(stateDirectory(), 'demo')
}

/** Takes the folder for one demo, empty if `fresh`. Never touches a folder of somebody else. */
export function openDemoFolder(options: { directory: string; fresh: boolean }): DemoFolder {
  const path = claim(resolve(options.directory))
  const release = lock(path)
  try {
    if (options.fresh) empty(path)
    const logs = join(path, 'logs')
    const folder = { historyLogs: join(logs, 'history'), liveLogs: join(logs, 'live') }
    mkdirSync(folder.historyLogs, { recursive: true, mode: 0o700 })
    mkdirSync(folder.liveLogs, { recursive: true, mode: 0o700 })
    return {
      ...folder,
      path,
      historyList: join(path, 'history.json'),
      databasePath: join(path, 'unsilent.db'),
      processLog: join(path, 'processes.log'),
      release,
    }
  } catch (error) {
    release()
    throw error
  }
}

function claim(directory: string): string {
  const found = statSync(directory, { throwIfNoEntry: false })
  if (found && !found.isDirectory()) {
    throw new UsageError(`${directory} is not a directory: name another with --dir.`)
  }
  if (!found) mkdirSync(directory, { recursive: true, mode: 0o700 })
  const path = realpathSync(directory)
  const marker = join(path, MARKER)
  if (existsSync(marker)) return path
  if (readdirSync(path).length > 0) {
    throw new UsageError(
      `${path} has files in it that the demo did not make: name a new or an empty directory with --dir.`,
    )
  }
  writeFileSync(marker, 'Everything here is invented; `unsilent demo --fresh` empties it.\n')
  return path
}

function empty(path: string): void {
  for (const name of readdirSync(path)) {
    if (name !== MARKER && name !== LOCK) rmSync(join(path, name), { recursive: true, force: true })
  }
}

/** The lock is touched while the demo runs, since the number of a dead process may be given again. */
function lock(folder: string): () => void {
  const path = join(folder, LOCK)
  if (!tryLock(path)) {
    const pid = holderOf(path)
    if (pid !== undefined) {
      throw new CommandError(
        `A demo is running in ${folder} already (process ${pid}): stop it, or name another directory with --dir.`,
      )
    }
    rmSync(path, { force: true })
    if (!tryLock(path)) {
      throw new CommandError(`Another demo has just started in ${folder}: name another with --dir.`)
    }
  }
  const beat = setInterval(() => touch(path), LOCK_BEAT_MS)
  beat.unref()
  return () => {
    clearInterval(beat)
    rmSync(path, { force: true })
  }
}

function tryLock(path: string): boolean {
  try {
    writeFileSync(path, `${process.pid}\n`, { flag: 'wx' })
    return true
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false
    throw error
  }
}

/** The process that holds the lock; undefined where it is gone. */
function holderOf(path: string): number | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats || Date.now() - stats.mtimeMs > LOCK_STALE_MS) return undefined
  const pid = Number(readFileSync(path, 'utf8'))
  return pid !== process.pid && isAlive(pid) ? pid : undefined
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return isCode(error, 'EPERM')
  }
}

function touch(path: string): void {
  const now = new Date()
  try {
    utimesSync(path, now, now)
  } catch (error) {
    // Somebody removed the folder under the running demo: it goes on as long as it can.
    if (!isCode(error, 'ENOENT')) throw error
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
