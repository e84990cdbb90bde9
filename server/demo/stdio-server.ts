import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { createDemoServer, type DemoServerOptions } from './demo-server.ts'

/**
 * Serves stdin and stdout. Resolves when the client has closed stdin: the SDK's transport does not
 * notice that, and without it the process would outlive its client.
 */
export async function serveStdio(options: DemoServerOptions): Promise<void> {
  const server = createDemoServer(options)
  const ended = new Promise<void>((resolve) => {
    process.stdin.once('end', resolve)
    process.stdin.once('close', resolve)
  })
  await server.connect(new StdioServerTransport())
  await ended
  await server.close()
}
