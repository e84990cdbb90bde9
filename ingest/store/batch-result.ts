/** What was done with some lines. */
export type BatchResult = {
  bytes: number
  lines: number
  rows: number
  events: number
  duplicates: number
  /** Lines by reason. */
  quarantined: Map<string, number>
  foreignLines: number
}

export function emptyResult(): BatchResult {
  return {
    bytes: 0,
    lines: 0,
    rows: 0,
    events: 0,
    duplicates: 0,
    quarantined: new Map(),
    foreignLines: 0,
  }
}

export function addResult(sum: BatchResult, more: BatchResult): void {
  sum.bytes += more.bytes
  sum.lines += more.lines
  sum.rows += more.rows
  sum.events += more.events
  sum.duplicates += more.duplicates
  sum.foreignLines += more.foreignLines
  for (const [reason, lines] of more.quarantined) {
    sum.quarantined.set(reason, (sum.quarantined.get(reason) ?? 0) + lines)
  }
}
