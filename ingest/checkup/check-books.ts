import { checkInvariants, type Invariant } from '../store/check-invariants.ts'
import type { Database } from '../store/load-sqlite.ts'
import { isSqliteError } from '../store/store-error.ts'
import { type Finding, finding, ok, plural } from './finding.ts'

type Book = { about: Invariant; balanced: string; advice: string }

export const REBUILD =
  'Stop what ingests, move the database aside (do not delete it), and run `unsilent ingest` over the logs; then restore the rest from a backup.'
const REPORT =
  'This is a fault of ours: keep the database and report it; ingesting the logs into a new one with --db repairs it.'

/** The file first: in a damaged one the other sums mean nothing. */
const BOOKS: readonly Book[] = [
  { about: 'damage', balanced: 'SQLite finds the file whole.', advice: REBUILD },
  { about: 'bytes', balanced: 'Every byte that was read is accounted for.', advice: REPORT },
  { about: 'sequence', balanced: 'Every stored record is among its numbers.', advice: REPORT },
  { about: 'counts', balanced: 'Every sum is the sum of its rows.', advice: REPORT },
]

const MAX_TOLD = 3

/** Both invariants and SQLite's own checks. Reads the whole database: seconds a million calls. */
export function checkBooks(database: Database): Finding[] {
  const findings: Finding[] = []
  for (const { about, balanced, advice } of BOOKS) {
    const faults = faultsOf(database, about)
    if (faults.length === 0) findings.push(ok(about, balanced))
    for (const fault of faults.slice(0, MAX_TOLD)) {
      findings.push(finding(about, 'error', fault, advice))
    }
    if (about === 'damage' && faults.length > 0) return findings
  }
  return [...findings, ...checkGaps(database)]
}

function faultsOf(database: Database, about: Invariant): string[] {
  try {
    return checkInvariants(database, about)
  } catch (error) {
    if (!isSqliteError(error)) throw error
    return [`SQLite cannot read the database (${(error as Error).message}).`]
  }
}

const GAPS = `SELECT w, server.name AS server, exited_ms IS NOT NULL AS exited,
    range.first_n - previous_n - 1 AS records,
    EXISTS (SELECT 1 FROM process_event WHERE writer_id = writer.id AND kind = 'drop') AS told
  FROM (
    SELECT writer_id, first_n, LAG(last_n, 1, 0) OVER (PARTITION BY writer_id ORDER BY first_n) AS previous_n
    FROM writer_range WHERE last_n > 0
  ) AS range
  JOIN writer ON writer.id = range.writer_id LEFT JOIN server ON server.id = writer.server_id
  WHERE stamped = 1 AND range.first_n > previous_n + 1`

type GapRow = { w: string; server: string | null; exited: number; records: number; told: number }

/** Numbers that a writer has given out and that nobody has read. */
function checkGaps(database: Database): Finding[] {
  const gaps = database.prepare(GAPS).all() as GapRow[]
  if (gaps.length === 0) return [ok('lost', 'No record is missing in a sequence.')]
  const sum = (rows: readonly GapRow[]): number => rows.reduce((all, row) => all + row.records, 0)
  const writers = new Set(gaps.map(({ w }) => w)).size
  const servers = [...new Set(gaps.map(({ server }) => server ?? 'an unknown server'))]
  const dropped = sum(gaps.filter(({ told }) => told === 1))
  const reasons =
    dropped > 0 ? `; of writers that told of records they could not write ${dropped}` : ''
  return [
    finding(
      'lost',
      'warning',
      `${plural(sum(gaps), 'record')} of ${plural(writers, 'writer')} of ${servers.slice(0, MAX_TOLD).join(', ')} were written and never read${reasons}.`,
      'If their log files are still somewhere, ingest them: the gaps close. Else see that logs are kept longer than ingesting lags.',
    ),
  ]
}
