/** One server of one variant: over stdio, or with its client in this process, timed on request. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { z } from 'zod'
import { sdkV1, wrapperOf } from '../silence/wrap.ts'
import { floorWrap } from './floor.ts'
import { ANSWER, CALL, timeCalls, variants, type WorkerConfig } from './variants.ts'

const config = JSON.parse(process.argv[2] ?? '{}') as WorkerConfig
const variant = variants[config.variant]
if (!variant) throw new Error(`There is no variant ${config.variant}.`)

const wrap = variant.floor
  ? floorWrap(variant.floor, config.logs)
  : await wrapperOf(variant, config)
const { mcp, stdio, memory } = await sdkV1(variant, config.peers)
const server = wrap(new mcp.McpServer({ name: 'overhead', version: '1' }))
const inputSchema = { query: z.string(), limit: z.number().int() }
server.registerTool('search', { inputSchema }, async () => ({
  content: [{ type: 'text' as const, text: ANSWER }],
}))

if (config.transport === 'stdio') await server.connect(new stdio.StdioServerTransport())
else await answerRounds()

async function answerRounds(): Promise<void> {
  const [clientSide, serverSide] = memory.InMemoryTransport.createLinkedPair()
  const client = new Client({ name: 'overhead-client', version: '1' })
  await Promise.all([server.connect(serverSide), client.connect(clientSide)])
  process.on('message', async (count: number) => {
    process.send?.(await timeCalls(() => client.callTool(CALL), count))
  })
  process.send?.(0)
}
