import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { until } from './wrapper-harness.ts'

export type StdioChild = {
  process: ChildProcess
  /** Every line the server wrote to stdout, parsed; a line that is no JSON is kept as text. */
  lines: unknown[]
  stderr(): string
  send(message: object): void
  /** Sends a tools/call under that id. */
  call(id: number, name: string, args?: object): void
  answer(id: number): Promise<{ result?: Record<string, unknown>; error?: unknown }>
  exitCode(): Promise<number | null>
}

const fixtures = join(import.meta.dirname, 'fixtures')

/** A server as a real child process, spoken to in plain JSON-RPC. */
export async function startChild(
  t: TestContext,
  fixture: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<StdioChild> {
  const child = spawn(process.execPath, ['--import', 'tsx', join(fixtures, fixture), ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  t.after(() => child.kill('SIGKILL'))
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  const lines: unknown[] = []
  let rest = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\n')
    rest = parts.pop() ?? ''
    lines.push(...parts.map(parsed))
  })
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk
  })
  child.stdin.on('error', () => undefined)
  const self: StdioChild = {
    process: child,
    lines,
    stderr: () => stderr,
    send: (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    call(id, name, args) {
      const params = args === undefined ? { name } : { name, arguments: args }
      self.send({ id, method: 'tools/call', params })
    },
    answer: (id) => until(() => lines.find((line) => hasId(line, id)), `answer ${id}; ${stderr}`),
    exitCode: () => exited,
  }
  const clientInfo = { name: 'raw', version: '1' }
  self.send({
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
  })
  await self.answer(0)
  self.send({ method: 'notifications/initialized' })
  return self
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return line
  }
}

function hasId(line: unknown, id: number): line is { result?: Record<string, unknown> } {
  return typeof line === 'object' && line !== null && 'id' in line && line.id === id
}
