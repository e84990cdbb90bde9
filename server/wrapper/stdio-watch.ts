import type { Transport } from '../call-log/record.ts'
import { readProperty } from '../safe-read.ts'
import type { JsonRpcMessage } from './mcp-shapes.ts'
import type { Settings } from './options.ts'
import { createRefusedLines } from './refused-lines.ts'
import { guardStdout, type StdoutGuard } from './stdout-guard.ts'

/** What only a transport over this process's own stdin and stdout needs. */
export type StdioWatch = {
  start(): void
  stop(): void
  whileSending<T>(send: () => T, lost?: () => void): T
  refusedCalls(): JsonRpcMessage[]
}

export function watchStdio(kind: Transport, transport: object, settings: Settings): StdioWatch {
  if (kind !== 'stdio') return idle
  const ownIn = isOwn(transport, '_stdin', process.stdin)
  const ownOut = isOwn(transport, '_stdout', process.stdout)
  const lines = createRefusedLines()
  const take = (chunk: unknown) => {
    if (chunk instanceof Uint8Array) lines.take(chunk)
  }
  let guard: StdoutGuard | undefined
  return {
    start() {
      if (ownIn) process.stdin.prependListener('data', take)
      if (ownOut && settings.guardStdout) guard = guardStdout()
    },
    stop() {
      if (ownIn) leaveStdin(take)
      guard?.remove()
      guard = undefined
    },
    whileSending: (send, lost) => (guard ? guard.whileSending(send, lost) : send()),
    refusedCalls: () => lines.calls(),
  }
}

/** The SDK pauses stdin when it closes, unless somebody else listens; that must not be us. */
function leaveStdin(take: (chunk: unknown) => void): void {
  process.stdin.off('data', take)
  if (process.stdin.listenerCount('data') === 0) process.stdin.pause()
}

/** A transport that keeps its stream under another name is taken to use the process's. */
function isOwn(transport: object, key: string, stream: unknown): boolean {
  const kept = readProperty(transport, key)
  return kept === undefined || kept === stream
}

const idle: StdioWatch = {
  start: () => undefined,
  stop: () => undefined,
  whileSending: (send) => send(),
  refusedCalls: () => [],
}
