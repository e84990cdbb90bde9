import { callContext } from './open-call.ts'
import { warnOnce } from './warn-once.ts'

type Write = typeof process.stdout.write

/**
 * Keeps stdout to the protocol: what a tool or a library writes there goes to stderr and is
 * counted. One text without a line end, glued to an answer, would lose that answer.
 */
export type StdoutGuard = {
  /** Marks what is written during `send` as the protocol's own. `lost`: the pipe did not take it. */
  whileSending<T>(send: () => T, lost?: () => void): T
  remove(): void
}

let users = 0
let sending = 0
/** Messages that were handed to `send` and not written by the time it returned. */
let unwritten = 0
let written = false
let lostNow: (() => void) | undefined
let original: Write | undefined

/** One override a process, for as long as a guarded transport is open. */
export function guardStdout(): StdoutGuard {
  let removed = false
  users += 1
  if (users === 1) install()
  return {
    whileSending(send, lost) {
      sending += 1
      written = false
      lostNow = lost
      try {
        return send()
      } finally {
        sending -= 1
        lostNow = undefined
        if (!written) unwritten += 1
      }
    },
    remove() {
      if (removed) return
      removed = true
      users -= 1
      if (users === 0) uninstall()
    },
  }
}

function install(): void {
  const { stdout } = process
  original = stdout.write
  const write = original.bind(stdout) as (...args: unknown[]) => boolean
  stdout.write = ((...args: unknown[]): boolean => {
    if (sending > 0) {
      written = true
      const lost = lostNow
      if (!lost || args.length > 1) return write(...args)
      return write(args[0], (error: unknown) => {
        if (error) lost()
      })
    }
    if (isProtocolLine(args[0]) && mayBeOurs()) return write(...args)
    countStray()
    return (process.stderr.write.bind(process.stderr) as (...args: unknown[]) => boolean)(...args)
  }) as Write
}

function uninstall(): void {
  if (original) process.stdout.write = original
  original = undefined
}

/**
 * A transport may write after `send` has returned, and an SDK may write past the tap where no call
 * runs. What a tool prints is neither, however much it looks like a message: one that talks to
 * servers of its own prints answers with ids that are in use here too.
 */
function mayBeOurs(): boolean {
  const isAwaited = unwritten > 0
  if (isAwaited) unwritten -= 1
  return isAwaited || callContext.getStore() === undefined
}

function isProtocolLine(chunk: unknown): boolean {
  const text = chunk instanceof Uint8Array ? Buffer.from(chunk).toString('utf8') : chunk
  if (typeof text !== 'string' || !text.startsWith('{') || !text.endsWith('}\n')) return false
  return /"jsonrpc"\s*:\s*"2\.0"/.test(text)
}

function countStray(): void {
  const call = callContext.getStore()
  if (call) call.strayStdout = (call.strayStdout ?? 0) + 1
  const by = call ? `the tool ${call.tool}` : 'this server'
  warnOnce(`${by} writes to stdout, which belongs to the protocol; it goes to stderr instead.`)
}
