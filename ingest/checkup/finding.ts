/** `note`: worth knowing, nothing to do. `warning`: works, but not well. `error`: broken. */
export type Severity = 'ok' | 'note' | 'warning' | 'error'

/** What one check has found. */
export type Finding = {
  /** Which check: a stable name. */
  check: string
  severity: Severity
  /** A sentence. */
  found: string
  /** A sentence that says what to do; absent where there is nothing to do. */
  advice?: string
}

export function ok(check: string, found: string): Finding {
  return { check, severity: 'ok', found }
}

export function finding(
  check: string,
  severity: Exclude<Severity, 'ok'>,
  found: string,
  advice?: string,
): Finding {
  return { check, severity, found, ...(advice === undefined ? {} : { advice }) }
}

const ORDER: readonly Severity[] = ['ok', 'note', 'warning', 'error']

export function worstOf(findings: readonly Finding[]): Severity {
  return findings.reduce<Severity>(
    (worst, { severity }) => (ORDER.indexOf(severity) > ORDER.indexOf(worst) ? severity : worst),
    'ok',
  )
}

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB']

/** In powers of 1000, for sentences. */
export function bytesText(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1000 && unit < BYTE_UNITS.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${BYTE_UNITS[unit]}`
}

export function plural(count: number, word: string): string {
  return `${count.toLocaleString('en-US')} ${word}${count === 1 ? '' : 's'}`
}
