import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { stateDirectory } from './state-directory.ts'

const FILE_NAME = 'redaction.key'
const KEY_BYTES = 32

/**
 * The key of the markers that stand in place of secrets: with it equal secrets stay equal in the
 * log, over processes and weeks; without it a marker cannot be found by guessing. 0600, made once.
 * Where the state directory cannot be used, a key for this process alone.
 */
export function loadRedactionKey(directory = stateDirectory()): Buffer {
  const path = join(directory, FILE_NAME)
  try {
    return readKey(path) ?? createKey(directory, path)
  } catch {
    return randomBytes(KEY_BYTES)
  }
}

function readKey(path: string): Buffer | undefined {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    const { mode } = fstatSync(fd)
    const key = readFileSync(fd)
    if (key.length !== KEY_BYTES) throw new Error(`${path} is damaged`)
    if (mode & 0o077) chmodSync(path, 0o600)
    return key
  } finally {
    closeSync(fd)
  }
}

/** Written aside and linked into place, so that of two processes one wins and both read a whole key. */
function createKey(directory: string, path: string): Buffer {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const aside = `${path}.${randomBytes(6).toString('hex')}`
  const key = randomBytes(KEY_BYTES)
  writeFileSync(aside, key, { mode: 0o600, flag: 'wx' })
  try {
    linkSync(aside, path)
    return key
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    const theirs = readKey(path)
    if (!theirs) throw error
    return theirs
  } finally {
    unlinkSync(aside)
  }
}
