import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { CommandError } from '../../web/cli/command-error.ts'
import { createProgram } from '../../web/cli/program.ts'
import { type RunOptions, runCli } from './run-cli.ts'

const folder = mkdtempSync(join(tmpdir(), 'unsilent-cli-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const env = { UNSILENT_HOME: join(folder, 'home') }

function assertRefused(args: string[], exitCode: number, sentence: RegExp, options?: RunOptions) {
  const { status, stdout, stderr } = runCli(args, { env, ...options })
  assert.match(stderr, sentence)
  assert.equal(status, exitCode, stderr)
  assert.equal(stdout, '')
  assert.equal(stderr.trimEnd().split('\n').length, 1, `more than one line:\n${stderr}`)
}

/** In this process, since starting one for each case would take the most of a minute. */
async function refusalOf(args: string[]): Promise<CommandError> {
  try {
    await createProgram().parseAsync(args, { from: 'user' })
  } catch (error) {
    if (error instanceof CommandError) return error
    throw error
  }
  throw new Error('It was not refused.')
}

async function helpOf(name: string): Promise<string> {
  const program = createProgram()
  let text = ''
  for (const command of program.commands) {
    command.configureOutput({
      writeOut(part) {
        text += part
      },
    })
  }
  await assert.rejects(program.parseAsync([name, '--help'], { from: 'user' }), { exitCode: 0 })
  return text
}

describe('wrong usage', () => {
  const cases: [string[], RegExp][] = [
    [['servee'], /unknown command 'servee' \(did you mean serve\?\)/],
    [['frobnicate'], /unknown command 'frobnicate'; see "unsilent --help"/],
    [
      ['web', '--prot', '1'],
      /unknown option '--prot' \(did you mean --port\?\); see "unsilent web/,
    ],
    [['web', '--port', 'abc'], /'abc' is invalid: write a number from 0 to 65535/],
    [['web', '--port', '70000'], /'70000' is invalid/],
    [['web', '--tz', 'Berlin'], /'Berlin' is invalid: write a time zone such as Europe/],
    [['web', 'extra'], /too many arguments for 'web'/],
    [['web', '--db'], /argument missing/],
    [['demo', '--days', '0'], /'0' is invalid: write a whole number above 0/],
    [['demo-server', '--service', 'bills'], /allowed choices are all, billing, docs-search/],
    [['demo-server', '--port', '1'], /--port goes with --http/],
    [['demo-server', '--upstream', 'here'], /write one like http:/],
    [['failures', '--since', 'then'], /--since: "then" is not a time: write now-7d/],
    [['failures', '--class', 'slow'], /--class: "slow" is no class: write one of/],
    [['failures', '--format', 'yaml'], /allowed choices are table, json/],
    [['failures', '--tz', 'Berlin'], /--tz: "Berlin" is no time zone/],
    [['ingest', 'a', '--logs', 'b'], /not both/],
    [['ingest', '--from-now', '--from-beginning'], /Choose --from-beginning or --from-now/],
    [
      ['serve', '--logs', join(folder, 'none')],
      /There is no directory .*none: name one that exists/,
    ],
  ]
  for (const [args, sentence] of cases) {
    test(`unsilent ${args.join(' ').replace(folder, '…')}`, async () => {
      const refusal = await refusalOf(args)
      assert.match(refusal.message, sentence)
      assert.equal(refusal.exitCode, 2)
      assert.doesNotMatch(refusal.message, /\n/)
    })
  }

  test('is one line on stderr and exit code 2', () => {
    assertRefused(['servee'], 2, /^unsilent: unknown command 'servee' \(did you mean serve\?\);/)
  })

  test('without a command the help is printed, not on stdout', () => {
    const { status, stdout, stderr } = runCli([], { env })
    assert.equal(status, 2)
    assert.equal(stdout, '')
    assert.match(stderr, /^Usage: unsilent/)
  })
})

describe('help and version', () => {
  test('each command has help with examples', async () => {
    for (const name of [
      'demo',
      'demo-server',
      'serve',
      'ingest',
      'web',
      'failures',
      'doctor',
      'quarantine',
    ]) {
      const help = await helpOf(name)
      assert.match(help, new RegExp(`^Usage: unsilent ${name}`))
      assert.match(help, new RegExp(`Examples:\n {2}.*unsilent ${name}`))
    }
  })

  test('the version is that of the package', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
    assert.equal(runCli(['--version'], { env }).stdout, `${version}\n`)
  })

  test('neither loads the database addon', () => {
    const spy = `data:text/javascript,import{createRequire}from'node:module';import process from'node:process';
      process.dlopen=()=>{throw new Error('an addon was loaded')}`
    for (const flag of ['--help', '--version']) {
      const { status, stderr } = runCli([flag], { env, nodeFlags: ['--import', spy] })
      assert.equal(status, 0, stderr)
    }
  })

  test('an older Node is told what is needed', () => {
    const pretend =
      "data:text/javascript,Object.defineProperty(process.versions,'node',{value:'18.19.1'})"
    assertRefused(['--version'], 1, /Node\.js 20\.19 or newer is needed and this is 18\.19\.1/, {
      nodeFlags: ['--import', pretend],
    })
  })
})

describe('bad input', () => {
  test('a database that is not there is named with what makes one', () => {
    const none = join(folder, 'none.db')
    assertRefused(['failures', '--db', none], 1, /There is no database at .*none\.db; run/)
  })

  test('a log directory that is not there is wrong usage', () => {
    const none = join(folder, 'no-logs')
    assertRefused(['ingest', '--once', none], 2, /There is no file or directory .*no-logs; name/)
  })

  test('--version of failures is a filter, not the question for ours', () => {
    const args = ['failures', '--version', '1.4.0', '--db', join(folder, 'none.db')]
    assertRefused(args, 1, /There is no database/)
  })

  test('a file that is no database is left as it is', () => {
    const path = join(folder, 'notes.txt')
    writeFileSync(path, 'not a database, but long enough to be looked at. '.repeat(5))
    assertRefused(['failures', '--db', path], 1, /is not a SQLite database; it was left as it is/)
    assertRefused(['ingest', '--once', folder, '--db', path], 1, /is not a SQLite database/)
    const serve = ['serve', '--logs', folder, '--db', path, '--port', '0']
    assertRefused(serve, 1, /is not a SQLite database/)
    assert.match(readFileSync(path, 'utf8'), /^not a database/)
  })

  test('a state directory that cannot be made is named', () => {
    const home = join(folder, 'a-file')
    writeFileSync(home, '')
    const options = { env: { UNSILENT_HOME: home } }
    assertRefused(['ingest', '--once'], 1, /a-file.* cannot be used \(ENOTDIR\)/, options)
  })

  test('a folder with files of others is never taken for the demo', () => {
    const precious = join(folder, 'precious')
    mkdirSync(precious)
    writeFileSync(join(precious, 'thesis.txt'), 'years of work')
    for (const more of [[], ['--fresh']]) {
      assertRefused(
        ['demo', '--dir', precious, ...more],
        2,
        /has files in it that the demo did not/,
      )
    }
    assert.equal(readFileSync(join(precious, 'thesis.txt'), 'utf8'), 'years of work')
  })
})
