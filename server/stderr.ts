import { writeSync } from 'node:fs'

/**
 * One line for the operator. Straight to the descriptor: process.stderr would emit `error` when
 * its reader has gone, and stdout belongs to the protocol. A line that cannot be written is let go;
 * there is nobody left to tell.
 */
export function tellOperator(message: string): boolean {
  try {
    writeSync(2, `unsilent: ${message.replace(/[\r\n]+/g, ' ')}\n`)
    return true
  } catch {
    return false
  }
}
