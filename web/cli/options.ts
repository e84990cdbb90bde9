import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { InvalidArgumentError } from 'commander'
import { canonicalZone } from '../queries/time-zones.ts'
import { UsageError } from './usage-error.ts'

/** For `--port`: 0 means any free one. */
export function parsePort(text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
  throw new InvalidArgumentError('Write a number from 0 to 65535.')
}

export function parsePositive(text: string): number {
  const number = Number(text)
  if (/^\d{1,9}$/.test(text) && number > 0) return number
  throw new InvalidArgumentError('Write a whole number above 0.')
}

/** For `--tz`. */
export function parseZone(text: string): string {
  const zone = canonicalZone(text)
  if (zone !== undefined) return zone
  throw new InvalidArgumentError('Write a time zone such as Europe/Berlin or UTC.')
}

/** The absolute path of a directory that the user named; refused where it is none. */
export function existingDirectory(path: string): string {
  const absolute = resolve(path)
  const found = statSync(absolute, { throwIfNoEntry: false })
  if (!found) throw new UsageError(`There is no directory ${absolute}: name one that exists.`)
  if (!found.isDirectory()) {
    throw new UsageError(`${absolute} is not a directory: name the one that holds the logs.`)
  }
  return absolute
}
