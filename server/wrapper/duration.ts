const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/** Milliseconds from a number of them or from a text such as '250ms', '30s', '2m', '1h'. */
export function parseDuration(value: number | string, what: string): number {
  const ms = typeof value === 'number' ? value : fromText(value)
  if (ms === undefined || !Number.isFinite(ms) || ms <= 0) {
    throw new TypeError(`${what} must be milliseconds above 0 or a text like '30s' or '2m'.`)
  }
  return ms
}

function fromText(text: string): number | undefined {
  const match = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h)\s*$/.exec(text)
  return match ? Number(match[1]) * (UNIT_MS[match[2] ?? ''] ?? Number.NaN) : undefined
}
