import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { generateSampleLogs } from '../../sample-logs/generate-sample-logs.ts'
import { SMALL_SAMPLE } from '../../sample-logs/small-sample.ts'
import { samplesFolder, smallFolder, temporaryFolder } from './read-logs.ts'

test('the committed sample is what its options generate, byte by byte', async (t) => {
  const directory = join(temporaryFolder(t), 'logs')
  const made = await generateSampleLogs({ ...SMALL_SAMPLE.options, directory })

  // An ingester leaves its own mark in the folders it reads.
  const names = readdirSync(smallFolder)
    .filter((name) => !name.startsWith('.'))
    .sort()
  assert.deepEqual(readdirSync(directory).sort(), names)
  for (const name of names) {
    const same = readFileSync(join(directory, name)).equals(readFileSync(join(smallFolder, name)))
    assert.ok(same, `${name} differs: see sample-logs/README.md for how to make it anew`)
  }
  assert.equal(made.files.length, SMALL_SAMPLE.files)
  assert.equal(made.lines, SMALL_SAMPLE.lines)
  assert.equal(made.calls, SMALL_SAMPLE.calls)
})

test('what is said of the committed sample is what was counted while it was made', async (t) => {
  const directory = join(temporaryFolder(t), 'logs')
  const { plantedSummary: made } = await generateSampleLogs({ ...SMALL_SAMPLE.options, directory })
  const said = SMALL_SAMPLE

  assert.deepEqual(made.calls, said.byPlant)
  assert.deepEqual(made.wrongName, said.wrongName)
  assert.deepEqual(made.stringNumber, said.stringNumber)
  assert.equal(made.loops, said.loops.loops)
  assert.equal(made.rateLimitBursts, said.rateLimitBursts)
  assert.deepEqual(made.rotated.files, said.rotated)
  assert.deepEqual(made.versionChanges, said.versionChanges)
  assert.equal(made.fatalStart.atMs, said.fatalStart.atMs)
  assert.equal(made.crash.call, said.crash.call)
  assert.deepEqual(made.silence.openCalls, said.silence.openCalls)
  assert.equal(made.silence.diedMs, said.silence.diedMs)
  assert.equal(made.silence.backMs, said.silence.backMs)
  const { writer, fromN, toN } = made.dropped
  assert.deepEqual({ writer, fromN, toN }, said.dropped)
})

test('the committed sample is small', () => {
  const sizes = readdirSync(smallFolder).map((name) => statSync(join(smallFolder, name)).size)
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  assert.ok(bytes <= 3_000_000, `${bytes} bytes`)
})

test('the README says the numbers of the committed sample', () => {
  const readme = readFileSync(join(samplesFolder, 'README.md'), 'utf8').replace(/\s+/g, ' ')
  const { byPlant, nightly, weekly, wrongName, loops, dropped, silence, crash } = SMALL_SAMPLE
  const phrases = [
    `${SMALL_SAMPLE.lines.toLocaleString('en-US')} lines`,
    `${SMALL_SAMPLE.calls.toLocaleString('en-US')} calls`,
    `${nightly.hit} of ${nightly.windows} nights`,
    `${nightly.failures} of ${nightly.calls} calls`,
    `${weekly.failures} of ${weekly.calls} calls`,
    `${byPlant.wrong_name} calls in ${wrongName.sessions} sessions`,
    `corrected in ${wrongName.corrected}`,
    `${byPlant.string_number} calls`,
    `${byPlant.hallucinated} calls`,
    `${loops.loops} loops, ${loops.calls} calls`,
    `${byPlant.rate_limited} calls in ${SMALL_SAMPLE.rateLimitBursts} bursts`,
    `n ${dropped.fromN} to ${dropped.toN}`,
    ...silence.openCalls.slice(0, 1),
    crash.call,
    ...nightly.spared,
    ...SMALL_SAMPLE.rotated,
  ]
  for (const phrase of phrases) assert.ok(readme.includes(phrase), `README.md lacks "${phrase}"`)
})
