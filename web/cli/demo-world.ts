import { openSync } from 'node:fs'
import { type Command, Option } from 'commander'
import type { AgentServer } from '../../server/demo/agent-connection.ts'
import { runAsChild, tellParent } from './child-messages.ts'
import { ownCommand } from './spawn-self.ts'
import { stopSignal } from './stop-signal.ts'

/** Half-way into the upstream's maintenance, which recurs every two minutes. */
const BURST = { everyMs: 120_000, offsetMs: 4_000, calls: 10 }

type WorldFlags = { logs: string; home: string; stderr: string }

/**
 * The world that the demo watches: the upstream, and the agent with the servers it starts. A process
 * of its own, so that a busy dashboard does not slow down what it measures.
 */
export function registerDemoWorld(program: Command): void {
  program
    .command('demo-world', { hidden: true })
    .addOption(new Option('--logs <directory>').makeOptionMandatory())
    .addOption(new Option('--home <directory>').makeOptionMandatory())
    .addOption(new Option('--stderr <file>').makeOptionMandatory())
    .action((flags: WorldFlags) => runAsChild(() => runWorld(flags)))
}

async function runWorld(flags: WorldFlags): Promise<void> {
  const [{ startUpstream }, { runAgent }] = await Promise.all([
    import('../../server/demo/upstream.ts'),
    import('../../server/demo/agent.ts'),
  ])
  const signal = stopSignal()
  const upstream = await startUpstream()
  const stderr = openSync(flags.stderr, 'a', 0o600)
  const serverOf = (service: AgentServer['service']): AgentServer => ({
    service,
    command: {
      ...ownCommand([
        'demo-server',
        ...['--service', service],
        ...['--upstream', upstream.url],
        ...['--logs', flags.logs],
      ]),
      env: { UNSILENT_HOME: flags.home, BILLING_EXPORT_KEY: 'an-invented-key' },
      stderr,
    },
  })
  let toldReady = false
  try {
    await runAgent({
      servers: [serverOf('billing'), serverOf('docs-search')],
      seed: Date.now(),
      burst: BURST,
      signal,
      onStep(_step, result) {
        if (toldReady || result === 'lost') return
        toldReady = true
        tellParent({ kind: 'ready' })
      },
    })
  } finally {
    await upstream.close()
  }
}
