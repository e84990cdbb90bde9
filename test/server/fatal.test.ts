import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { z } from 'zod'
import {
  FatalError,
  InvalidArgumentsError,
  isConnectionError,
  isFatalError,
  isInvalidArgumentsError,
  isTimeoutError,
  isToolError,
  ToolError,
} from '../../server/wrapper/errors.ts'
import { readConfig, requireEnv } from '../../server/wrapper/fatal.ts'
import { ofKind, readLog } from './read-log.ts'

const root = join(import.meta.dirname, '..', '..')
const fixture = join(import.meta.dirname, 'fixtures', 'fatal-child.ts')

function temporaryDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'unsilent-fatal-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

function run(way: string, directory = '') {
  return spawnSync(process.execPath, ['--import', 'tsx', fixture, way, directory], {
    encoding: 'utf8',
    cwd: root,
    timeout: 60_000,
    maxBuffer: 10_000_000,
  })
}

test('a missing variable at start is one readable line and exit code 78', () => {
  const { status, stderr } = run('env')
  assert.equal(status, 78)
  assert.equal(
    stderr,
    'unsilent: fatal: the environment variable UNSILENT_TEST_MISSING is not set; set it and start the server again\n',
  )
})

test('a missing configuration is one readable line and exit code 78', () => {
  const { status, stderr } = run('config')
  assert.equal(status, 78)
  assert.equal(
    stderr,
    'unsilent: fatal: the configuration file /nowhere/config.json does not exist\n',
  )
})

test('a FatalError in a promise that nobody awaits ends the process too', () => {
  const { status, stderr } = run('rejected')
  assert.equal(status, 78)
  assert.equal(stderr, 'unsilent: fatal: the schema is corrupt\n')
})

test('a FatalError out of a handler ends the process after the client has its answer', (t) => {
  const directory = temporaryDirectory(t)
  const { status, stdout, stderr } = run('handler', directory)
  assert.equal(status, 78)
  const answer = JSON.parse(stdout) as { isError: boolean; text: string }
  assert.equal(answer.isError, true)
  assert.equal(answer.text.length, 300_000)
  assert.equal(stderr, 'unsilent: fatal: the account is closed; renew it\n')
  const records = readLog(directory)
  const fatals = ofKind(records, 'fatal')
  assert.equal(fatals.length, 1)
  assert.equal(fatals[0]?.call, 'call-1')
  assert.equal(fatals[0]?.error.class, 'fatal')
  assert.equal(ofKind(records, 'exit')[0]?.code, 78)
})

test('an application that swallows every exception does not survive a FatalError', (t) => {
  const { status, stdout } = run('handler-in-swallower', temporaryDirectory(t))
  assert.equal(status, 78)
  assert.match(stdout, /"isError":true/)
})

test('a classifier that throws is told about once', () => {
  const { status, stderr } = run('broken-classifier')
  assert.equal(status, 0)
  assert.match(stderr, /^unsilent: the `classify` option threw oops; [^\n]*\n$/)
})

test('requireEnv gives the value, and takes an empty one for missing', (t) => {
  process.env.UNSILENT_TEST_VALUE = 'abc'
  t.after(() => {
    delete process.env.UNSILENT_TEST_VALUE
  })
  assert.equal(requireEnv('UNSILENT_TEST_VALUE'), 'abc')
  process.env.UNSILENT_TEST_VALUE = ' '
  assert.throws(() => requireEnv('UNSILENT_TEST_VALUE'), {
    name: 'FatalError',
    message: /UNSILENT_TEST_VALUE is empty/,
  })
})

const schema = z.object({ port: z.number().int(), upstream: z.object({ url: z.url() }) })

function configWith(t: TestContext, text: string): string {
  const path = join(temporaryDirectory(t), 'config.json')
  writeFileSync(path, text)
  return path
}

test('readConfig gives the checked value, a byte order mark or not', (t) => {
  const text = '{"port":80,"upstream":{"url":"http://x.test"}}'
  const expected = { port: 80, upstream: { url: 'http://x.test' } }
  assert.deepEqual(readConfig(configWith(t, text), schema), expected)
  assert.deepEqual(readConfig(configWith(t, `\uFEFF${text}`), schema), expected)
})

test('readConfig names the place of what is wrong, and no value', (t) => {
  const message = (text: string): string => {
    try {
      readConfig(configWith(t, text), schema)
    } catch (error) {
      assert.ok(isFatalError(error))
      return error.message
    }
    throw new Error('accepted')
  }
  assert.match(message('{\n  "port": 80,\n  oops\n}'), /config\.json:3:3 is not valid JSON$/)
  assert.match(message(''), /config\.json:1:1 is not valid JSON$/)
  assert.match(message('{"port":80,'), /config\.json:1:12 is not valid JSON$/)
  const wrong = message('{"port":"secret-value","upstream":{"url":"nope"}}')
  assert.match(wrong, /config\.json: port: .*expected number.*; upstream\.url: /)
  assert.ok(!wrong.includes('secret-value'))
})

test('readConfig refuses a schema that needs to be awaited', (t) => {
  const waiting = { '~standard': { validate: async (value: unknown) => ({ value }) } }
  assert.throws(() => readConfig(configWith(t, '{}'), waiting), /checks synchronously/)
})

test('errors are known by their kind, also those of another copy of the package', () => {
  const theirs = Object.assign(new Error('x'), { [Symbol.for('unsilent.error.kind')]: 'tool' })
  assert.ok(isToolError(theirs))
  assert.ok(isToolError(new ToolError('x')))
  class MyFatal extends FatalError {}
  assert.ok(isFatalError(new MyFatal('x')))
  assert.ok(isInvalidArgumentsError(new InvalidArgumentsError('x')))
  for (const other of [new Error('x'), null, undefined, 'tool', {}]) {
    const kinds = [isToolError, isFatalError, isConnectionError, isTimeoutError]
    assert.ok(kinds.every((is) => !is(other)))
  }
  assert.deepEqual(Object.keys(new ToolError('x')), [])
  assert.match(new ToolError('locked').stack ?? '', /^ToolError: locked\n/)
})

test('InvalidArgumentsError carries its issues', () => {
  const issues = [{ path: 'from', code: 'out_of_range' as const }]
  assert.deepEqual(new InvalidArgumentsError('from is after to', { issues }).issues, issues)
  assert.deepEqual(new InvalidArgumentsError('x').issues, [])
})
