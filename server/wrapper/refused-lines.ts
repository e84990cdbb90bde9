import { isId, isRecord, type JsonRpcMessage } from './mcp-shapes.ts'

/** A line larger than this is not looked at again. */
const MAX_KEPT_BYTES = 1024 * 1024
const NEWLINE = 0x0a

/**
 * Tool calls that a stdio transport refuses before anybody sees them. SDK v1 parses each line
 * strictly; one with `"_meta": null` is reported to `onerror` without its id, and its client waits
 * for ever. The last bytes are kept by reference, and read again only when that happens.
 */
export type RefusedLines = {
  /** Takes bytes as they arrive, before the transport does. */
  take(chunk: Uint8Array): void
  /** The refused calls among the last bytes, made sound; each is given once. */
  calls(): JsonRpcMessage[]
}

export function createRefusedLines(): RefusedLines {
  let kept: Uint8Array[] = []
  let bytes = 0
  return {
    take(chunk) {
      const last = kept.at(-1)
      // Only an unfinished line can still be part of what comes now.
      if (last === undefined || last.at(-1) === NEWLINE || bytes > MAX_KEPT_BYTES) {
        kept = []
        bytes = 0
      }
      kept.push(chunk)
      bytes += chunk.length
    },
    calls() {
      const text = bytes > MAX_KEPT_BYTES ? '' : Buffer.concat(kept).toString('utf8')
      // What follows the last line end belongs to a line that is still on its way.
      const end = text.lastIndexOf('\n') + 1
      kept = end < text.length ? [Buffer.from(text.slice(end))] : []
      bytes = text.length - end
      return text.slice(0, end).split('\n').flatMap(refusedCall)
    },
  }
}

function refusedCall(line: string): JsonRpcMessage[] {
  if (!line.includes('"tools/call"')) return []
  let message: unknown
  try {
    message = JSON.parse(line)
  } catch {
    return []
  }
  if (!isRecord(message) || message.method !== 'tools/call' || !isId(message.id)) return []
  const sound = soundRequest(message)
  return sound === message ? [] : [sound]
}

/** The request without what keeps an SDK from seeing it as one; the same object if it is sound. */
export function soundRequest(message: JsonRpcMessage): JsonRpcMessage {
  const { params } = message
  if (params === undefined) return message
  if (!isRecord(params))
    return { jsonrpc: '2.0', id: message.id ?? 0, method: 'tools/call', params: {} }
  if (params._meta === undefined || isRecord(params._meta)) return message
  const { _meta, ...rest } = params
  return { ...message, params: rest }
}
