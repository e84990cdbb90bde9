import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

/** Quiet, and without a sandbox, which containers rarely allow. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

const SYSTEM_PATH = '/usr/bin/chromium'

type Candidate = { name: string; path(): Promise<string> | string }

/** In the order in which they are tried. */
function candidates(env: Record<string, string | undefined>): Candidate[] {
  const chosen = env.CHROMIUM_PATH
  // Who names a browser wants that one and no other.
  if (chosen) return [{ name: `CHROMIUM_PATH (${chosen})`, path: () => chosen }]
  return [
    { name: 'Playwright’s own', path: () => chromium.executablePath() },
    { name: SYSTEM_PATH, path: () => SYSTEM_PATH },
    { name: '@sparticuz/chromium', path: sparticuzPath },
  ]
}

async function sparticuzPath(): Promise<string> {
  const { default: packaged } = await import('@sparticuz/chromium')
  return packaged.executablePath()
}

/** Starts the first Chromium that can be started; otherwise fails with one sentence. */
export async function launchChromium(
  env: Record<string, string | undefined> = process.env,
): Promise<Browser> {
  const reasons: string[] = []
  for (const { name, path } of candidates(env)) {
    try {
      const executablePath = await path()
      if (!existsSync(executablePath)) throw new Error('not there')
      return await chromium.launch({ executablePath, args: ARGUMENTS })
    } catch (error) {
      const [reason] = (error instanceof Error ? error.message : String(error)).split('\n')
      reasons.push(`${name}: ${reason}`)
    }
  }
  throw new Error(
    `No Chromium could be started (${reasons.join('; ')}): install one with \`npx playwright-core install --with-deps chromium\` or your system’s packages, or name it in CHROMIUM_PATH.`,
  )
}
