import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** The peers and the SDK beside them; none is a dependency of this package. */
const PACKAGES = [
  '@sentry/node@11.12.0',
  'agentcat@1.0.1',
  'mcp-trace@0.1.9',
  '@modelcontextprotocol/sdk@1.32.2',
  'zod@4.6.7',
]

/** Installs them once into a folder of their own; undefined where that does not work. */
export async function installPeers(): Promise<string | undefined> {
  const folder = join(tmpdir(), 'unsilent-bench-peers')
  const marker = join(folder, 'installed.json')
  const wanted = JSON.stringify(PACKAGES)
  if (existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return folder
  console.log(`Installing ${PACKAGES.length} packages into ${folder} …`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save']
  try {
    await promisify(execFile)('npm', ['install', ...flags, ...PACKAGES], { cwd: folder })
  } catch (error) {
    const first = String((error as { stderr?: string }).stderr ?? error).split('\n')[0]
    console.log(`The peers could not be installed and are left out: ${first}`)
    return undefined
  }
  writeFileSync(marker, wanted)
  return folder
}
