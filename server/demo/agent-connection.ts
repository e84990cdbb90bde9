import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import {
  StdioClientTransport,
  type StdioServerParameters,
} from '@modelcontextprotocol/sdk/client/stdio.js'
import type { AgentStep } from './agent-plays.ts'

/** A server that does not start must not be started in a tight loop. */
const PAUSE_AFTER_LOSS_MS = 500

export type AgentServer = {
  service: AgentStep['service']
  /** How to start it. */
  command: StdioServerParameters
}

/** `lost`: there was no answer, since the server ended or the agent gave up waiting. */
export type StepResult = 'answered' | 'failed' | 'lost'

export type AgentConnection = {
  /** Starts the server, or starts it again where it has ended. */
  call(step: AgentStep): Promise<StepResult>
  /** Ends the server, even one that is just starting. */
  close(): Promise<void>
}

type Session = { transport: StdioClientTransport; client: Promise<Client> }

/** One stdio server as an MCP client keeps it: started at need, and again after it died. */
export function createAgentConnection(server: AgentServer): AgentConnection {
  let session: Session | undefined
  let closed = false

  const open = (): Session => {
    const transport = new StdioClientTransport(server.command)
    const opened: Session = { transport, client: connect(transport) }
    const forget = (): void => {
      if (session === opened) session = undefined
    }
    opened.client.then((client) => {
      client.onclose = forget
    }, forget)
    return opened
  }

  return {
    async call({ tool, args, patienceMs }) {
      if (closed) return 'lost'
      session ??= open()
      const options = patienceMs === undefined ? {} : { timeout: patienceMs }
      try {
        const client = await session.client
        const result = await client.callTool({ name: tool, arguments: args }, undefined, options)
        return result.isError ? 'failed' : 'answered'
      } catch (error) {
        if (!(error instanceof Error)) throw error
        await sleep(PAUSE_AFTER_LOSS_MS, undefined, { ref: false })
        return 'lost'
      }
    },
    async close() {
      closed = true
      await session?.transport.close()
    },
  }
}

async function connect(transport: StdioClientTransport): Promise<Client> {
  const client = new Client({ name: 'demo-agent', version: '1.0.0' })
  await client.connect(transport)
  // As every client does; it also lets the SDK check structured results.
  await client.listTools()
  return client
}
