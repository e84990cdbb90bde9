import { LEGEND } from './columns.ts'
import { faults, soundTools, unseeable } from './corpus.ts'
import type { Fault } from './fault.ts'
import type { Verdict } from './judge.ts'
import type { ColumnResult } from './run-column.ts'

const WHAT_WIDTH = 52
const CELL_WIDTH = 11

/** A row a fault, a cell a column: what the client saw, `+` where the log shows it, `!` if silent. */
export function printTable(results: readonly ColumnResult[]): void {
  if (results.some(({ column }) => column.options)) console.log(`\n${LEGEND}`)
  console.log(
    `\n${row(
      '',
      results.map(({ column }) => column.label),
    )}`,
  )
  let group = ''
  for (const fault of faults) {
    if (fault.group !== group) console.log(`\n${fault.group}`)
    group = fault.group
    console.log(faultRow(fault, results))
  }
  console.log('\nnot counted: a plausible answer that is wrong, which nobody outside can see')
  for (const fault of unseeable) console.log(faultRow(fault, results))
}

function faultRow({ id, what }: Fault, results: readonly ColumnResult[]): string {
  const cells = results.map(({ verdicts }) => cell(verdicts.get(id)))
  return row(`  ${`${id}  `.padEnd(22)}${what}`, cells)
}

function cell(verdict: Verdict | undefined): string {
  if (!verdict) return '?'
  return `${verdict.saw}${verdict.logged ? ' +' : ''}${verdict.silent ? ' !' : ''}`
}

function row(what: string, cells: readonly string[]): string {
  const left = what.length > WHAT_WIDTH ? `${what.slice(0, WHAT_WIDTH - 1)}…` : what
  return [left.padEnd(WHAT_WIDTH), ...cells.map((text) => text.padEnd(CELL_WIDTH))]
    .join(' ')
    .trimEnd()
}

export function printCounts(results: readonly ColumnResult[]): void {
  const counts = (matches: (verdict: Verdict) => boolean) =>
    results.map(({ verdicts }) =>
      String(faults.filter(({ id }) => matches(verdicts.get(id) as Verdict)).length),
    )
  console.log(
    `\n${row(
      `of ${faults.length} faults`,
      results.map(({ column }) => column.label),
    )}`,
  )
  const line = (what: string, matches: (verdict: Verdict) => boolean) =>
    console.log(row(what, counts(matches)))
  line('silent: client not told, log without a mark', ({ silent }) => silent)
  line('misled: a failure taken for data', ({ misled }) => misled)
  line('unexplained, to client and operator', ({ unexplained }) => unexplained)
  line('the client was told the cause', ({ saw }) => saw === 'cause')
  line('a success with a warning beside it', ({ saw }) => saw === 'warned')
  console.log(
    row(
      `false alarms, of ${soundTools.length} sound calls`,
      results.map(({ falseAlarms }) => String(falseAlarms.length)),
    ),
  )
  for (const { column, falseAlarms } of results) {
    if (falseAlarms.length > 0) console.log(`  ${column.label}: ${falseAlarms.join(', ')}`)
  }
}

/** What a script may look for: only of our own columns, all of them together. */
export function printLastWords(results: readonly ColumnResult[]): void {
  const own = results.filter(({ column }) => column.options)
  const those = (list: readonly ColumnResult[], key: 'silent' | 'misled') =>
    faults.filter(({ id }) => list.some(({ verdicts }) => verdicts.get(id)?.[key]))
  const strict = own.filter(({ column }) => column.options?.suspect === 'error')
  const lenient = own.filter((result) => !strict.includes(result))
  const silent = those(own, 'silent')
  const misled = those(strict, 'misled')
  console.log('')
  if (silent.length > 0) console.log(`silent are: ${silent.map(({ id }) => id).join(', ')}`)
  if (misled.length > 0) console.log(`misled by: ${misled.map(({ id }) => id).join(', ')}`)
  if (lenient.length > 0) {
    console.log(`misled with default options: ${those(lenient, 'misled').length}`)
  }
  if (strict.length > 0) console.log(`misled with suspect 'error': ${misled.length}`)
  console.log(`${faults.length} faults`)
  if (own.length > 0) console.log(`silent: ${silent.length}`)
}
