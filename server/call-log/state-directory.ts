import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

export type StateEnvironment = {
  env: Record<string, string | undefined>
  platform: NodeJS.Platform
}

const ofThisProcess: StateEnvironment = { env: process.env, platform: process.platform }

/**
 * Where logs and the database live unless told otherwise: `$UNSILENT_HOME`, else the platform's
 * place for state. Wrapper, proxy and commands agree on it, so that they find each other.
 */
export function stateDirectory({ env, platform }: StateEnvironment = ofThisProcess): string {
  if (env.UNSILENT_HOME) return resolve(env.UNSILENT_HOME)
  const home = env.HOME || env.USERPROFILE || homedir()
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'unsilent')
  if (platform === 'win32') {
    return join(env.LOCALAPPDATA || join(home, 'AppData', 'Local'), 'unsilent')
  }
  return join(env.XDG_STATE_HOME || join(home, '.local', 'state'), 'unsilent')
}

export function defaultLogDirectory(environment?: StateEnvironment): string {
  return join(stateDirectory(environment), 'logs')
}

export function defaultDatabasePath(environment?: StateEnvironment): string {
  return join(stateDirectory(environment), 'unsilent.db')
}
