import type { Statement } from 'better-sqlite3'
import type { Database } from '../../ingest/store/load-sqlite.ts'
import type { Filter } from './filter.ts'
import { chosenIds, type Names, readNames } from './names.ts'
import { loopIds } from './repeat-questions.ts'
import { searchBound } from './search-bound.ts'
import {
  type CallCondition,
  callCondition,
  countCondition,
  failureCondition,
  isNarrow,
  keepsFailuresOnly,
} from './sql/conditions.ts'
import { callSource, countSource, keptSource, removedSource, type Source } from './sql/counts.ts'
import { CONTENT_MARK, type ContentRow } from './sql/health.ts'

const MAX_STATEMENTS = 200
const MAX_ANSWERS = 48

export type Value = number | string | null

/** What a question is asked over: where its calls are counted, and where they are listed. */
export type Selection = {
  counts: Source
  /**
   * Where calls are counted whose rows are kept, and whose are not; a session, a signature, a text
   * or a mark does not count here, since only rows know of them.
   */
  kept: Source
  removed: Source
  /** In no order: by the index that reads fewest rows. */
  calls: CallCondition
  /** For reading newest first and stopping early. */
  callsByTime: CallCondition
}

/** One read-only connection with its prepared statements and the answers it has just given. */
export type Reader = {
  all<Row>(sql: string, values?: readonly Value[]): Row[]
  first<Row>(sql: string, values?: readonly Value[]): Row | undefined
  names(): Names
  select(filter: Filter): Selection
  /** Grows whenever rows were added or pruned. */
  version(): number
  /** The answer of `compute`, kept until the database changes. */
  remember<Answer>(question: string, filter: Filter | undefined, compute: () => Answer): Answer
}

export function createReader(database: Database): Reader {
  const statements = new Map<string, Statement<Value[]>>()
  const answers = new Map<string, unknown>()
  const version = createVersion(database)
  let names: { at: number; value: Names } | undefined
  let answersAt = 0

  function prepared(sql: string): Statement<Value[]> {
    const known = statements.get(sql)
    if (known) return known
    if (statements.size >= MAX_STATEMENTS) dropOldest(statements)
    const statement = database.prepare<Value[]>(sql)
    statements.set(sql, statement)
    return statement
  }

  const reader: Reader = {
    all: <Row>(sql: string, values: readonly Value[] = []) => prepared(sql).all(...values) as Row[],
    first: <Row>(sql: string, values: readonly Value[] = []) =>
      prepared(sql).get(...values) as Row | undefined,
    names() {
      const at = version()
      if (names?.at !== at) names = { at, value: readNames(database) }
      return names.value
    },
    select(filter) {
      const ids = chosenIds(filter, reader.names())
      const byTime = callCondition(filter, ids, {
        loopIds: namesLoops(filter) ? loopIds(reader, filter) : [],
        textFromMs: filter.text === undefined ? 0 : searchBound(reader, filter).fromMs,
      })
      const counted = countCondition(filter, ids)
      const sources = { kept: keptSource(counted), removed: removedSource(counted) }
      if (isNarrow(filter)) {
        return { ...sources, counts: callSource(byTime), calls: byTime, callsByTime: byTime }
      }
      const calls = keepsFailuresOnly(ids)
        ? failureCondition(byTime, ids, { tools: [...reader.names().tools.keys()] })
        : byTime
      return { ...sources, counts: countSource(counted), calls, callsByTime: byTime }
    },
    version,
    remember<Answer>(question: string, filter: Filter | undefined, compute: () => Answer): Answer {
      const at = version()
      if (at !== answersAt) answers.clear()
      answersAt = at
      // The words of the range do not matter, only where it begins and ends.
      const key = question + JSON.stringify({ ...filter, from: '', to: '' })
      if (answers.has(key)) return answers.get(key) as Answer
      if (answers.size >= MAX_ANSWERS) dropOldest(answers)
      const answer = compute()
      answers.set(key, answer)
      return answer
    },
  }
  return reader
}

function namesLoops({ flag: { include, exclude } }: Filter): boolean {
  return include.includes('loop') || exclude.includes('loop')
}

function dropOldest(map: Map<string, unknown>): void {
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}

/**
 * `data_version` tells for nothing whether anybody else has committed; what was committed may be a
 * mere heartbeat of the ingester, so the content is asked then.
 */
function createVersion(database: Database): () => number {
  const dataVersion = database.prepare('PRAGMA data_version').pluck()
  const content = database.prepare<[], ContentRow>(CONTENT_MARK)
  let seen: unknown
  let mark = ''
  let version = 0
  return () => {
    const now = dataVersion.get()
    if (now === seen) return version
    const found = JSON.stringify(content.get())
    seen = now
    if (found !== mark) version++
    mark = found
    return version
  }
}
