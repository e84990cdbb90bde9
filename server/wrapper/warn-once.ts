import { tellOperator } from '../stderr.ts'

const MAX_REMEMBERED = 1_000
const told = new Set<string>()

/** Tells the operator once a process for each text. */
export function warnOnce(text: string): void {
  if (told.has(text) || told.size >= MAX_REMEMBERED) return
  told.add(text)
  tellOperator(text)
}

/** Runs something that only observes: its fault is told on stderr and never reaches the caller. */
export function observing<T>(what: string, observe: () => T): T | undefined {
  try {
    return observe()
  } catch (error) {
    warnOnce(`${what} failed, the call goes on without it: ${messageOf(error)}`)
    return undefined
  }
}

function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error)
  } catch {
    return 'unknown error'
  }
}
