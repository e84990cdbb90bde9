/**
 * `<database>-health`: what stands in the ingester's way, for the dashboard and the doctor. Not in
 * the database, because that may be what is full or damaged. This file owns its format: one JSON
 * object, `{}` where all is well, padded with spaces to a fixed size and written in place, so that
 * a full disk has room for it.
 */
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs'
import type { StoreState } from './store-error.ts'

const BYTES = 4096
const MAX_MESSAGE_LENGTH = 1500

export type Trouble = {
  state: StoreState
  /** A sentence: what is wrong, and what to do. */
  message: string
  /** Epoch ms at which it began, and at which it was last so. */
  sinceMs: number
  atMs: number
  pid: number
  /** The ingester has given up; else it tries again and goes on by itself. */
  ended: boolean
}

export type HealthFile = {
  /** Never throws: there may be no way to write it. */
  write(trouble: Trouble | undefined): void
}

export function healthPath(databasePath: string): string {
  return `${databasePath}-health`
}

export function createHealthFile(databasePath: string): HealthFile {
  let written: string | undefined
  return {
    write(trouble) {
      const text = textOf(trouble)
      if (text === written) return
      written = writeText(healthPath(databasePath), text) ? text : undefined
    },
  }
}

function textOf(trouble: Trouble | undefined): string {
  if (!trouble) return '{}'
  return JSON.stringify({ ...trouble, message: trouble.message.slice(0, MAX_MESSAGE_LENGTH) })
}

function writeText(path: string, text: string): boolean {
  const bytes = Buffer.alloc(BYTES, ' ')
  bytes[BYTES - 1] = 0x0a
  if (bytes.write(text) >= BYTES) return false
  const { O_WRONLY, O_CREAT, O_NOFOLLOW } = constants
  try {
    const file = openSync(path, O_WRONLY | O_CREAT | (O_NOFOLLOW ?? 0), 0o600)
    try {
      return writeSync(file, bytes, 0, BYTES, 0) === BYTES
    } finally {
      closeSync(file)
    }
  } catch {
    return false
  }
}

/** Undefined where nothing is known to be in the way. */
export function readTrouble(databasePath: string): Trouble | undefined {
  try {
    const file = openSync(healthPath(databasePath), 'r')
    try {
      const bytes = Buffer.alloc(BYTES)
      const value: unknown = JSON.parse(
        bytes.toString('utf8', 0, readSync(file, bytes, 0, BYTES, 0)),
      )
      return isTrouble(value) ? value : undefined
    } finally {
      closeSync(file)
    }
  } catch {
    return undefined
  }
}

function isTrouble(value: unknown): value is Trouble {
  if (typeof value !== 'object' || value === null) return false
  const { state, message, sinceMs, atMs } = value as Partial<Trouble>
  return (
    typeof state === 'string' &&
    typeof message === 'string' &&
    typeof sinceMs === 'number' &&
    typeof atMs === 'number'
  )
}
