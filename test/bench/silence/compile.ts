import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '..', '..', '..')
/** By checkout: several may share one node_modules. */
const out = join(
  root,
  'node_modules/.cache/unsilent-bench',
  createHash('sha256').update(root).digest('hex').slice(0, 12),
)

/**
 * The arguments with which Node runs a script of this folder. Compiled once, with what it imports: a
 * hundred servers are started, and each would spend more time on reading TypeScript than on being
 * one.
 */
export async function nodeArguments(script: string): Promise<string[]> {
  const source = join(root, 'test', 'bench', `${script}.ts`)
  const config = join(out, `${script.replaceAll('/', '-')}.json`)
  mkdirSync(out, { recursive: true })
  writeFileSync(config, JSON.stringify(projectOf(source)))
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  await promisify(execFile)(process.execPath, [tsc, '-p', config]).catch(() => undefined)
  const compiled = join(out, 'test', 'bench', `${script}.js`)
  return existsSync(compiled) ? [compiled] : ['--import', 'tsx', source]
}

function projectOf(source: string) {
  const emit = { noCheck: true, declaration: false, sourceMap: false }
  return {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { ...emit, rootDir: root, outDir: out },
    include: [],
    files: [source],
  }
}
