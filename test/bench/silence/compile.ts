import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '..', '..', '..')

/**
 * The arguments with which Node runs a script of this folder. Compiled once: a hundred servers are
 * started, and each would spend more time on reading TypeScript than on being one.
 */
export async function nodeArguments(script: string): Promise<string[]> {
  const out = join(root, 'node_modules', '.cache', 'unsilent-bench')
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const flags = ['--noCheck', '--declaration', 'false', '--sourceMap', 'false', '--outDir', out]
  await promisify(execFile)(process.execPath, [tsc, ...flags], { cwd: root }).catch(() => undefined)
  const compiled = join(out, 'test', 'bench', `${script}.js`)
  if (existsSync(compiled)) return [compiled]
  return ['--import', 'tsx', join(root, 'test', 'bench', `${script}.ts`)]
}
