/** First, coarse version: see below. */
export function redact(value: unknown): unknown {
  try {
    return JSON.parse(
      JSON.stringify(value ?? null, (key, entry) =>
        /pass|secret|token|key|auth/i.test(key) && typeof entry === 'string' ? '[redacted]' : entry,
      ),
    )
  } catch {
    return '[unreadable]'
  }
}

export function redactText(text: string): string {
  return text.slice(0, 8_000).replace(/\b(sk-|ghp_)[\w-]{6,}/g, '[redacted]')
}
