import { basename, dirname, join } from 'node:path'

export type Compression = 'none' | 'gzip' | 'zstd'

export type RotationName = {
  /** Directory and name that all generations of a log share. */
  family: string
  /** The name a program writes to; false for names that rotation gives. */
  primary: boolean
  compression: Compression
  /** Last extension of the family's name, with its dot: `.jsonl`. */
  extension: string
}

/** `.1`, `-20260131`, `-20260131-2`, `.2026-01-31`, `.2026-01-31.2`, `.old`, `~`. */
const SUFFIX = /(?:\.\d{1,9}|[-.]\d{4}-?\d{2}-?\d{2}(?:[-.T_]?[\d-]{1,12})?|\.(?:old|bak|prev)|~)$/

/** The same before an extension: `app.1.log`, `app-20260131.jsonl`, `app.2026-01-31.2.log`. */
const INFIX =
  /(?:\.\d{1,9}|[-.]\d{4}-?\d{2}-?\d{2}(?:[-.T_]?[\d-]{1,12})?)(?=\.(?:log|jsonl|ndjson|json|txt)$)/

const COMPRESSED: readonly [string, Compression][] = [
  ['.gz', 'gzip'],
  ['.zst', 'zstd'],
]

/** What a path's name says about its place in a rotation. Says nothing about content. */
export function rotationNameOf(path: string): RotationName {
  let name = basename(path)
  let compression: Compression = 'none'
  for (const [ending, kind] of COMPRESSED) {
    if (!name.endsWith(ending)) continue
    name = name.slice(0, -ending.length)
    compression = kind
  }
  let stem = name
  for (;;) {
    const shorter = stem.replace(SUFFIX, '')
    if (shorter === stem || shorter === '') break
    stem = shorter
  }
  const inner = stem.replace(INFIX, '')
  if (inner !== '' && !inner.startsWith('.')) stem = inner
  return {
    family: join(dirname(path), stem),
    primary: stem === name && compression === 'none',
    compression,
    extension: /\.[^.]*$/.exec(stem)?.[0] ?? '',
  }
}
