import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export type Asset = { body: Uint8Array<ArrayBuffer>; type: string }

/** Everything a page loads besides itself, in memory: no URL is ever turned into a file name. */
export type Assets = {
  /** By URL path. The name holds a hash of the content, so an answer may be kept for ever. */
  byPath: ReadonlyMap<string, Asset>
  htmx: string
  chart: string
  script: string
  style: string
  icon: string
}

/**
 * Reads htmx and Chart.js from where npm put them and our own files from beside this module, in
 * the sources as in `dist/`.
 */
export function loadAssets(): Assets {
  const byPath = new Map<string, Asset>()
  const add = (name: string, file: string) => {
    const asset = readAsset(file)
    const path = hashedPath(name, asset.body)
    byPath.set(path, asset)
    return path
  }
  return {
    byPath,
    htmx: add('htmx.js', besideMain('htmx.org', 'htmx.min.js')),
    chart: add('chart.js', besideMain('chart.js', 'chart.umd.min.js')),
    script: add('dashboard.js', ownFile('dashboard.js')),
    style: add('style.css', ownFile('style.css')),
    icon: add('icon.svg', ownFile('icon.svg')),
  }
}

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

function readAsset(file: string): Asset {
  const type = TYPES[file.slice(file.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
  // Source maps are not served; without the comment no browser asks for them.
  const text = readFileSync(file, 'utf8').replace(/\n?\/\/# sourceMappingURL=\S+\s*$/, '\n')
  return { body: new TextEncoder().encode(text), type }
}

function hashedPath(name: string, body: Uint8Array): string {
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 12)
  const dot = name.lastIndexOf('.')
  return `/assets/${name.slice(0, dot)}-${hash}${name.slice(dot)}`
}

/** Neither package exports its browser build by name; it lies beside the main file. */
function besideMain(packageName: string, file: string): string {
  const main = createRequire(import.meta.url).resolve(packageName)
  return join(dirname(main), file)
}

function ownFile(name: string): string {
  return fileURLToPath(new URL(`./static/${name}`, import.meta.url))
}
