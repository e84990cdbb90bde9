import type { IngestProgress } from '../../ingest/run-ingest.ts'

const BAR_CELLS = 20
const count = new Intl.NumberFormat('en-US')

/** How far an import has come, in one line. */
export function progressText(progress: IngestProgress, { bar = false } = {}): string {
  const { bytesDone, bytesTotal, rows, linesPerSecond, caughtUp } = progress
  if (caughtUp) return `${count.format(rows)} calls read; following the logs.`
  const share = bytesTotal > 0 ? Math.min(1, bytesDone / bytesTotal) : 0
  // On a narrow terminal the last of them are cut off.
  const facts = [
    `${Math.floor(share * 100)} %`,
    timeLeftText(progress),
    `${count.format(Math.round(linesPerSecond))} lines/s`,
    `${bytesText(bytesDone)} of ${bytesText(bytesTotal)}`,
    `${count.format(rows)} calls`,
  ].filter((fact) => fact !== '')
  return `${bar ? barText(share) : 'Reading logs:'} ${facts.join(', ')}`
}

function barText(share: number): string {
  const done = Math.round(share * BAR_CELLS)
  return `[${'#'.repeat(done)}${'.'.repeat(BAR_CELLS - done)}]`
}

/** Empty where it cannot be told yet. */
function timeLeftText({ bytesDone, bytesTotal, bytesPerSecond }: IngestProgress): string {
  if (bytesPerSecond <= 0 || bytesDone >= bytesTotal) return ''
  const seconds = Math.ceil((bytesTotal - bytesDone) / bytesPerSecond)
  if (seconds < 60) return `${seconds} s left`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${seconds % 60} s left`
  const hours = Math.floor(minutes / 60)
  return `${count.format(hours)} h ${minutes % 60} min left`
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB']

function bytesText(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${value < 100 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}`
}
