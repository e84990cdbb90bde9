import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Packages that are compared with, and are no dependencies: each set lives in a folder of its own. */
export type PackageSet = {
  /** Of the folder, in the system's directory for temporary files. */
  folder: string
  /** With exact versions. */
  packages: readonly string[]
}

export function folderOf({ folder }: PackageSet): string {
  return join(tmpdir(), folder)
}

/** True where exactly these versions were installed before. */
export function isInstalled(set: PackageSet): boolean {
  const marker = join(folderOf(set), 'installed.json')
  return existsSync(marker) && readFileSync(marker, 'utf8') === JSON.stringify(set.packages)
}

/** Installs them once, running no scripts of theirs; undefined where that does not work. */
export async function installPackages(set: PackageSet): Promise<string | undefined> {
  const folder = folderOf(set)
  if (isInstalled(set)) return folder
  console.log(`Installing ${set.packages.length} packages into ${folder} …`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save']
  try {
    await promisify(execFile)('npm', ['install', ...flags, ...set.packages], { cwd: folder })
  } catch (error) {
    const first = String((error as { stderr?: string }).stderr ?? error).split('\n')[0]
    console.log(`They could not be installed and are left out: ${first}`)
    return undefined
  }
  writeFileSync(join(folder, 'installed.json'), JSON.stringify(set.packages))
  return folder
}
