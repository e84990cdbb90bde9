import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  DEFAULT_MAX_RESULT_BYTES,
  DEFAULT_TOOL_OPTIONS,
  OPTION_NAMES,
} from '../../server/wrapper/options.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/wrapper.md'), 'utf8')
const rows = page.split('\n').filter((line) => line.startsWith('| `'))

test('every option has a row in docs/wrapper.md', () => {
  for (const name of OPTION_NAMES) {
    assert.ok(
      rows.some((row) => row.startsWith(`| \`${name}\``)),
      `docs/wrapper.md has no row for the option ${name}`,
    )
  }
})

test('the defaults in docs/wrapper.md are those of the code', () => {
  const defaults = { ...DEFAULT_TOOL_OPTIONS, maxResultBytes: DEFAULT_MAX_RESULT_BYTES }
  for (const [name, value] of Object.entries(defaults)) {
    const row = rows.find((line) => line.startsWith(`| \`${name}\``)) ?? ''
    const written = typeof value === 'string' ? `'${value}'` : String(value)
    assert.ok(
      row.split('|')[2]?.includes(`\`${written}\``),
      `${name} is ${written}; the row: ${row}`,
    )
  }
})
