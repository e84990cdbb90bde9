import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runIngest } from '../../ingest/run-ingest.ts'
import { SMALL_SAMPLE } from '../../sample-logs/small-sample.ts'
import { createFindings, type Findings } from '../../web/analysis/findings.ts'
import { loopGroups } from '../../web/analysis/loop-findings.ts'
import { silencesIn } from '../../web/analysis/silence-findings.ts'
import type { CallStore } from '../../web/queries/call-store.ts'
import { defaultFilter, type Filter, parseFilter } from '../../web/queries/filter.ts'
import { openCallStore } from '../../web/queries/sqlite-call-store.ts'

// The whole way from the committed log files, through the real ingest, to the findings.

const LOGS = resolve(fileURLToPath(import.meta.url), '../../../sample-logs/small')
const ZONE = 'Europe/Berlin'
const NOW = SMALL_SAMPLE.options.endMs
const context = { nowMs: NOW, defaultZone: ZONE }

let directory: string
let store: CallStore
let findings: Findings

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'unsilent-sample-'))
  const databasePath = join(directory, 'unsilent.db')
  const logs = join(directory, 'logs')
  cpSync(LOGS, logs, { recursive: true })
  await runIngest({ roots: [logs], databasePath, once: true, now: () => NOW })
  store = openCallStore(databasePath, { now: () => NOW })
  findings = createFindings(store, { zone: ZONE, now: () => NOW })
})

after(() => {
  findings.close()
  store.close()
  rmSync(directory, { recursive: true, force: true })
})

const everything = (): Filter => ({ ...defaultFilter(context), fromMs: NOW - 30 * 86_400_000 })

test('every call of the logs is counted once', () => {
  const figures = store.keyFigures(everything())
  assert.equal(figures.calls, SMALL_SAMPLE.calls)
  assert.deepEqual(figures.byOutcome, SMALL_SAMPLE.byOutcome)
  assert.equal(figures.sessions, SMALL_SAMPLE.sessions)
  const classes = store.facets(everything()).class
  assert.deepEqual(
    Object.fromEntries(classes.map(({ value, calls }) => [value, calls])),
    SMALL_SAMPLE.byClass,
  )
})

test('exactly the planted windows, arguments, loops and silences are found, each with its evidence', () => {
  const sentences = findings.current().map(({ sentence }) => sentence)
  assert.equal(sentences.length, 11, sentences.join('\n'))
  const found = (words: RegExp) => sentences.filter((sentence) => words.test(sentence)).length
  assert.equal(
    found(
      /^`get_exchange_rate` times out between 02:00 and 02:20 \(Europe\/Berlin\), 24 of 27 nights\.$/,
    ),
    1,
  )
  assert.equal(
    found(
      /^`reindex_collection` loses its connection on Sundays between about 04:20 and 04:25 \(UTC\), 4 of 4 Sundays\.$/,
    ),
    1,
  )
  assert.equal(
    found(/^`search_documents` is sent `pattern`, in place of `query`: 78 calls in 64 of /),
    1,
  )
  assert.equal(found(/^`list_invoices` gets a string in `limit` where an integer/), 1)
  assert.equal(found(/^`get_document` is sent `format`, which it ignores: 77 calls /), 1)
  assert.equal(
    found(/^`docs-search` ended without a word .* was silent for 5 hours, with 3 calls of /),
    1,
  )
  assert.equal(
    found(/^`billing` crashed on Mon 23 Mar 14:20: Cannot read properties of undefined/),
    1,
  )
  assert.equal(
    found(/^`billing` refused to start .*: The environment variable BILLING_EXPORT_KEY/),
    1,
  )
  for (const { evidenceQuery, impact, sentence } of findings.current()) {
    const parsed = parseFilter(new URLSearchParams(evidenceQuery), context)
    assert.ok(parsed.ok)
    assert.equal(store.calls(parsed.filter, { limit: 1 }).total, impact.calls, sentence)
  }
})

test('the loops are those planted', () => {
  const { loops } = SMALL_SAMPLE
  const groups = loopGroups(store, everything(), NOW)
  const found = groups.flatMap((group) => group.loops)
  assert.equal(found.length, loops.loops)
  assert.equal(found.flatMap(({ calls }) => calls).length, loops.calls)
  assert.equal(found.filter(({ ending }) => ending === 'recovered').length, loops.recovered)
})

test('the nightly window keeps to the local clock and the nights are those planted', () => {
  const [window] = findings.windows()
  assert.equal(window?.grade, 'confirmed')
  assert.equal(window?.zone, ZONE)
  assert.equal(window?.fixedIn.kind === 'zone' && window.fixedIn.zone, ZONE)
  assert.equal(window?.inside.failures, SMALL_SAMPLE.nightly.failures)
  assert.equal(window?.inside.calls, SMALL_SAMPLE.nightly.calls)
  const spared = window?.occurrences.filter(({ hit }) => !hit).map(({ startMs }) => startMs)
  assert.deepEqual(
    spared?.map((ms) => new Date(ms + 12 * 3_600_000).toISOString().slice(0, 10)),
    SMALL_SAMPLE.nightly.spared,
  )
})

test('the process that was killed is known with the calls it had open', () => {
  const [silence, ...others] = silencesIn(store, everything(), NOW).filter(
    ({ kind }) => kind === 'killed',
  )
  assert.equal(others.length, 0)
  assert.equal(silence?.server, SMALL_SAMPLE.silence.server)
  assert.equal(silence?.toMs, SMALL_SAMPLE.silence.backMs)
  assert.deepEqual(
    silence?.process.openCalls.map(({ call }) => call).sort(),
    SMALL_SAMPLE.silence.openCalls,
  )
})

test('lost numbers of a writer are shown as a gap', () => {
  const { dropped } = SMALL_SAMPLE
  assert.deepEqual(
    store.ingestHealth().gaps.map(({ writer, firstN, lastN }) => [writer, firstN, lastN]),
    [[dropped.writer, dropped.fromN, dropped.toN]],
  )
})
