import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readOpenJournal } from '../../server/call-log/open-journal.ts'
import { logFiles, ofKind, readLog, unexplainedHoles } from './read-log.ts'

const fixture = join(import.meta.dirname, 'fixtures', 'log-child.ts')
const root = join(import.meta.dirname, '..', '..')

function newDirectory(t: TestContext): string {
  const parent = mkdtempSync(join(tmpdir(), 'unsilent-log-process-'))
  chmodSync(parent, 0o755)
  t.after(() => rmSync(parent, { recursive: true, force: true }))
  return join(parent, 'logs')
}

function argsFor(way: string, directory: string, count = 100): string[] {
  return ['--import', 'tsx', fixture, way, directory, String(count)]
}

function run(way: string, directory: string, count?: number) {
  return spawnSync(process.execPath, argsFor(way, directory, count), {
    encoding: 'utf8',
    cwd: root,
  })
}

function calls(directory: string): number {
  return ofKind(readLog(directory), 'call').length
}

/** Starts the fixture, sends the signal once it is ready, and waits for its end. */
async function endBySignal(t: TestContext, way: string, directory: string, signal: NodeJS.Signals) {
  const child = spawn(process.execPath, argsFor(way, directory, 500), {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  await once(child.stdout, 'data')
  child.kill(signal)
  const [code, endedBy] = await exited
  return { code, endedBy }
}

test('D8, D12: a signal that stops the server is recorded, and the process dies of it', async (t) => {
  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const) {
    const directory = newDirectory(t)
    const { endedBy } = await endBySignal(t, 'wait', directory, signal)
    assert.equal(endedBy, signal)
    const records = readLog(directory)
    assert.equal(ofKind(records, 'call').length, 500)
    const [exit] = ofKind(records, 'exit')
    assert.deepEqual([exit?.code, exit?.reason], [code, signal])
  }
})

test('a signal that the application listens for is the application’s', async (t) => {
  const polite = newDirectory(t)
  assert.equal((await endBySignal(t, 'polite', polite, 'SIGTERM')).code, 5)
  assert.equal(ofKind(readLog(polite), 'exit')[0]?.code, 5)
  const once = newDirectory(t)
  assert.equal((await endBySignal(t, 'once', once, 'SIGTERM')).endedBy, 'SIGTERM')
  assert.equal(ofKind(readLog(once), 'exit')[0]?.reason, 'SIGTERM')
})

test('D8: SIGKILL after a burst loses no record that was written', async (t) => {
  const directory = newDirectory(t)
  assert.equal((await endBySignal(t, 'wait', directory, 'SIGKILL')).endedBy, 'SIGKILL')
  assert.equal(calls(directory), 500)
  assert.equal(ofKind(readLog(directory), 'exit').length, 0)
})

test('of a process that was killed, the calls that were running are left in the journal', async (t) => {
  const directory = newDirectory(t)
  await endBySignal(t, 'running', directory, 'SIGKILL')
  const [name = ''] = readdirSync(directory).filter((each) => each.endsWith('.open'))
  const journal = readOpenJournal(readFileSync(join(directory, name)))
  assert.deepEqual(
    journal?.calls.map(({ call, args }) => [call, args]),
    [
      ['slow-1', { query: 'invoice slow-1' }],
      ['slow-2', { query: 'invoice slow-2' }],
    ],
  )
  assert.equal(journal?.header.w, readLog(directory)[0]?.w)
  const stopped = newDirectory(t)
  await endBySignal(t, 'running', stopped, 'SIGTERM')
  assert.deepEqual(
    readdirSync(stopped).filter((each) => each.endsWith('.open')),
    [],
  )
})

test('D8: ten thousand lines and process.exit right after are all on disk', (t) => {
  const directory = newDirectory(t)
  const { status, stdout } = run('exit', directory, 10_000)
  assert.equal(status, 1)
  assert.equal(stdout, '', 'stdout belongs to the protocol')
  const records = readLog(directory)
  assert.equal(ofKind(records, 'call').length, 10_000)
  assert.equal(records.at(-1)?.kind, 'exit')
  assert.equal(ofKind(records, 'exit')[0]?.code, 1)
  assert.deepEqual(unexplainedHoles(records), [])
})

test('the log keeps no process alive', (t) => {
  const directory = newDirectory(t)
  const { status, stderr } = run('return', directory)
  assert.equal(status, 0)
  assert.equal(stderr, '')
  assert.equal(readLog(directory).at(-1)?.kind, 'exit')
})

test('D7, D8: an exception that nobody caught is recorded, and the process ends as Node ends it', (t) => {
  const directory = newDirectory(t)
  const { status, stderr } = run('throw', directory)
  assert.equal(status, 1)
  assert.match(stderr, /TypeError: broken by token=CANARY1\n {4}at /)
  const records = readLog(directory)
  assert.equal(ofKind(records, 'call').length, 100)
  const [fatal] = ofKind(records, 'fatal')
  assert.equal(fatal?.error.name, 'TypeError')
  assert.match(fatal?.error.message ?? '', /^broken by token=\[redacted /)
  const [exit] = ofKind(records, 'exit')
  assert.equal(exit?.code, 1)
  assert.match(exit?.reason ?? '', /^uncaughtException: TypeError: broken/)
  const text = logFiles(directory).map((name) => readFileSync(join(directory, name), 'utf8'))
  assert.ok(!text.join('').includes('CANARY1'))
})

test('D7: a rejection that is no Error is recorded with what it said', (t) => {
  const directory = newDirectory(t)
  const { status } = run('reject', directory)
  assert.equal(status, 1)
  const records = readLog(directory)
  assert.match(ofKind(records, 'fatal')[0]?.error.message ?? '', /"a":1|#<Object>/)
  assert.match(ofKind(records, 'exit')[0]?.reason ?? '', /^unhandledRejection: /)
})

test('a FatalError that nobody caught is one readable line and exit code 78', (t) => {
  const directory = newDirectory(t)
  const { status, stderr, stdout } = run('fatal', directory)
  assert.equal(status, 78)
  assert.equal(stderr, 'unsilent: fatal: the environment variable API_KEY is not set\n')
  assert.equal(stdout, '')
  const records = readLog(directory)
  assert.equal(ofKind(records, 'fatal')[0]?.error.class, 'fatal')
  assert.equal(ofKind(records, 'exit')[0]?.code, 78)
})

test('an application with an uncaughtException listener of its own has its way', (t) => {
  const { status } = run('survive', newDirectory(t))
  assert.equal(status, 9)
})

test('A15: a log directory that is removed is made anew, and the last second is not lost', (t) => {
  const directory = newDirectory(t)
  const { status, stderr } = run('remove', directory, 10)
  assert.equal(status, 0, stderr)
  const records = readLog(directory)
  const named = ofKind(records, 'call').map(({ call }) => call)
  assert.ok(named.includes('call-before the removal'))
  assert.ok(named.includes('call-after the removal'))
  assert.equal(records[0]?.kind, 'open')
})

test('a file that may not grow further is followed by another, and no record is lost', (t) => {
  const directory = newDirectory(t)
  const command = `ulimit -f 64; exec "${process.execPath}" ${argsFor('return', directory, 1_000).join(' ')}`
  const { status, stderr } = spawnSync('bash', ['-c', command], { encoding: 'utf8', cwd: root })
  assert.equal(status, 0, stderr)
  const files = logFiles(directory)
  assert.ok(files.length >= 4, `${files.length} files`)
  const found = new Set<string>()
  for (const name of files) {
    const lines = readFileSync(join(directory, name), 'utf8').split('\n')
    // Only the last line of a file at its limit may be torn; it stands whole in the next one.
    for (const line of lines.slice(0, -1)) {
      const record = JSON.parse(line) as { kind: string; call?: string }
      if (record.kind === 'call') found.add(record.call ?? '')
    }
  }
  assert.equal(found.size, 1_000)
})

test('M3: without leave to write, calls go on and the operator is told once', (t) => {
  const directory = newDirectory(t)
  mkdirSync(directory)
  const ids = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  if (ids.uid !== undefined) chownSync(directory, ids.uid, ids.gid)
  chmodSync(directory, 0o500)
  const { status, stdout, stderr } = spawnSync(process.execPath, argsFor('return', directory, 50), {
    encoding: 'utf8',
    cwd: root,
    env: { ...process.env, TMPDIR: join(directory, '..'), TSX_DISABLE_CACHE: '1' },
    ...ids,
  })
  assert.equal(status, 0, stderr)
  assert.equal(stdout, '')
  const told = stderr.trim().split('\n')
  assert.equal(told.length, 2, stderr)
  assert.match(told[0] ?? '', /^unsilent: the call log cannot be written \(EACCES: .*directory: /)
  assert.match(told[1] ?? '', /^unsilent: 52 records of the call log are lost; directory: /)
  assert.deepEqual(logFiles(directory), [])
  assert.ok(existsSync(directory))
})
