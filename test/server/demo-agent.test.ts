import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { runAgent } from '../../server/demo/agent.ts'
import type { AgentServer, StepResult } from '../../server/demo/agent-connection.ts'
import { type AgentStep, nextPlay } from '../../server/demo/agent-plays.ts'
import { createSeededRandom } from '../../server/demo/seeded-random.ts'
import { startUpstream, type Upstream } from '../../server/demo/upstream.ts'
import { NO_FAULTS } from '../../server/demo/upstream-faults.ts'
import { CLI } from '../cli/run-cli.ts'
import { readCalls, readRecords } from './demo-log.ts'

describe('the agent’s script', () => {
  const steps = (seed: number): AgentStep[] => {
    const random = createSeededRandom(seed)
    return Array.from({ length: 300 }, () => nextPlay(random)).flat()
  }

  test('is the same for the same seed', () => {
    assert.deepEqual(steps(5), steps(5))
    assert.notDeepEqual(steps(5), steps(6))
  })

  test('has good calls, wrong names, text for numbers, dropped options and loops', () => {
    const all = steps(5)
    const has = (tool: string, wanted: (args: Record<string, unknown>) => boolean) =>
      assert.ok(
        all.some((step) => step.tool === tool && wanted(step.args)),
        tool,
      )
    has('search_documents', (args) => 'pattern' in args)
    has('list_invoices', (args) => args.limit === '10')
    has('get_document', (args) => args.format === 'markdown')
    has('get_document', (args) => args.document_id === 'DOC-990')
    has('search_docs', () => true)
    assert.equal(new Set(all.map((step) => step.tool)).size, 11)
  })

  test('a wrong name is put right by the next call', () => {
    const all = steps(5)
    const wrong = all.findIndex((step) => 'pattern' in step.args)
    assert.deepEqual(all[wrong + 1], {
      service: 'docs-search',
      tool: 'search_documents',
      args: { query: all[wrong]?.args.pattern },
    })
  })
})

describe('the agent', () => {
  let home: string
  let upstream: Upstream
  const homes: string[] = []

  before(async () => {
    upstream = await startUpstream({ script: NO_FAULTS })
  })
  after(async () => {
    await upstream.close()
    for (const path of homes) rmSync(path, { recursive: true, force: true })
  })
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'unsilent-agent-'))
    homes.push(home)
  })

  const serverOf = (service: AgentServer['service'], env = {}): AgentServer => {
    const [command, ...flags] = CLI
    const args = [...flags, 'demo-server', '--service', service, '--upstream', upstream.url]
    return {
      service,
      command: {
        command,
        args: [...args, '--logs', join(home, 'logs')],
        env: { UNSILENT_HOME: home, ...env },
        stderr: 'ignore',
      },
    }
  }

  test('makes as many calls as asked for, and each is in the log', async () => {
    const withKey = { BILLING_EXPORT_KEY: 'test' }
    const report = await runAgent({
      servers: [serverOf('billing', withKey), serverOf('docs-search')],
      calls: 40,
      callsPerSecond: 100,
      seed: 3,
    })
    assert.equal(report.calls, 40)
    const { answered, failed, lost } = report.results
    assert.equal(answered + failed, 40)
    assert.equal(lost, 0)
    const logged = readCalls(join(home, 'logs'))
    assert.equal(logged.length, 40)
    assert.equal(logged.filter((call) => call.outcome === 'failed').length, failed)
    assert.deepEqual([...new Set(logged.map((call) => call.server.name))].sort(), [
      'billing',
      'docs-search',
    ])
  })

  test('starts a server again that has gone down', async () => {
    const steps: { tool: string; result: StepResult }[] = []
    await runAgent({
      // Without its key, export_statement takes the server with it; this seed has it early.
      servers: [serverOf('billing')],
      calls: 12,
      callsPerSecond: 100,
      conversations: 1,
      seed: 4,
      onStep: ({ tool }, result) => steps.push({ tool, result }),
    })
    const died = steps.findIndex(({ tool }) => tool === 'export_statement')
    assert.notEqual(died, -1, 'the script has the call')
    assert.ok(steps.slice(died + 1).some(({ result }) => result === 'answered'))
    const records = readRecords(join(home, 'logs'))
    assert.ok(records.some((record) => record.kind === 'fatal'))
    assert.ok(records.filter((record) => record.kind === 'start').length >= 2)
  })

  test('ends at once when it is told to, though a call hangs', async () => {
    upstream.faults.set('list_invoices', { kind: 'hang' })
    const stop = new AbortController()
    const running = runAgent({
      servers: [serverOf('billing')],
      callsPerSecond: 100,
      signal: stop.signal,
      onStep: () => stop.abort(),
    })
    await running
    upstream.faults.clear()
    assert.ok(stop.signal.aborted)
  })
})
