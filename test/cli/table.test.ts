import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Column, formatTable, formatTsv } from '../../web/cli/table.ts'

type Row = { tool: string; failures: number; message: string }

const columns: Column<Row>[] = [
  { title: 'TOOL', text: (row) => row.tool },
  { title: 'FAILURES', align: 'right', text: (row) => String(row.failures) },
  { title: 'MESSAGE', flexible: true, text: (row) => row.message },
]

const rows: Row[] = [
  { tool: 'get_invoice', failures: 12, message: 'fetch failed' },
  { tool: 'search', failures: 3, message: 'Missing required parameter `query`' },
]

describe('a table', () => {
  test('is aligned, numbers to the right', () => {
    assert.equal(
      formatTable(rows, columns, { width: 80, styled: false }),
      [
        'TOOL         FAILURES  MESSAGE',
        'get_invoice        12  fetch failed',
        'search              3  Missing required parameter `query`',
        '',
      ].join('\n'),
    )
  })

  test('fits a narrow terminal by cutting the flexible column', () => {
    const lines = formatTable(rows, columns, { width: 40, styled: false }).split('\n')
    assert.equal(lines[2], 'search              3  Missing required…')
    for (const line of lines) assert.ok(line.length <= 40, line)
  })

  test('has bold titles only where asked for', () => {
    assert.ok(formatTable(rows, columns, { width: 80, styled: true }).startsWith('\u001b[1mTOOL'))
  })

  test('D3: cannot be broken or coloured by what a log holds', () => {
    const hostile = [{ tool: 'a\u001b[31mred', failures: 1, message: 'x\r\ny\tz\u202eevil\u0000' }]
    const text = formatTable(hostile, columns, { width: 80, styled: false })
    assert.equal(text.split('\n')[1], 'a [31mred         1  x y z evil')
    assert.equal(formatTsv(hostile, columns).split('\n')[1], 'a [31mred\t1\tx y z evil')
  })

  test('is tab-separated and uncut for other programs', () => {
    assert.equal(
      formatTsv(rows, columns),
      'TOOL\tFAILURES\tMESSAGE\nget_invoice\t12\tfetch failed\nsearch\t3\tMissing required parameter `query`\n',
    )
  })
})
