import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
const TSX = import.meta.resolve('tsx')

/** How the command line is started here: from source, from any current directory. */
export const CLI = [process.execPath, '--import', TSX, join(root, 'web/cli/main.ts')] as const

/** tsx looks for it in the current directory, which is not always the project's here. */
const ENV = { NO_COLOR: '1', TSX_TSCONFIG_PATH: join(root, 'tsconfig.json') }

export type RunOptions = {
  cwd?: string
  env?: NodeJS.ProcessEnv
  /** Flags of Node itself, before the program. */
  nodeFlags?: string[]
  timeoutMs?: number
  stdin?: 'ignore' | 'pipe'
}

export function runCli(args: string[], options: RunOptions = {}) {
  const [node, ...rest] = CLI
  return spawnSync(node, [...(options.nodeFlags ?? []), ...rest, ...args], {
    cwd: options.cwd,
    env: { ...process.env, ...ENV, ...options.env },
    encoding: 'utf8',
    timeout: options.timeoutMs ?? 60_000,
  })
}

export function startCli(args: string[], options: RunOptions = {}): ChildProcess {
  const [node, ...rest] = CLI
  return spawn(node, [...(options.nodeFlags ?? []), ...rest, ...args], {
    cwd: options.cwd,
    env: { ...process.env, ...ENV, ...options.env },
    stdio: [options.stdin ?? 'ignore', 'pipe', 'pipe'],
  })
}
