/**
 * Wraps a server of somebody else, in the way its author would: preloaded into its process, it calls
 * `unsilence` on each McpServer of the SDK that the server brings. Environment: EXAMPLE_ENTRY, the
 * server's script; EXAMPLE_LOGS, the log directory; EXAMPLE_WRAP, `before` or `after` the tools.
 */
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { unsilence } from '../../server/index.ts'

const { EXAMPLE_ENTRY = '', EXAMPLE_LOGS = '', EXAMPLE_WRAP } = process.env
const commonJs = createRequire(EXAMPLE_ENTRY).resolve('@modelcontextprotocol/sdk/server/mcp.js')
const url = pathToFileURL(commonJs.replace(/([\\/]dist[\\/])cjs([\\/])/, '$1esm$2')).href
const { McpServer } = (await import(url)) as { McpServer: { prototype: Record<string, Method> } }
type Method = (this: { connect(transport: never): Promise<unknown> }, ...args: unknown[]) => unknown

const name = EXAMPLE_WRAP === 'before' ? 'registerTool' : 'connect'
const original = McpServer.prototype[name] as Method
const wrapped = new WeakSet<object>()
McpServer.prototype[name] = function (...args) {
  if (wrapped.has(this)) return original.apply(this, args)
  wrapped.add(this)
  const own = unsilence(this, { logs: EXAMPLE_LOGS }) as unknown as Record<string, Method>
  // By the name: the server may have a method of its own now.
  return (own[name] as Method).apply(this, args)
}
