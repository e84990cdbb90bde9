import { readdirSync, type Stats, statfsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { statePath } from '../store/state-database.ts'
import { bytesText, type Finding, finding, ok, plural } from './finding.ts'

/** Arguments of tool calls stand in these files, so they are for their owner alone. */
const OTHERS_READ = 0o077
const OTHERS_WRITE = 0o022
const WORLD_WRITES = 0o002
const STICKY = 0o1000
const MAX_NAMED = 3

/** Modes of the directories and files of logs and database. */
export function checkPermissions(databasePath: string, roots: readonly string[]): Finding[] {
  if (process.platform === 'win32') return []
  const directories = [...new Set([...roots.map(directoryOf), dirname(resolve(databasePath))])]
  const files = [...databaseFiles(databasePath), ...directories.flatMap(logFiles)]
  const findings = [...directories.flatMap(checkDirectory), ...checkFiles(files)]
  if (findings.length > 0) return findings
  return [ok('permissions', 'Logs and database are for their owner alone.')]
}

function directoryOf(root: string): string {
  const path = resolve(root)
  return statOf(path)?.isFile() ? dirname(path) : path
}

function databaseFiles(databasePath: string): string[] {
  const suffixes = ['', '-wal', '-shm', '.lock', '-health']
  return [...suffixes.map((suffix) => databasePath + suffix), statePath(databasePath)]
}

function logFiles(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter((name) => /\.(jsonl|open)$/.test(name))
      .map((name) => join(directory, name))
  } catch {
    // Said by the check of the directory.
    return []
  }
}

function checkDirectory(path: string): Finding[] {
  const facts = statOf(path)
  if (!facts) {
    const advice = 'Start a server that is wrapped, or name the right directory.'
    return [finding('permissions', 'warning', `There is no directory ${path}.`, advice)]
  }
  if (!canBeListed(path)) {
    const advice = `Run this as its owner, or give yourself access: \`chmod u+rwx ${path}\`.`
    return [finding('permissions', 'error', `${path} cannot be read by this user.`, advice)]
  }
  const open = facts.mode & WORLD_WRITES && !(facts.mode & STICKY)
  if (open) {
    const advice = `Run \`chmod 700 ${path}\`.`
    return [finding('permissions', 'error', `Anybody may replace files in ${path}.`, advice)]
  }
  return []
}

function canBeListed(path: string): boolean {
  try {
    readdirSync(path)
    return true
  } catch {
    return false
  }
}

function checkFiles(paths: readonly string[]): Finding[] {
  const readable = paths.filter((path) => hasMode(path, OTHERS_READ))
  if (readable.length === 0) return []
  const writable = readable.filter((path) => hasMode(path, OTHERS_WRITE))
  const named = readable.slice(0, MAX_NAMED).join(', ')
  const more = readable.length > MAX_NAMED ? ` and ${readable.length - MAX_NAMED} more` : ''
  const what = writable.length > 0 ? 'read or written' : 'read'
  const found = `Other users may open what holds the arguments of calls: ${named}${more} can be ${what} by others.`
  const advice = `Run \`chmod 600\` on ${readable.length === 1 ? 'it' : 'them'}, and \`chmod 700\` on the directory.`
  // A directory that nobody else may enter protects what is in it.
  return readable.every((path) => isShut(dirname(path)))
    ? []
    : [finding('permissions', 'warning', found, advice)]
}

function hasMode(path: string, bits: number): boolean {
  return ((statOf(path)?.mode ?? 0) & bits) !== 0
}

function isShut(directory: string): boolean {
  return ((statOf(directory)?.mode ?? 0) & OTHERS_READ) === 0
}

function statOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false })
}

/** Of a file system. */
export type Space = { freeBytes: number; freeFiles: number | undefined; type: number }

const ERROR_BYTES = 100_000_000
const WARNING_BYTES = 1_000_000_000

/** statfs types on which a write-ahead log does not work: its shared memory is one machine's. */
const REMOTE: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x01021997, '9p'],
])

export function checkDisk(
  databasePath: string,
  spaceOf: (directory: string) => Space | undefined = realSpace,
): Finding[] {
  const directory = dirname(resolve(databasePath))
  const space = spaceOf(directory)
  if (!space) return []
  const left = `${bytesText(space.freeBytes)} are free in ${directory}.`
  const advice = 'Free some: a full disk stops ingesting until there is space again.'
  const findings = [
    space.freeBytes < ERROR_BYTES
      ? finding('disk', 'error', `Only ${left}`, advice)
      : space.freeBytes < WARNING_BYTES
        ? finding('disk', 'warning', `Only ${left}`, advice)
        : ok('disk', left),
  ]
  if (space.freeFiles !== undefined && space.freeFiles < 1000) {
    const found = `The file system of ${directory} has room for ${plural(space.freeFiles, 'more file')} only.`
    findings.push(finding('disk', 'error', found, 'Remove files that are not needed.'))
  }
  const remote = REMOTE.get(space.type)
  if (remote) {
    const found = `${directory} is on ${remote}, where two programs cannot share a database.`
    findings.push(finding('disk', 'error', found, 'Put the database on a local disk with --db.'))
  }
  return findings
}

function realSpace(directory: string): Space | undefined {
  try {
    const { bavail, bsize, ffree, files, type } = statfsSync(directory)
    return { freeBytes: bavail * bsize, freeFiles: files > 0 ? ffree : undefined, type }
  } catch {
    // Not there: another check says so.
    return undefined
  }
}

const WAL_WARNING_BYTES = 256 * 1024 * 1024

export function checkWal(databasePath: string): Finding[] {
  const bytes = statOf(`${databasePath}-wal`)?.size ?? 0
  if (bytes < WAL_WARNING_BYTES) return []
  return [
    finding(
      'wal',
      'warning',
      `The write-ahead log of the database has grown to ${bytesText(bytes)}: some program keeps a read open.`,
      'Close programs that have the database open, such as a sqlite3 shell in a transaction.',
    ),
  ]
}
