import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readFlags } from '../../sample-logs/read-flags.ts'
import { readLogFiles, samplesFolder, temporaryFolder } from './read-logs.ts'

const TIMEOUT_MS = 120_000

function samples(args: string[], nodeFlags: string[] = []) {
  const command = join(samplesFolder, 'generate.ts')
  return spawnSync(process.execPath, [...nodeFlags, '--import', 'tsx', command, ...args], {
    cwd: join(samplesFolder, '..'),
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
  })
}

/** One sentence, nothing on stdout, and no stack. */
function assertRefused(run: ReturnType<typeof samples>, message: RegExp): void {
  assert.equal(run.status, 2, run.stderr)
  assert.equal(run.stdout, '')
  assert.match(run.stderr, message)
  assert.equal(run.stderr.trimEnd().split('\n').length, 1, run.stderr)
}

test('--help says how it is used', () => {
  const run = samples(['--help'])
  assert.equal(run.status, 0)
  for (const flag of ['--out', '--days', '--calls', '--end', '--seed', '--hostile']) {
    assert.match(run.stdout, new RegExp(flag))
  }
})

test('writes samples that end now, and prints what is planted', (t) => {
  const out = join(temporaryFolder(t), 'deep', 'logs')
  const before = Date.now()
  const run = samples(['--days', '7', '--calls', '700', '--end', 'now', '--out', out])
  assert.equal(run.status, 0, run.stderr)
  const planted = JSON.parse(run.stdout)
  assert.equal(planted.weekly.length, 1)
  const times = readLogFiles(out).flatMap(({ lines }) => lines.map(({ time }) => time))
  const last = times.reduce((one, other) => Math.max(one, other))
  assert.ok(last <= Date.now() && last >= before - 5_000)
})

test('refuses a directory that is not empty, and leaves it alone', (t) => {
  const out = temporaryFolder(t)
  writeFileSync(join(out, 'precious.txt'), 'mine')
  assertRefused(samples(['--out', out]), /is not empty: name a new or an empty directory/)
  assert.deepEqual(readdirSync(out), ['precious.txt'])
})

test('refuses an unknown flag', (t) => {
  const out = join(temporaryFolder(t), 'logs')
  assertRefused(samples(['--out', out, '--dyas', '3']), /--dyas.*see --help/)
  assert.ok(!existsSync(out))
})

const refusals: [string, string[], RegExp][] = [
  ['no directory', [], /--out DIR/],
  ['a flag without its value', ['--out'], /--out.*see --help\.$/],
  ['a stray word', ['logs'], /logs.*see --help\.$/],
  ['days in words', ['--out', 'x', '--days', 'many'], /--days takes a whole number, not "many"/],
  ['a number as a power', ['--out', 'x', '--calls', '1e5'], /--calls takes a whole number/],
  ['a time without a zone', ['--out', 'x', '--end', '2026-04-12T00:00'], /with its zone/],
  ['a day that does not exist', ['--out', 'x', '--end', '2026-13-40T00:00:00Z'], /--end takes/],
  ['both forms at once', ['--out', 'x', '--hostile', 'y'], /not both/],
]
for (const [what, args, message] of refusals) {
  test(`refuses ${what} in one sentence`, () => {
    assert.throws(() => readFlags(args, 0), { name: 'SampleLogError', message })
  })
}

test('takes an end with its zone, and now', () => {
  const at = (end: string) => readFlags(['--out', 'x', '--end', end], 1_234)
  assert.deepEqual(at('2026-04-12T02:00:00+02:00'), {
    kind: 'samples',
    directory: 'x',
    days: 28,
    calls: 40_000,
    endMs: Date.UTC(2026, 3, 12),
    seed: 1,
  })
  const now = at('now')
  assert.equal(now.kind === 'samples' && now.endMs, 1_234)
})

test('writes the hostile file, and never over another', (t) => {
  const path = join(temporaryFolder(t), 'bad.jsonl')
  const run = samples(['--hostile', path])
  assert.equal(run.status, 0, run.stderr)
  assert.equal(JSON.parse(run.stdout).refused.too_long, 1)
  assert.ok(existsSync(path))
  assertRefused(samples(['--hostile', path]), /cannot be written .*: name a new file/)
})

test('a long stream needs no more memory than a short one', (t) => {
  const out = join(temporaryFolder(t), 'logs')
  mkdirSync(out)
  // 100 MB of lines; a generator that kept them would run out.
  const run = samples(
    ['--calls', '160000', '--end', '2026-04-12T00:00:00Z', '--out', out],
    ['--max-old-space-size=48'],
  )
  assert.equal(run.status, 0, run.stderr.slice(0, 2_000))
  assert.match(run.stderr, /160000 of them calls/)
})
