import { createHash } from 'node:crypto'

/** Tells sessions apart in the log without naming them: a session's id lets its holder in. */
export function sessionHash(sessionId: string): string {
  return createHash('sha256').update(`unsilent session ${sessionId}`).digest('hex').slice(0, 16)
}
