import type { Dirent } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { OPEN_JOURNAL_EXTENSION } from '../server/call-log/open-journal.ts'
import type { FileFacts, FilePort } from './file-port.ts'
import { globBase, globPattern, isGlob } from './glob.ts'
import { type RotationName, rotationNameOf } from './rotation-name.ts'

const MAX_DEPTH = 8
const MAX_FILES = 50_000
const LOG_EXTENSIONS = new Set(['.jsonl', '.ndjson', '.log'])

export type Candidate = {
  path: string
  name: RotationName
  facts: FileFacts
}

export type Scan = {
  /** One a file, however many names it has. */
  candidates: Candidate[]
  /** Directories that were listed: what a watch is worth putting on. */
  directories: string[]
  /** Files that by their name hold the running calls of a writer. */
  journals: string[]
  /** Sentences about what could not be looked at. */
  problems: string[]
}

export type Root =
  | { kind: 'directory'; path: string }
  | { kind: 'file'; path: string }
  | { kind: 'glob'; path: string; pattern: RegExp; deep: boolean }

/** A root that does not exist or cannot be read. The message is a sentence. */
export class RootError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RootError'
  }
}

/** Turns what a user wrote into roots. Throws RootError where there is nothing to look at. */
export function resolveRoots(roots: readonly string[], files: FilePort): Root[] {
  if (roots.length === 0) {
    throw new RootError('No log directory was named; name a directory, a file or a glob to read.')
  }
  return roots.map((root) => resolveRoot(root, files))
}

function resolveRoot(written: string, files: FilePort): Root {
  const path = resolve(written)
  const facts = lookOrUndefined(path, files)
  if (facts?.isDirectory) return { kind: 'directory', path }
  if (facts) return { kind: 'file', path }
  if (!isGlob(written)) {
    throw new RootError(
      `There is no file or directory ${path}; name the directory that your servers log to.`,
    )
  }
  const base = globBase(path)
  if (!lookOrUndefined(base, files)?.isDirectory) {
    throw new RootError(`The pattern ${written} begins in ${base}, which is not a directory.`)
  }
  return {
    kind: 'glob',
    path: base,
    pattern: globPattern(path),
    deep: path.slice(base.length + 1).includes(sep),
  }
}

/** Looks at all roots. Never throws: what fails is a problem, and may be there next time. */
export function scanRoots(roots: readonly Root[], files: FilePort): Scan {
  const scan: Scan = { candidates: [], directories: [], journals: [], problems: [] }
  const found = new Map<string, Candidate>()
  const journals = new Set<string>()
  const realRoots = roots.map((root) => realOrSelf(rootDirectory(root), files))
  const add = (path: string, isLink: boolean) => addCandidate(path, isLink)

  for (const root of roots) {
    if (root.kind === 'file') addFile(root.path)
    else walk(root.path, root, 0)
  }
  scan.candidates = [...found.values()]
  scan.journals = [...journals]
  return scan

  /** A single file of a writer has the journal beside it. */
  function addFile(path: string): void {
    add(path, false)
    const stem = /^(.+)\.\d+\.jsonl$/.exec(path)?.[1]
    if (stem !== undefined) journals.add(stem + OPEN_JOURNAL_EXTENSION)
  }

  function walk(directory: string, root: Root, depth: number): void {
    let entries: Dirent[]
    try {
      entries = files.list(directory)
    } catch (error) {
      scan.problems.push(`The directory ${directory} cannot be read (${reasonOf(error)}).`)
      return
    }
    scan.directories.push(directory)
    for (const entry of entries) {
      const path = join(directory, entry.name)
      if (entry.isDirectory()) {
        const goesOn = root.kind === 'directory' || (root.kind === 'glob' && root.deep)
        const hidden = entry.name.startsWith('.') || entry.name === 'node_modules'
        if (goesOn && !hidden && depth < MAX_DEPTH) walk(path, root, depth + 1)
      } else if (path.endsWith(OPEN_JOURNAL_EXTENSION)) {
        if (entry.isFile()) journals.add(path)
      } else if (isWanted(path, root)) {
        if (entry.isFile()) add(path, false)
        else if (entry.isSymbolicLink()) add(path, true)
      }
    }
  }

  function addCandidate(path: string, isLink: boolean): void {
    if (found.size >= MAX_FILES) {
      const message = `More than ${MAX_FILES} files were found; the rest is not read. Name a smaller directory.`
      if (!scan.problems.includes(message)) scan.problems.push(message)
      return
    }
    try {
      if (isLink && !isInside(files.realPath(path), realRoots)) {
        scan.problems.push(
          `${path} is a link to a file outside the log directories; it is not read.`,
        )
        return
      }
      const facts = files.look(path)
      if (!facts.isFile) return
      const candidate = { path, name: rotationNameOf(path), facts }
      const known = found.get(facts.deviceInode)
      if (!known || isBetterName(candidate, isLink, known)) found.set(facts.deviceInode, candidate)
    } catch (error) {
      // Gone between the listing and the look is no problem.
      if (!isMissing(error)) scan.problems.push(`${path} cannot be looked at (${reasonOf(error)}).`)
      else if (isLink) scan.problems.push(`${path} is a link to a file that does not exist.`)
    }
  }
}

/** A file under several names (hard links, links) goes by the one its program writes to. */
function isBetterName(candidate: Candidate, isLink: boolean, known: Candidate): boolean {
  if (isLink) return false
  return candidate.name.primary && !known.name.primary
}

function isWanted(path: string, root: Root): boolean {
  const name = basename(path)
  if (root.kind === 'glob') return root.pattern.test(path)
  if (name.startsWith('.')) return false
  return LOG_EXTENSIONS.has(rotationNameOf(path).extension)
}

function rootDirectory(root: Root): string {
  return root.kind === 'file' ? dirname(root.path) : root.path
}

function isInside(path: string, directories: readonly string[]): boolean {
  return directories.some((directory) => {
    const way = relative(directory, path)
    return way !== '' && !way.startsWith('..') && !isAbsolute(way)
  })
}

function realOrSelf(path: string, files: FilePort): string {
  try {
    return files.realPath(path)
  } catch {
    return path
  }
}

function lookOrUndefined(path: string, files: FilePort): FileFacts | undefined {
  try {
    return files.look(path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw new RootError(`${path} cannot be looked at (${reasonOf(error)}).`, { cause: error })
  }
}

function isMissing(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'ENOENT' || code === 'ENOTDIR'
}

export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

export function reasonOf(error: unknown): string {
  return codeOf(error) ?? (error instanceof Error ? error.message : String(error))
}
