/**
 * The parts of MCP that the wrapper touches, as structures: no SDK is imported, so that one wrapper
 * serves SDK v1, SDK v2 and whatever else looks the same.
 */
export type JsonRpcId = string | number

export type JsonRpcError = { code: number; message: string; data?: unknown }

export type JsonRpcMessage = {
  jsonrpc?: string
  id?: JsonRpcId
  method?: string
  params?: unknown
  result?: unknown
  error?: JsonRpcError
}

export type ToolResult = Record<string, unknown>

export type TextBlock = { type: 'text'; text: string }

/** What both SDKs ask of a transport. Only these three are looked at; the rest passes through. */
export type TransportLike = {
  onmessage?: unknown
  onclose?: unknown
  send(message: never, ...rest: never[]): Promise<unknown>
}

/** A tool handler of either SDK: `(args, extra)`, or `(extra)` for a tool without a schema. */
export type Handler = (...args: never[]) => unknown

/** JSON-RPC code of a URL elicitation: an error that the client acts on, never to be rewritten. */
export const URL_ELICITATION_REQUIRED = -32042

/** JSON-RPC code of a failure on the server's side. */
export const INTERNAL_ERROR = -32603

/** Request metadata of protocol revision 2026-07-28 and later. */
export const META_PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion'
export const META_CLIENT_INFO = 'io.modelcontextprotocol/clientInfo'

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isId(value: unknown): value is JsonRpcId {
  return typeof value === 'string' || typeof value === 'number'
}

/** The request's metadata, or an empty object. */
export function metaOf(params: unknown): Record<string, unknown> {
  return isRecord(params) && isRecord(params._meta) ? params._meta : {}
}
