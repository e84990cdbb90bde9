import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MUTATIONS, type Mutation } from './mutations.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const COPIED = ['ingest', 'server', 'sample-logs', 'test/ingest', 'package.json', 'tsconfig.json']
const TIMEOUT_MS = 600_000

/**
 * Takes away one thing after another in a temporary copy of the sources, and looks whether its check
 * goes red. True if each did. `only` chooses mutations whose name has this text.
 */
export function mutate(say: (text: string) => void, only = ''): boolean {
  const copy = mkdtempSync(join(tmpdir(), 'unsilent-mutate-'))
  try {
    for (const path of COPIED) cpSync(join(ROOT, path), join(copy, path), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
    const chosen = MUTATIONS.filter(({ name }) => name.includes(only))
    return [...checksOf(chosen)].every((mutation) => isGreen(copy, mutation, say))
      ? chosen.map((mutation) => isCaught(copy, mutation, say)).every(Boolean)
      : false
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

/** One mutation for each different check: the same check need not be seen green twice. */
function checksOf(mutations: readonly Mutation[]): Iterable<Mutation> {
  return new Map(
    mutations.map((mutation) => [JSON.stringify(commandOf(mutation)), mutation]),
  ).values()
}

/** A check that is red anyway would prove nothing. */
function isGreen(copy: string, mutation: Mutation, say: (text: string) => void): boolean {
  const outcome = check(copy, mutation)
  if (outcome === 'green') return true
  say(`without any mutation ${describe(mutation)} is ${outcome}`)
  return false
}

function isCaught(copy: string, mutation: Mutation, say: (text: string) => void): boolean {
  const path = join(copy, mutation.file)
  const source = readFileSync(path, 'utf8')
  if (source.split(mutation.from).length !== 2) {
    say(`does not apply: ${mutation.name} (${mutation.file} has changed)`)
    return false
  }
  const startedAt = performance.now()
  writeFileSync(
    path,
    source.replace(mutation.from, () => mutation.to),
  )
  try {
    const outcome = check(copy, mutation)
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
    const verdict = outcome === 'red' ? 'caught' : 'NOT CAUGHT'
    say(`${verdict}: ${mutation.name} (${describe(mutation)}: ${outcome}, ${seconds} s)`)
    return outcome === 'red'
  } finally {
    writeFileSync(path, source)
  }
}

/** Anything but a plain pass or a plain failure is no proof. */
function check(copy: string, mutation: Mutation): 'green' | 'red' | 'not decided' {
  const { status, stdout, stderr } = spawnSync(process.execPath, commandOf(mutation), {
    cwd: copy,
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
  })
  const { caughtBy } = mutation
  // A test that was renamed would pass by not being there.
  const ran =
    'runs' in caughtBy
      ? /runs from seed/.test(stdout)
      : new RegExp(`^(not )?ok \\d+ - ${escaped(caughtBy.test)}$`, 'm').test(stdout)
  if (!ran)
    return /Error/.test(stderr) && 'runs' in caughtBy && status === 1 ? 'red' : 'not decided'
  return status === 0 ? 'green' : 'red'
}

function commandOf({ caughtBy }: Mutation): string[] {
  const node = ['--import', 'tsx']
  if ('runs' in caughtBy) {
    const main = 'test/ingest/harness/main.ts'
    return [...node, main, '--runs', String(caughtBy.runs), '--seed', '1', '--bail']
  }
  const pattern = `--test-name-pattern=^${escaped(caughtBy.test)}$`
  return [...node, '--test', '--test-reporter=tap', pattern, caughtBy.file]
}

function describe({ caughtBy }: Mutation): string {
  return 'runs' in caughtBy ? `${caughtBy.runs} random stories` : `"${caughtBy.test}"`
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
}
