import { setTimeout as sleep } from 'node:timers/promises'
import { CommandError } from './command-error.ts'

const PATIENCE_MS = 15_000
const PAUSE_MS = 100

/** Resolves once the page can be read, or `stop` has aborted. */
export async function pageAnswers(url: string, stop: AbortSignal): Promise<void> {
  const deadlineMs = performance.now() + PATIENCE_MS
  let last = 'no answer'
  while (!stop.aborted) {
    try {
      const response = await fetch(url, {
        signal: AbortSignal.any([stop, AbortSignal.timeout(PATIENCE_MS)]),
      })
      await response.arrayBuffer()
      if (response.ok) return
      last = `status ${response.status}`
    } catch (error) {
      last = error instanceof Error ? error.message : String(error)
    }
    if (performance.now() > deadlineMs) {
      throw new CommandError(`The dashboard at ${url} does not answer (${last}): try again.`)
    }
    await sleep(PAUSE_MS)
  }
}
