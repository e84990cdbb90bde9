import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ERROR_CLASSES } from '../server/call-log/record.ts'
import * as published from '../server/index.ts'
import { EXIT } from '../web/cli/exit-codes.ts'
import { createProgram } from '../web/cli/program.ts'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const commandsPage = readFileSync(join(root, 'docs/commands.md'), 'utf8')

type Flag = { command: string; long: string }

const program = createProgram()
const commands = program
  .createHelp()
  .visibleCommands(program)
  .filter((command) => command.name() !== 'help')
  .map((command) => ({
    name: command.name(),
    flags: command.options.flatMap((option) =>
      option.long && !option.hidden ? [option.long] : [],
    ),
  }))

function flagsOf(page: string): Flag[] {
  return page.split(/^## `unsilent /m).flatMap((section) => {
    const command = /^[a-z-]+/.exec(section)?.[0]
    if (!command) return []
    return [...section.matchAll(/^\| `(--[a-z-]+)/gm)].map(([, long = '']) => ({ command, long }))
  })
}

function sourceText(): string {
  return ['server', 'ingest', 'web', 'test']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.tsx?$/.test(name) && !name.startsWith('docs.test'))
        .map((name) => readFileSync(join(root, folder, name), 'utf8')),
    )
    .join('\n')
}

describe('the pages about commands', () => {
  test('name every command and each of its flags', () => {
    const written = new Set(flagsOf(commandsPage).map(({ command, long }) => `${command} ${long}`))
    const missing = commands.flatMap(({ name, flags }) =>
      flags.map((flag) => `${name} ${flag}`).filter((flag) => !written.has(flag)),
    )
    assert.deepEqual(missing, [])
    for (const { name } of commands) {
      assert.ok(readme.includes(`\`unsilent ${name}\``), `README names ${name}`)
    }
  })

  test('name no flag that does not exist', () => {
    const unknown = flagsOf(commandsPage).filter(
      ({ command, long }) => !commands.find(({ name }) => name === command)?.flags.includes(long),
    )
    assert.deepEqual(unknown, [])
    const everyFlag = new Set(commands.flatMap(({ flags }) => flags).concat('--help'))
    const inReadme = [...readme.matchAll(/(?:^|[\s`])(--[a-z][a-z-]*)/gm)].map(
      ([, flag = '']) => flag,
    )
    assert.deepEqual(
      inReadme.filter((flag) => !everyFlag.has(flag)),
      [],
    )
  })

  test('name every exit code', () => {
    for (const code of Object.values(EXIT)) {
      assert.match(commandsPage, new RegExp(`^\\| ${code} \\|`, 'm'))
    }
  })
})

describe('the README', () => {
  test('names every error class', () => {
    for (const name of ERROR_CLASSES) assert.ok(readme.includes(`\`${name}\``), name)
  })

  test('imports only names that are published', () => {
    const imported = [...readme.matchAll(/import \{ ([^}]+) \} from 'unsilent'/g)].flatMap(
      ([, names = '']) => names.split(',').map((name) => name.trim()),
    )
    assert.ok(imported.length > 0)
    for (const name of imported) assert.ok(name in published, name)
  })

  test('links only to files that exist', () => {
    const links = [...readme.matchAll(/\]\(((?!https?:)[^)#]+)\)/g)].map(([, link = '']) => link)
    for (const link of links) {
      const folder = dirname(join(root, link))
      assert.ok(readdirSync(folder).includes(link.split('/').at(-1) ?? ''), link)
    }
  })
})

test('every environment variable of ours is documented, and none that is not read', () => {
  const read = new Set(
    [
      ...sourceText().matchAll(
        /\b(UNSILENT(?:_[A-Z]+)?|BILLING_EXPORT_KEY|CHROMIUM_PATH|NO_COLOR)\b/g,
      ),
    ].map(([name]) => name),
  )
  const documented = new Set(
    [...commandsPage.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, name = '']) => name),
  )
  assert.deepEqual([...documented].sort(), [...read].sort())
})
