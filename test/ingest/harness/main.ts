import { mutate } from './mutate.ts'
import { runHarness } from './run-harness.ts'

// npm run harness -- [--runs 1000] [--seed S] [--bail] [--trace]: the long form of harness.test.ts.
// npm run harness -- --mutate [TEXT]: takes away what the reader relies on, and looks who notices.

function option(name: string): string | undefined {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? undefined : process.argv[at + 1]
}

const flags = new Set(process.argv)
if (flags.has('--mutate')) {
  if (!mutate((text) => console.log(text), option('mutate'))) process.exitCode = 1
} else await tellStories()

async function tellStories(): Promise<void> {
  const trace = flags.has('--trace') ? (text: string) => console.log(text) : undefined
  const runs = Number(option('runs') ?? 1000)
  const firstSeed = Number(option('seed') ?? Date.now() % 1_000_000)
  const total = { runs: 0, lines: 0, mayBeLost: 0, failed: 0 }
  const startedAt = performance.now()
  for (let seed = firstSeed; seed < firstSeed + runs; seed += 1) {
    const result = await runHarness(seed, trace)
    total.runs += 1
    total.lines += result.lines
    total.mayBeLost += result.mayBeLost
    if (result.faults.length === 0) continue
    total.failed += 1
    const { kind, banner, actions, faults } = result
    console.log(
      `seed ${seed} (${kind}${banner ? ', equal heads' : ''}): ${faults.slice(0, 6).join('; ')}`,
    )
    console.log(`  ${actions.join(' ')}`)
    if (flags.has('--bail')) break
  }
  const seconds = (performance.now() - startedAt) / 1000
  console.log(
    `${total.runs} runs from seed ${firstSeed} in ${seconds.toFixed(0)} s, ${total.lines} lines, ` +
      `${total.mayBeLost} destroyed unread: ${total.failed} runs failed`,
  )
  if (total.failed > 0) process.exitCode = 1
}
