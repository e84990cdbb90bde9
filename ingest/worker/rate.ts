const WINDOW_MS = 3000

/** How many a second, over the last few seconds. */
export type Rate = { add(count: number, atMs: number): void; perSecond(atMs: number): number }

export function createRate(startedMs: number): Rate {
  let recent: { atMs: number; count: number }[] = []
  return {
    add(count, atMs) {
      recent = recent.filter((entry) => entry.atMs > atMs - WINDOW_MS)
      if (count > 0) recent.push({ atMs, count })
    },
    perSecond(atMs) {
      const since = Math.max(startedMs, atMs - WINDOW_MS)
      const counted = recent.filter((entry) => entry.atMs > since)
      const sum = counted.reduce((total, entry) => total + entry.count, 0)
      return Math.round(sum / (Math.max(1, atMs - since) / 1000))
    },
  }
}
