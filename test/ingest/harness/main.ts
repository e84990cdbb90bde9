import { runHarness } from './run-harness.ts'

// npm run harness -- [--runs 5000] [--seed 1] [--trace]: the long form of harness.test.ts.

function option(name: string, fallback: number): number {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? fallback : Number(process.argv[at + 1])
}

const trace = process.argv.includes('--trace') ? (text: string) => console.log(text) : undefined
const runs = option('runs', 1000)
const firstSeed = option('seed', Date.now() % 1_000_000)
const total = { lines: 0, mayBeLost: 0, failed: 0 }
const startedAt = performance.now()
for (let seed = firstSeed; seed < firstSeed + runs; seed += 1) {
  const result = await runHarness(seed, trace)
  total.lines += result.lines
  total.mayBeLost += result.mayBeLost
  if (result.faults.length === 0) continue
  total.failed += 1
  const { kind, banner, actions, faults } = result
  console.log(
    `seed ${seed} (${kind}${banner ? ', equal heads' : ''}): ${faults.slice(0, 6).join('; ')}`,
  )
  console.log(`  ${actions.join(' ')}`)
}
const seconds = (performance.now() - startedAt) / 1000
console.log(
  `${runs} runs from seed ${firstSeed} in ${seconds.toFixed(0)} s, ${total.lines} lines, ` +
    `${total.mayBeLost} destroyed unread: ${total.failed} runs failed`,
)
if (total.failed > 0) process.exitCode = 1
