import { readFileSync } from 'node:fs'

/** Two folders up in a clone, three in dist/. */
const PLACES = ['../../package.json', '../../../package.json']

export function packageVersion(): string {
  for (const place of PLACES) {
    const text = readIfThere(new URL(place, import.meta.url))
    if (text === undefined) continue
    const { name, version } = JSON.parse(text)
    if (name === 'unsilent') return version
  }
  throw new Error('The package.json of unsilent was not found next to its code.')
}

function readIfThere(url: URL): string | undefined {
  try {
    return readFileSync(url, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
