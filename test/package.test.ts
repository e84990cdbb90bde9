import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const version = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version

function run(command: string, args: string[], cwd: string) {
  return spawnSync(command, args, { cwd, encoding: 'utf8', timeout: 240_000 })
}

/** The addon takes minutes to compile, so the installed copy gets the one built for this checkout. */
function borrowAddon(folder: string): void {
  const built = join('node_modules', 'better-sqlite3', 'build')
  cpSync(join(root, built), join(folder, built), { recursive: true })
}

describe('the packed tarball', () => {
  const folder = mkdtempSync(join(tmpdir(), 'unsilent-pack-'))
  after(() => rmSync(folder, { recursive: true, force: true }))

  before(() => {
    const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    // The build that runs before packing may print above the JSON.
    const [{ filename }] = JSON.parse(packed.slice(packed.indexOf('[\n')))
    writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}')
    execFileSync(
      'npm',
      ['install', '--ignore-scripts', '--prefer-offline', join(folder, filename)],
      {
        cwd: folder,
        stdio: 'ignore',
      },
    )
  })

  test('prints help and version without the database addon', () => {
    const help = run('npx', ['unsilent', '--help'], folder)
    assert.equal(help.status, 0, help.stderr)
    assert.match(help.stdout, /Usage: unsilent/)
    const printed = run('npx', ['unsilent', '--version'], folder)
    assert.equal(printed.stdout.trim(), version)
  })

  test('says what to do where a command needs the missing addon', () => {
    const failures = run('npx', ['unsilent', 'failures', '--db', 'none.db'], folder)
    assert.notEqual(failures.status, 0)
    assert.match(failures.stderr, /better-sqlite3/)
    assert.doesNotMatch(failures.stderr, /\n\s+at /)
  })

  test('exports the wrapper', () => {
    const program = "import { unsilence } from 'unsilent'; console.log(typeof unsilence)"
    const imported = run(process.execPath, ['--input-type=module', '-e', program], folder)
    assert.equal(imported.stdout.trim(), 'function', imported.stderr)
  })

  test('ingests and answers once the addon is there', () => {
    borrowAddon(folder)
    const logs = join(root, 'sample-logs', 'small')
    const database = join(folder, 'calls.db')
    const ingest = run('npx', ['unsilent', 'ingest', logs, '--once', '--db', database], folder)
    assert.equal(ingest.status, 0, ingest.stderr)
    const failures = run(
      'npx',
      ['unsilent', 'failures', '--db', database, '--since', '2026-03-01', '--format', 'json'],
      folder,
    )
    assert.equal(failures.status, 0, failures.stderr)
    assert.match(failures.stdout, /get_exchange_rate/)
  })

  test('ships no tests, and the licence', () => {
    const files = readFileSync(join(folder, 'node_modules/unsilent/LICENSE'), 'utf8')
    assert.match(files, /MIT License/)
    const listing = execFileSync('ls', [join(folder, 'node_modules/unsilent/dist')], {
      encoding: 'utf8',
    })
    assert.doesNotMatch(listing, /^test$/m)
  })
})
