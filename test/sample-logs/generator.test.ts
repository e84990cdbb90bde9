import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { generateSampleLogs, type SampleOptions } from '../../sample-logs/generate-sample-logs.ts'
import { callsIn, linesOf, readLogFiles, temporaryFolder } from './read-logs.ts'

const OPTIONS = { days: 14, calls: 2_000, endMs: Date.UTC(2026, 10, 2, 7, 13, 20, 5), seed: 7 }

async function generate(directory: string, changes: Partial<SampleOptions> = {}) {
  const made = await generateSampleLogs({ ...OPTIONS, directory, ...changes })
  return { ...made, text: textOf(directory) }
}

function textOf(directory: string): string {
  return readdirSync(directory)
    .sort()
    .map((name) => `${name}\n${readFileSync(join(directory, name), 'utf8')}`)
    .join('')
}

test('the same options give the same bytes', async (t) => {
  const folder = temporaryFolder(t)
  const one = await generate(join(folder, 'one'))
  const two = await generate(join(folder, 'two'))
  assert.ok(one.text === two.text)
  assert.deepEqual(one.plantedSummary, two.plantedSummary)
})

test('another seed gives other calls, and another end other writers', async (t) => {
  const folder = temporaryFolder(t)
  const writersOf = (text: string) => new Set(text.match(/"w":"[0-9a-f]{32}"/g))
  const one = writersOf((await generate(join(folder, 'one'))).text)
  const seed = writersOf((await generate(join(folder, 'seed'), { seed: 8 })).text)
  const end = writersOf((await generate(join(folder, 'end'), { endMs: OPTIONS.endMs + 1 })).text)
  for (const writer of one) {
    assert.ok(!seed.has(writer))
    assert.ok(!end.has(writer))
  }
})

test('as many calls are written as were asked for, none after the end', async (t) => {
  const directory = join(temporaryFolder(t), 'logs')
  const made = await generate(directory)
  const lines = linesOf(readLogFiles(directory))
  const calls = callsIn(lines)
  assert.equal(calls.length, OPTIONS.calls)
  assert.equal(made.calls, OPTIONS.calls)
  assert.equal(made.lines, lines.length)
  assert.equal(made.files.length, readdirSync(directory).length)
  assert.ok(lines.every(({ time }) => time <= OPTIONS.endMs))
  const firstMs = OPTIONS.endMs - OPTIONS.days * 86_400_000
  assert.ok(calls.every(({ started }) => started >= firstMs))
})

test('a night that has 02:00 twice has two windows', async (t) => {
  const { plantedSummary } = await generate(join(temporaryFolder(t), 'logs'))
  const night = plantedSummary.nightly.filter(({ date }) => date === '2026-10-25')
  assert.deepEqual(
    night.map(({ fromMs, toMs }) => [fromMs, toMs]),
    [
      [Date.UTC(2026, 9, 25, 0, 0), Date.UTC(2026, 9, 25, 0, 20)],
      [Date.UTC(2026, 9, 25, 1, 0), Date.UTC(2026, 9, 25, 1, 20)],
    ],
  )
})

test('every night that is hit has time-outs, and every Sunday a refused call', async (t) => {
  const { plantedSummary } = await generate(join(temporaryFolder(t), 'logs'))
  const { nightly, weekly } = plantedSummary
  assert.equal(nightly.length, 15)
  for (const night of nightly) assert.equal(night.failures > 0, night.hit, night.date)
  assert.equal(weekly.length, 2)
  for (const { calls, failures } of weekly) assert.deepEqual([calls, failures], [1, 1])
})

test('from a thousand calls a day the scheduler calls every five minutes', async (t) => {
  const directory = join(temporaryFolder(t), 'logs')
  await generate(directory, { days: 7, calls: 7_000 })
  const lines = linesOf(readLogFiles(directory))
  const rates = callsIn(lines)
    .filter(
      ({ tool, client }) => tool === 'get_exchange_rate' && client?.name === 'nightly-scheduler',
    )
    .sort((one, other) => one.started - other.started)
  const slots = new Set(rates.map(({ started }) => Math.floor(started / 300_000)))
  assert.ok(slots.size > 7 * 288 * 0.99, `${slots.size} slots`)
  const start = lines.find(({ kind }) => kind === 'start')
  assert.ok(start?.kind === 'start')
  assert.equal(start.beat_ms, 1_800_000)
})

test('progress ends at all calls', async (t) => {
  const seen: number[] = []
  const directory = join(temporaryFolder(t), 'logs')
  await generate(directory, { onProgress: ({ calls }) => seen.push(calls) })
  assert.equal(seen.at(-1), OPTIONS.calls)
  assert.ok(seen.length > 100)
})

const refusals: [string, Partial<SampleOptions>, RegExp][] = [
  ['too few days', { days: 6 }, /days is 6: write a whole number from 7 to 366/],
  ['half a day', { days: 7.5 }, /days is 7\.5/],
  ['too few calls', { calls: 100 }, /calls is 100: write a whole number from 1232/],
  ['a negative seed', { seed: -1 }, /seed is -1/],
  ['an end that is no time', { endMs: Number.NaN }, /end is out of range/],
]
for (const [what, changes, message] of refusals) {
  test(`refuses ${what} and says what to write`, async (t) => {
    const directory = join(temporaryFolder(t), 'logs')
    await assert.rejects(generateSampleLogs({ ...OPTIONS, directory, ...changes }), {
      name: 'SampleLogError',
      message,
    })
    assert.throws(() => readdirSync(directory), 'nothing is made for refused options')
  })
}

test('refuses a file in place of a directory', async (t) => {
  const directory = join(temporaryFolder(t), 'file')
  writeFileSync(directory, 'mine')
  await assert.rejects(generateSampleLogs({ ...OPTIONS, directory }), {
    name: 'SampleLogError',
    message: /cannot be used .*: name a directory that can be written/,
  })
  assert.equal(readFileSync(directory, 'utf8'), 'mine')
})
