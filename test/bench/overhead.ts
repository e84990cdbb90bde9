/**
 * What a call costs more than on the bare SDK: p50 of a call, each variant in a process of its own,
 * in turns, so that a noisy machine is noisy for all of them. The ratio is taken within each round;
 * the median of the rounds counts. The log is written in earnest: synchronous, one line a call.
 *
 *   npm run bench:overhead -- [--rounds 60] [--calls 200] [--no-peers]
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import {
  CALL,
  median,
  quantile,
  timeCalls,
  type Variant,
  variants,
  type WorkerConfig,
} from './overhead/variants.ts'
import { nodeArguments } from './silence/compile.ts'
import { installPeers } from './silence/peers.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '60' },
    calls: { type: 'string', default: '200' },
    'no-peers': { type: 'boolean' },
  },
})
const rounds = positive('rounds', values.rounds)
const calls = positive('calls', values.calls)
/** Not counted: code is compiled, files are opened. */
const WARM_UP_ROUNDS = 10

type Transport = WorkerConfig['transport']
type Measured = {
  variant: Variant
  medians: number[]
  close(): void
  time(count: number): Promise<number>
}

const peers = values['no-peers'] ? undefined : await installPeers()
const folder = mkdtempSync(join(tmpdir(), 'unsilent-overhead-'))
const [worker, collecting] = await Promise.all([
  nodeArguments('overhead/worker'),
  nodeArguments('overhead/collector-process'),
])
const collectorProcess = forked(collecting, [])
const [collector] = (await once(collectorProcess, 'message')) as [string]

for (const transport of ['memory', 'stdio'] as const) await compare(transport)

collectorProcess.kill()
rmSync(folder, { recursive: true, force: true })

async function compare(transport: Transport): Promise<void> {
  const loadBefore = loadavg()[0] ?? 0
  const all: Measured[] = []
  for (const [index, variant] of variants.entries()) {
    if (!variant.needsPeers || peers !== undefined) all.push(await start(index, variant, transport))
  }
  for (let round = -WARM_UP_ROUNDS; round < rounds; round += 1) {
    for (const each of all) {
      const p50 = await each.time(calls)
      if (round >= 0) each.medians.push(p50)
    }
  }
  for (const each of all) each.close()
  print(transport, all, loadBefore)
}

async function start(index: number, variant: Variant, transport: Transport): Promise<Measured> {
  const logs = join(folder, `${transport}-${index}`)
  mkdirSync(logs, { mode: 0o700 })
  const config: WorkerConfig = { variant: index, transport, logs, collector, peers: peers ?? '' }
  const env = { ...process.env, HOME: logs, UNSILENT_HOME: logs, UNSILENT: '', ...variant.env }
  const connect = transport === 'memory' ? overMemory : overStdio
  return { variant, medians: [], ...(await connect(JSON.stringify(config), env)) }
}

type Timed = Pick<Measured, 'time' | 'close'>
type Environment = Record<string, string | undefined>

async function overMemory(config: string, env: Environment): Promise<Timed> {
  const child = forked(worker, [config], env)
  await once(child, 'message')
  return {
    async time(count) {
      child.send(count)
      const [p50] = (await once(child, 'message')) as [number]
      return p50
    },
    close: () => child.kill('SIGKILL'),
  }
}

async function overStdio(config: string, env: Environment): Promise<Timed> {
  const client = new Client({ name: 'overhead-client', version: '1' })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [...worker, config],
      env: Object.fromEntries(
        Object.entries(env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
      ),
      stderr: 'ignore',
    }),
  )
  return {
    time: (count) => timeCalls(() => client.callTool(CALL), count),
    close: () => void client.close(),
  }
}

function forked(
  node: readonly string[],
  args: string[],
  env: Environment = process.env,
): ChildProcess {
  const [script = '', ...rest] = [...node].reverse()
  return fork(script, args, {
    execArgv: rest.reverse(),
    env,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
}

function print(transport: Transport, all: readonly Measured[], loadBefore: number): void {
  const bare = all[0]?.medians ?? []
  const load = `load ${loadBefore.toFixed(1)} to ${(loadavg()[0] ?? 0).toFixed(1)}`
  const where = transport === 'memory' ? 'in memory' : 'over stdio'
  console.log(`\n${where}: ${rounds} rounds of ${calls} calls each, ${load}`)
  console.log(
    `  ${'p50 a call'.padEnd(24)}${'µs'.padStart(8)}${'ratio'.padStart(8)}${'half of them'.padStart(14)}  target`,
  )
  for (const { variant, medians } of all) {
    const ratios = medians.map((p50, round) => p50 / (bare[round] ?? Number.NaN))
    const ratio = median(ratios)
    const target = variant.target?.[transport]
    const verdict = target === undefined ? '' : `≤ ${target} ${ratio <= target ? 'met' : 'MISSED'}`
    const spread = `${quantile(ratios, 0.25).toFixed(2)} to ${quantile(ratios, 0.75).toFixed(2)}`
    console.log(
      `  ${variant.label.padEnd(24)}${median(medians).toFixed(0).padStart(8)}${ratio.toFixed(2).padStart(8)}${spread.padStart(14)}  ${verdict}`.trimEnd(),
    )
  }
}

function positive(name: string, value: string): number {
  const number = Number(value)
  if (Number.isInteger(number) && number > 0) return number
  console.error(`--${name} takes a whole number above 0, not "${value}".`)
  process.exit(2)
}
