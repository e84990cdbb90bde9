import { readTrouble } from '../store/health-file.ts'
import type { Database } from '../store/load-sqlite.ts'
import { isLeaseHeld } from '../worker/lease.ts'
import { bytesText, type Finding, finding, ok, plural } from './finding.ts'

/** While it works it looks at least every five seconds. */
const SILENT_MS = 60_000
const LAG_BYTES = 64 * 1024 * 1024
const START = 'Start `unsilent serve`, or `unsilent ingest`.'

type IngesterRow = {
  pid: number
  last_poll_ms: number
  lag_bytes: number
  problems: string
}

/** What the ingester last said of the database, in a file beside it. */
export function checkTrouble(databasePath: string): Finding[] {
  const trouble = readTrouble(databasePath)
  if (!trouble) return []
  const since = new Date(trouble.sinceMs).toISOString()
  const end = trouble.ended ? 'It has ended' : 'It tries again by itself'
  const found = `Process ${trouble.pid} could not ingest since ${since} (${trouble.state}): ${trouble.message}`
  return [
    finding(
      'ingester',
      'error',
      found,
      `${end}; when this is mended, ${trouble.ended ? 'start it again' : 'it goes on'}.`,
    ),
  ]
}

/** Who reads the logs, whether it does, and how far it has come. */
export function checkIngester(databasePath: string, database: Database, nowMs: number): Finding[] {
  const row = database.prepare('SELECT * FROM ingester').get() as IngesterRow | undefined
  const held = isLeaseHeld(databasePath)
  if (!row) {
    return [finding('ingester', 'warning', 'Nothing has ever been read into the database.', START)]
  }
  const ageMs = nowMs - row.last_poll_ms
  const since = `last looked ${ageText(ageMs)} ago`
  if (!held)
    return [
      finding('ingester', 'warning', `Nobody reads the logs: process ${row.pid} ${since}.`, START),
      ...problemsOf(row),
    ]
  if (ageMs > SILENT_MS) {
    return [
      finding(
        'ingester',
        'error',
        `Process ${row.pid} holds the database and does not read: it ${since}.`,
        `See what it says on its terminal; where it hangs, end it (\`kill ${row.pid}\`) and start it again.`,
      ),
      ...problemsOf(row),
    ]
  }
  return [
    ok('ingester', `Process ${row.pid} reads the logs; it ${since}.`),
    checkLag(row),
    ...problemsOf(row),
  ]
}

function checkLag({ lag_bytes: bytes }: IngesterRow): Finding {
  if (bytes < LAG_BYTES) return ok('lag', `${bytesText(bytes)} wait to be read.`)
  return finding(
    'lag',
    'warning',
    `${bytesText(bytes)} wait to be read.`,
    'It catches up by itself; if this grows, more is written than this machine can read, or the disk is slow.',
  )
}

function problemsOf({ problems }: IngesterRow): Finding[] {
  const list: unknown = JSON.parse(problems)
  if (!Array.isArray(list)) return []
  return list.map((problem) => finding('ingester', 'warning', String(problem)))
}

const REFUSED = 'SELECT COALESCE(SUM(lines), 0) FROM quarantine'

export function checkQuarantine(database: Database): Finding[] {
  const lines = database.prepare(REFUSED).pluck().get() as number
  if (lines === 0) return [ok('quarantine', 'No line was refused.')]
  return [
    finding(
      'quarantine',
      'note',
      `${plural(lines, 'line')} of the logs ${lines === 1 ? 'was' : 'were'} refused.`,
      'See which and why with `unsilent quarantine`.',
    ),
  ]
}

function ageText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 120) return plural(seconds, 'second')
  const minutes = Math.round(seconds / 60)
  if (minutes < 120) return plural(minutes, 'minute')
  const hours = Math.round(minutes / 60)
  return hours < 48 ? plural(hours, 'hour') : plural(Math.round(hours / 24), 'day')
}
