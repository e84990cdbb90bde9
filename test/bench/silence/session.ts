import type { ChildProcess } from 'node:child_process'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js'
import type { ServerConfig } from './columns.ts'
import { type Entry, stderrEntry } from './entries.ts'
import type { FaultCall } from './fault.ts'
import type { Outcome } from './judge.ts'

/** A client of SDK v1 and the real server process it talks to. */
export type Session = {
  /** Calls as a host does, and gives up after `patienceMs`. */
  call(tool: string, call: FaultCall, patienceMs: number): Promise<Outcome>
  stderr: Entry[]
  alive(): boolean
  close(): Promise<void>
}

/** The SDK closes stdin, and sends SIGTERM after 2 s and SIGKILL after 4; this host has less time. */
const LAST_WORD_MS = 2_300

/** `node` runs the server's script; `now` stamps what it writes to stderr. */
export async function openSession(
  config: ServerConfig,
  node: readonly string[],
  now: () => number = Date.now,
): Promise<Session> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ['--max-old-space-size=160', ...node, JSON.stringify(config)],
    env: environmentFor(config),
    stderr: 'pipe',
  })
  const stderr: Entry[] = []
  transport.stderr?.on('data', (chunk) => stderr.push(stderrEntry(String(chunk), now())))
  const client = new Client({ name: 'bench-client', version: '1' })
  let alive = true
  // A stray line is none of the host's business; it sees what becomes of its calls.
  client.onerror = () => undefined
  client.onclose = () => {
    alive = false
  }
  await client.connect(transport, { timeout: 60_000 })
  await client.listTools(undefined, { timeout: 60_000 })
  return {
    stderr,
    alive: () => alive,
    call: (tool, call, patienceMs) => callTool(client, transport, tool, call, patienceMs),
    async close() {
      const child = processOf(transport)
      const timer = setTimeout(() => child?.kill('SIGKILL'), LAST_WORD_MS)
      await client.close()
      clearTimeout(timer)
    },
  }
}

/** A home of its own: keys, state and logs of no user are touched. */
function environmentFor({ logs }: ServerConfig): Record<string, string> {
  const { PATH = '', TMPDIR, UNSILENT } = process.env
  return {
    PATH,
    HOME: logs,
    UNSILENT_HOME: logs,
    ...(TMPDIR ? { TMPDIR } : {}),
    ...(UNSILENT ? { UNSILENT } : {}),
  }
}

async function callTool(
  client: Client,
  transport: StdioClientTransport,
  tool: string,
  call: FaultCall,
  timeout: number,
): Promise<Outcome> {
  const name = call.tool ?? tool
  const args = 'args' in call ? call.args : {}
  const params = 'params' in call ? call.params : { name, arguments: args }
  try {
    if (call.before) {
      const first = client.callTool({ name: call.before.tool }, undefined, { timeout })
      if (call.before.answered) await first
      else first.catch(() => undefined)
    }
    const whole = params as { name: string }
    // callTool also checks the result against the tool's output schema, as hosts do.
    const answer =
      typeof whole?.name === 'string' && !('params' in call)
        ? client.callTool(whole, undefined, { timeout })
        : client.request({ method: 'tools/call', params: whole }, CallToolResultSchema, { timeout })
    if (call.leaves) setTimeout(() => leave(transport, call.leaves), 100)
    return { kind: 'result', result: (await answer) as Record<string, unknown> }
  } catch (error) {
    const { code, message } = error as { code?: number; message?: string }
    return { kind: 'error', code, message: message ?? String(error) }
  }
}

/** The SDK's transport keeps its child to itself. */
function processOf(transport: StdioClientTransport): ChildProcess | undefined {
  return (transport as unknown as { _process?: ChildProcess })._process
}

/** What a host does that goes away. */
function leave(transport: StdioClientTransport, how: FaultCall['leaves']): void {
  const child = processOf(transport)
  if (how === 'closes_stdin') child?.stdin?.end()
  else child?.stdout?.destroy()
}
