import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { connection, unsilence } from '../index.ts'
import { registerBillingTools } from './billing-tools.ts'
import { registerDocumentTools } from './document-tools.ts'
import { type DemoTools, explainNotFound } from './tool-support.ts'
import { openUpstreamClient } from './upstream-client.ts'

export const DEMO_SERVICES = ['all', 'billing', 'docs-search'] as const
export type DemoService = (typeof DEMO_SERVICES)[number]

/** The single services continue the sample history, whose servers end with these versions. */
const IDENTITIES: Record<DemoService, { name: string; version: string }> = {
  all: { name: 'unsilent-demo', version: '1.0.0' },
  billing: { name: 'billing', version: '2.4.0' },
  'docs-search': { name: 'docs-search', version: '1.9.0' },
}

const UPSTREAM_TIMEOUT_MS = 2_000

export type DemoServerOptions = {
  service?: DemoService | undefined
  upstreamUrl: string
  /** Directory of the call log; default: the state directory's. */
  logs?: string | undefined
  /** For each request to the upstream. Default 2 s. */
  upstreamTimeoutMs?: number | undefined
}

/**
 * A server with believable tools of two small services over a faulty upstream. Not connected yet:
 * over HTTP each session gets a server of its own.
 */
export function createDemoServer(options: DemoServerOptions): McpServer {
  const service = options.service ?? 'all'
  const server = new McpServer(IDENTITIES[service], {
    instructions: 'Invented data for trying out Unsilent. The upstream fails on purpose.',
  })
  const logs = options.logs === undefined ? {} : { logs: options.logs }
  unsilence(server, { ...logs, suspect: 'error' })

  const upstream = connection(() =>
    openUpstreamClient({
      baseUrl: options.upstreamUrl,
      timeoutMs: options.upstreamTimeoutMs ?? UPSTREAM_TIMEOUT_MS,
    }),
  )
  const tools: DemoTools = {
    ask: (work) => upstream.use(work).catch(explainNotFound),
  }
  if (service !== 'docs-search') registerBillingTools(server, tools)
  if (service !== 'billing') registerDocumentTools(server, tools)
  return server
}
