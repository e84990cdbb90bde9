import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { readCalls } from '../server/demo-log.ts'
import { eventually } from './processes.ts'
import { runCli, startCli } from './run-cli.ts'

describe('demo-server --http', () => {
  const home = mkdtempSync(join(tmpdir(), 'unsilent-http-'))
  const env = { UNSILENT_HOME: home }
  let child: ChildProcess
  let url: string

  before(async () => {
    child = startCli(['demo-server', '--http', '--port', '0'], { env })
    let stderr = ''
    child.stderr?.setEncoding('utf8').on('data', (chunk) => {
      stderr += chunk
    })
    url = await eventually('the address is printed', () => {
      assert.equal(child.exitCode, null, stderr)
      return /^MCP over Streamable HTTP: (\S+)\n/.exec(stderr)?.[1]
    })
  })
  after(() => {
    child.kill('SIGKILL')
    rmSync(home, { recursive: true, force: true })
  })

  test('serves a client, with an upstream of its own and logs in the state directory', async () => {
    const client = new Client({ name: 'test', version: '1.0.0' })
    const transport = new StreamableHTTPClientTransport(new URL(url))
    // The SDK's own transport class and interface disagree under exactOptionalPropertyTypes.
    await client.connect(transport as Parameters<Client['connect']>[0])
    const result = await client.callTool({
      name: 'get_invoice',
      arguments: { invoice_id: 'INV-2001' },
    })
    assert.equal(result.isError, undefined)
    await client.close()
    const [logged] = readCalls(join(home, 'logs'))
    assert.equal(logged?.tool, 'get_invoice')
    assert.equal(logged?.transport, 'http')
  })

  test('says what to do where its port is in use', () => {
    const { port } = new URL(url)
    const second = runCli(['demo-server', '--http', '--port', port], { env })
    assert.equal(second.status, 1)
    assert.match(
      second.stderr,
      new RegExp(`^unsilent: Port ${port} is in use: choose another with --port, .*\\n$`),
    )
  })

  test('ends when it is told to', async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    assert.equal(await ended, 0)
  })
})
