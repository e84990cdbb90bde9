import type { Database } from '../../ingest/store/load-sqlite.ts'
import { openReader } from '../../ingest/store/open-database.ts'
import { call, calls, startTimes } from './call-questions.ts'
import type { CallStore } from './call-store.ts'
import { callsOverTime, facets, heatmap, impact, keyFigures, tools } from './count-questions.ts'
import { extentOf } from './extent.ts'
import { readIngestHealth } from './ingest-health.ts'
import { lateEndings } from './late-questions.ts'
import { processes } from './process-questions.ts'
import { quarterSeries } from './quarter-series.ts'
import { createReader } from './reader.ts'
import { repeatingSessions } from './repeat-questions.ts'
import { resultDays } from './result-questions.ts'
import { signatures, wrongNames } from './signature-questions.ts'

/**
 * Opens the database for reading; throws StoreError where it cannot be. Close it when done.
 * `now` only decides which bucket of a chart is still filling.
 */
export function openCallStore(
  databasePath: string,
  options: { now?: (() => number) | undefined } = {},
): CallStore {
  return callStoreOf(openReader(databasePath), options.now ?? Date.now)
}

function callStoreOf(database: Database, now: () => number): CallStore {
  const reader = createReader(database)
  const store: CallStore = {
    keyFigures: (filter) => keyFigures(reader, filter),
    impact: (filter) => impact(reader, filter),
    callsOverTime: (filter) => callsOverTime(reader, filter, now()),
    tools: (filter) => tools(reader, filter),
    heatmap: (filter) => heatmap(reader, filter),
    facets: (filter) => facets(reader, filter),
    calls: (filter, page) => calls(reader, filter, page),
    call: (id) => call(reader, id),
    quarterSeries: (filter) => quarterSeries(reader, filter),
    signatures: (filter) => signatures(reader, filter),
    wrongNames: (filter) => wrongNames(reader, filter),
    repeatingSessions: (filter) => repeatingSessions(reader, filter),
    resultDays: (filter) => resultDays(reader, filter),
    processes: (range) => processes(reader, range),
    lateEndings: (range) => lateEndings(reader, range),
    startTimes: (filter, limit) => startTimes(reader, filter, limit),
    ingestHealth: () => readIngestHealth(database),
    dataVersion: () => reader.version(),
    extent: () => extentOf(reader),
    snapshot: (questions) => database.transaction(() => questions(store))(),
    close: () => {
      database.close()
    },
  }
  return store
}
