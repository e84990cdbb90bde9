import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')

/** server → ingest → web: a folder may import itself and what stands to its left. */
const LAYERS = ['server', 'ingest', 'web']

type Import = { file: string; target: string }

function sourceFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(root, folder, name))
}

function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8')
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g)]
  return specifiers.flatMap(([, specifier]) => (specifier ? [{ file, target: specifier }] : []))
}

function topFolder(path: string): string {
  return relative(root, path).split(sep)[0] ?? ''
}

function isCommand(file: string): boolean {
  return file.startsWith(join(root, 'web', 'cli') + sep)
}

function describeImport({ file, target }: Import): string {
  return `${relative(root, file)} imports ${target}`
}

const allImports = LAYERS.flatMap(sourceFiles).flatMap(importsOf)

test('there is source in each layer', () => {
  for (const layer of LAYERS) assert.notEqual(sourceFiles(layer).length, 0, layer)
})

test('a folder imports only from itself and the folders to its left', () => {
  const wrong = allImports.filter(({ file, target }) => {
    if (!target.startsWith('.') || isCommand(file)) return false
    const from = LAYERS.indexOf(topFolder(file))
    const to = LAYERS.indexOf(topFolder(resolve(dirname(file), target)))
    return to === -1 || to > from
  })
  assert.deepEqual(wrong.map(describeImport), [])
})

test('commands are imported by nothing but commands', () => {
  const wrong = allImports.filter(
    ({ file, target }) =>
      target.startsWith('.') && isCommand(resolve(dirname(file), target)) && !isCommand(file),
  )
  assert.deepEqual(wrong.map(describeImport), [])
})

test('the wrapper and the call log import no MCP SDK and no SQLite', () => {
  const wrong = allImports.filter(
    ({ file, target }) =>
      /^server[/\\](wrapper|call-log|index)/.test(relative(root, file)) &&
      /^(@modelcontextprotocol\/|better-sqlite3|zod|hono)/.test(target),
  )
  assert.deepEqual(wrong.map(describeImport), [])
})
