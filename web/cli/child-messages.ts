import type { IngestProgress } from '../../ingest/run-ingest.ts'
import { explainError } from './explain-error.ts'

/** What a child of ours tells its parent over the channel. */
export type ChildMessage =
  | { kind: 'ready' }
  | { kind: 'progress'; progress: IngestProgress }
  /** It is about to end because of this. */
  | { kind: 'failed'; message: string; exitCode: number }

export function tellParent(message: ChildMessage): void {
  // A parent that has just gone is noticed by the stop signal.
  if (process.connected) process.send?.(message, undefined, {}, () => undefined)
}

export function isChildMessage(value: unknown): value is ChildMessage {
  return typeof value === 'object' && value !== null && 'kind' in value
}

/** Runs the work of a child: a failure goes to the parent, which has the terminal. */
export async function runAsChild(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    const { message, exitCode } = explainError(error)
    tellParent({ kind: 'failed', message, exitCode })
    process.exitCode = exitCode
  }
  // The channel would keep the process.
  if (process.connected) process.disconnect()
}
