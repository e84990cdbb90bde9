import type { BeatRecord, NameAndVersion } from './record.ts'

export type HeartbeatOptions = {
  server: NameAndVersion
  /** At least 1. */
  beatMs: number
  monotonicMs(): number
  openCalls(): BeatRecord['open']
  beat(record: BeatRecord): void
}

const SAMPLE_MS = 500
const MAX_OPEN_CALLS = 20

/**
 * A sign of life at regular times. None of its timers keeps the process alive. The event loop's
 * delay is how late the worst of its own ticks came: precise enough to tell a hung process from an
 * idle one, and cheap enough to stay on for months.
 */
export function startHeartbeat(options: HeartbeatOptions): { stop(): void } {
  const sampleMs = Math.min(SAMPLE_MS, options.beatMs)
  let sampledAt = options.monotonicMs()
  let worstDelayMs = 0

  const sampler = setInterval(() => {
    const now = options.monotonicMs()
    worstDelayMs = Math.max(worstDelayMs, now - sampledAt - sampleMs)
    sampledAt = now
  }, sampleMs)
  const beats = setInterval(() => {
    const delayMs = Math.max(worstDelayMs, options.monotonicMs() - sampledAt - sampleMs, 0)
    worstDelayMs = 0
    options.beat({
      kind: 'beat',
      server: options.server,
      beat_ms: options.beatMs,
      open: options.openCalls().slice(0, MAX_OPEN_CALLS),
      loop_delay_ms: Math.round(delayMs),
      rss_bytes: process.memoryUsage.rss(),
    })
  }, options.beatMs)
  sampler.unref()
  beats.unref()
  return {
    stop() {
      clearInterval(sampler)
      clearInterval(beats)
    },
  }
}
