import type { UnsilenceOptions } from '../../../server/index.ts'

/** What a tool call goes through, beside the tool itself. */
export type ColumnId =
  | 'bare'
  | 'bare-v2'
  | 'sentry'
  | 'agentcat'
  | 'mcp-trace'
  | 'unsilent'
  | 'unsilent-strict'
  | 'unsilent-v2'
  | 'unsilent-v2-strict'

export type Column = {
  id: ColumnId
  label: string
  sdk: 'v1' | 'v2'
  /** Whose package is needed. */
  needsPeers: boolean
  options?: UnsilenceOptions
}

const strict: UnsilenceOptions = { suspect: 'error' }

export const columns: readonly Column[] = [
  { id: 'bare', label: 'SDK v1', sdk: 'v1', needsPeers: false },
  { id: 'bare-v2', label: 'SDK v2', sdk: 'v2', needsPeers: false },
  { id: 'sentry', label: 'Sentry', sdk: 'v1', needsPeers: true },
  { id: 'agentcat', label: 'AgentCat', sdk: 'v1', needsPeers: true },
  { id: 'mcp-trace', label: 'mcp-trace', sdk: 'v1', needsPeers: true },
  { id: 'unsilent', label: 'Unsilent', sdk: 'v1', needsPeers: false, options: {} },
  { id: 'unsilent-strict', label: 'U suspect', sdk: 'v1', needsPeers: false, options: strict },
  { id: 'unsilent-v2', label: 'U v2', sdk: 'v2', needsPeers: false, options: {} },
  { id: 'unsilent-v2-strict', label: 'U v2 susp.', sdk: 'v2', needsPeers: false, options: strict },
]

/** What the short names of our own columns mean. */
export const LEGEND =
  "Unsilent: default options, on SDK v1; U v2: the same on SDK v2; suspect: with { suspect: 'error' }"

/** What a server process is told, as JSON in its one argument. */
export type ServerConfig = {
  column: ColumnId
  level: 'high' | 'low'
  /** Where the column's own records go, if it writes files. */
  logs: string
  /** Where it posts them, if it sends them. */
  collector: string
  /** The folder the peers are installed in. */
  peers: string
  /** A file that holds the simulated time in epoch ms. */
  clock?: string
}
