/** `npm run bench:silence -- [--only column,column] [--no-trial] [--keep]`; see judge.ts for the rules. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startCollector } from './collector.ts'
import { type Column, columns } from './columns.ts'
import { nodeArguments } from './compile.ts'
import { installPeers } from './peers.ts'
import { type Bench, type ColumnResult, runColumn } from './run-column.ts'
import { printCounts, printLastWords, printTable } from './table.ts'
import { runTrial } from './trial.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    keep: { type: 'boolean' },
    'no-trial': { type: 'boolean' },
  },
})
const chosen = chooseColumns(values.only)
const peers = chosen.some(({ needsPeers }) => needsPeers) ? await installPeers() : undefined
const folder = mkdtempSync(join(tmpdir(), 'unsilent-silence-'))
const collector = await startCollector()
const node = await nodeArguments('silence/server')
const bench: Bench = { collector, folder, peers: peers ?? '', node }

const possible = chosen.filter(({ needsPeers }) => !needsPeers || peers !== undefined)
const results: ColumnResult[] = []
// In pairs: a column spends most of its time on waiting.
while (possible.length > 0) {
  results.push(...(await Promise.all(possible.splice(0, 2).map(timed))))
}
printTable(results)
printCounts(results)
if (!values['no-trial']) await runTrial(bench)
printLastWords(results)
collector.close()
if (!values.keep) rmSync(folder, { recursive: true, force: true })
else console.error(folder)
process.exit(0)

async function timed(column: Column): Promise<ColumnResult> {
  const startedAt = Date.now()
  const result = await runColumn(column, bench)
  console.error(`${column.label}: ${((Date.now() - startedAt) / 1_000).toFixed(1)} s`)
  return result
}

/** `unsilent` means its two settings on SDK v1. */
function chooseColumns(only: string | undefined): Column[] {
  if (only === undefined) return [...columns]
  const ids = only.split(',').flatMap((id) => (id === 'unsilent' ? [id, 'unsilent-strict'] : [id]))
  const unknown = ids.find((id) => !columns.some((column) => column.id === id))
  if (unknown !== undefined) {
    const known = columns.map(({ id }) => id).join(', ')
    console.error(`There is no column "${unknown}". Choose from: ${known}.`)
    process.exit(2)
  }
  return columns.filter(({ id }) => ids.includes(id))
}
