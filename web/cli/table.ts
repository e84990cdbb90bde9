export type Column<Row> = {
  title: string
  align?: 'right' | undefined
  /** Cut with an ellipsis where the table would be too wide; the last such column gives way. */
  flexible?: boolean | undefined
  text(row: Row): string
}

const GAP = '  '
const LEAST_FLEXIBLE_WIDTH = 12

export type TableOptions = {
  /** Of the terminal, in columns. */
  width: number
  /** Bold titles. */
  styled: boolean
}

/** For people: aligned columns that fit the terminal. Ends with a line break. */
export function formatTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  options: TableOptions,
): string {
  const cells = rows.map((row) => columns.map((column) => printable(column.text(row))))
  const widths = columns.map((column, index) =>
    Math.max(column.title.length, ...cells.map((line) => line[index]?.length ?? 0)),
  )
  fit(widths, columns, options.width)
  const layOut = (line: readonly string[]): string =>
    line
      .map((cell, index) => pad(cell, widths[index] ?? 0, columns[index]?.align))
      .join(GAP)
      .trimEnd()
  const titles = layOut(columns.map((column) => column.title))
  const head = options.styled ? `\u001b[1m${titles}\u001b[22m` : titles
  return `${[head, ...cells.map(layOut)].join('\n')}\n`
}

/** For other programs: a title line and tab-separated values, nothing cut. */
export function formatTsv<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const lines = [
    columns.map((column) => column.title),
    ...rows.map((row) => columns.map((column) => printable(column.text(row)))),
  ]
  return `${lines.map((line) => line.join('\t')).join('\n')}\n`
}

/** Logs hold hostile text: nothing in it may move the cursor, break a line or hide behind bidi. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim()
}

function fit<Row>(widths: number[], columns: readonly Column<Row>[], width: number): void {
  const flexible = columns.findLastIndex((column) => column.flexible)
  const own = widths[flexible]
  if (own === undefined) return
  const total = widths.reduce((sum, next) => sum + next, GAP.length * (widths.length - 1))
  if (total > width) widths[flexible] = Math.max(LEAST_FLEXIBLE_WIDTH, own - (total - width))
}

function pad(cell: string, width: number, align: 'right' | undefined): string {
  const cut = cell.length > width ? `${cell.slice(0, width - 1)}…` : cell
  return align === 'right' ? cut.padStart(width) : cut.padEnd(width)
}
