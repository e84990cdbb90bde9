import assert from 'node:assert/strict'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runIngest } from '../../ingest/run-ingest.ts'
import { startWeb } from '../../web/start-web.ts'
import { textOf } from './fixtures/page-text.ts'

const HOSTILE = join(
  dirname(fileURLToPath(import.meta.url)),
  '..',
  '..',
  'sample-logs',
  'hostile.jsonl',
)

test('refused lines are told with their reason and their place', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'unsilent-web-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  copyFileSync(HOSTILE, join(folder, 'hostile.jsonl'))
  const databasePath = join(folder, 'unsilent.db')
  const summary = await runIngest({ roots: [folder], databasePath, once: true })
  const web = await startWeb({ databasePath, port: 0, zone: 'UTC' })
  t.after(() => web.close())

  const text = textOf(await (await fetch(`${web.url}/ingest`)).text())
  const refused = Object.values(summary.quarantined).reduce((sum, lines) => sum + lines, 0)
  assert.ok(refused > 0)
  assert.match(text, new RegExp(`Refused ${refused} lines that are no record`))
  assert.match(text, /not JSON: a banner or a stack trace: \d+ lines?/)
  assert.match(text, /hostile\.jsonl:\d+ byte [\d,]+/)
  assert.match(text, new RegExp(`Watched: ${folder}`))
})
