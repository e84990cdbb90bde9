import { type Root, RootError, resolveRoots } from '../discovery.ts'
import type { FilePort } from '../file-port.ts'
import { isObject } from '../formats/field-values.ts'
import type { BatchResult } from '../store/batch-result.ts'
import type { RequestHandler } from './request-desk.ts'
import { RequestRefusal } from './request-refusal.ts'

/** The run that takes the work on. */
export type Importer = {
  files: FilePort
  /** They are followed from the next poll on, to the run's end. */
  addRoots(roots: readonly Root[]): void
  /** After the last poll nothing was left to read. */
  isCaughtUp(): boolean
  /** Since the run began. */
  total(): Readonly<BatchResult>
}

/**
 * Reads files that somebody wants imported while this run goes on: only one process may write. What
 * was read is counted by what the whole run has read meanwhile.
 */
export function importRequest(importer: Importer): RequestHandler {
  return function* ({ request }) {
    const roots = rootsOf(request.parameters, importer.files)
    const { rows, duplicates, lines } = importer.total()
    importer.addRoots(roots)
    do yield
    while (!importer.isCaughtUp())
    const now = importer.total()
    return {
      lines: now.lines - lines,
      rows: now.rows - rows,
      duplicates: now.duplicates - duplicates,
    }
  }
}

function rootsOf(parameters: unknown, files: FilePort): Root[] {
  const roots = isObject(parameters) ? parameters.roots : undefined
  if (!Array.isArray(roots) || !roots.every((root) => typeof root === 'string')) {
    throw new RequestRefusal('Say what to import: directories, files or globs.')
  }
  try {
    return resolveRoots(roots, files)
  } catch (error) {
    if (!(error instanceof RootError)) throw error
    throw new RequestRefusal(error.message)
  }
}
