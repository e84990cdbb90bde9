import { type ChildProcess, spawn } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Flags of ours that a child must not inherit: two debuggers cannot share a port. */
const NOT_FOR_CHILDREN = /^--(test|watch|inspect)/

export type OwnCommand = { command: string; args: string[] }

/** How to start this very program again with other arguments, from a clone (tsx) or from dist/. */
export function ownCommand(args: readonly string[]): OwnCommand {
  const entry = new URL(`./main${extname(import.meta.url)}`, import.meta.url)
  const flags = process.execArgv.filter((flag) => !NOT_FOR_CHILDREN.test(flag))
  return { command: process.execPath, args: [...flags, fileURLToPath(entry), ...args] }
}

export type SpawnSelfOptions = {
  args: readonly string[]
  env?: NodeJS.ProcessEnv | undefined
  /** Default: ours. A number is a file descriptor. */
  stderr?: 'inherit' | number | undefined
}

/** A child with a channel: it ends when the channel closes, so it cannot outlive us. */
export function spawnSelf(options: SpawnSelfOptions): ChildProcess {
  const { command, args } = ownCommand(options.args)
  return spawn(command, args, {
    env: options.env ?? process.env,
    stdio: ['ignore', 'ignore', options.stderr ?? 'inherit', 'ipc'],
    windowsHide: true,
  })
}
