import type { NameAndVersion, Transport } from '../call-log/record.ts'
import { readProperty, readString } from '../safe-read.ts'
import {
  isRecord,
  type JsonRpcMessage,
  META_CLIENT_INFO,
  META_PROTOCOL_VERSION,
  metaOf,
} from './mcp-shapes.ts'
import { nameAndVersion } from './wrapper-context.ts'

/** Who is at the other end of one transport, learnt from the messages that pass. */
export type Peer = {
  client: NameAndVersion | undefined
  protocol: string | undefined
  learnInitialize(params: unknown): void
}

export function createPeer(): Peer {
  return {
    client: undefined,
    protocol: undefined,
    learnInitialize(params) {
      if (!isRecord(params)) return
      this.client = nameAndVersion(params.clientInfo)
      if (typeof params.protocolVersion === 'string') this.protocol = params.protocolVersion
    },
  }
}

/** What one request tells of its sender; newer revisions say it with every request. */
export function senderOf(message: JsonRpcMessage, extra: unknown, peer: Peer) {
  const meta = metaOf(message.params)
  const version = meta[META_PROTOCOL_VERSION]
  const modern = typeof version === 'string'
  return {
    modern,
    client: nameAndVersion(meta[META_CLIENT_INFO]) ?? peer.client,
    protocol: modern ? version : (peer.protocol ?? protocolHeader(extra)),
    trace: traceparent(meta.traceparent),
  }
}

/** Stateless HTTP servers never see `initialize`; the header still names the revision. */
function protocolHeader(extra: unknown): string | undefined {
  const headers = readProperty(readProperty(extra, 'requestInfo'), 'headers')
  return readString(headers, 'mcp-protocol-version')
}

function traceparent(value: unknown): string | undefined {
  const valid =
    typeof value === 'string' && /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(value)
  return valid ? value : undefined
}

export function transportKind(transport: object): Transport {
  const name = transport.constructor?.name ?? ''
  if (/stdio/i.test(name) || '_stdin' in transport) return 'stdio'
  if (/http|sse/i.test(name) || 'handleRequest' in transport) return 'http'
  if (/memory/i.test(name)) return 'memory'
  return 'other'
}
