/**
 * A set of sequence numbers as merged ranges, which remembers what changed since it was stored. The
 * usual case, the next number, costs one comparison.
 */
export type SequenceRanges = {
  has(n: number): boolean
  /** False if it was there. */
  add(n: number): boolean
  /** What to delete and what to write for the stored ranges to be these; then counts as stored. */
  takeChanges(): { removed: number[]; written: [first: number, last: number][] }
  list(): [first: number, last: number][]
}

export function createSequenceRanges(
  stored: readonly (readonly [first: number, last: number])[],
): SequenceRanges {
  const firsts = stored.map(([first]) => first)
  const lasts = stored.map(([, last]) => last)
  const inStore = new Set(firsts)
  const changed = new Set<number>()
  const removed = new Set<number>()

  /** Index of the last range that begins at or before n; −1 if none does. */
  function rangeBefore(n: number): number {
    let low = 0
    let high = firsts.length - 1
    if (high >= 0 && (firsts[high] as number) <= n) return high
    while (low <= high) {
      const middle = (low + high) >> 1
      if ((firsts[middle] as number) <= n) low = middle + 1
      else high = middle - 1
    }
    return high
  }

  function remove(index: number): void {
    const first = firsts[index] as number
    if (inStore.has(first)) removed.add(first)
    changed.delete(first)
    firsts.splice(index, 1)
    lasts.splice(index, 1)
  }

  function change(index: number): void {
    const first = firsts[index] as number
    changed.add(first)
    removed.delete(first)
  }

  return {
    has(n) {
      const index = rangeBefore(n)
      return index >= 0 && n <= (lasts[index] as number)
    },
    add(n) {
      const index = rangeBefore(n)
      if (index >= 0 && n <= (lasts[index] as number)) return false
      const touchesBefore = index >= 0 && lasts[index] === n - 1
      const touchesAfter = firsts[index + 1] === n + 1
      if (touchesBefore) {
        lasts[index] = touchesAfter ? (lasts[index + 1] as number) : n
        if (touchesAfter) remove(index + 1)
        change(index)
      } else {
        const last = touchesAfter ? (lasts[index + 1] as number) : n
        if (touchesAfter) remove(index + 1)
        firsts.splice(index + 1, 0, n)
        lasts.splice(index + 1, 0, last)
        change(index + 1)
      }
      return true
    },
    takeChanges() {
      const written = [...changed].map((first): [number, number] => [
        first,
        lasts[rangeBefore(first)] as number,
      ])
      const gone = [...removed]
      for (const first of gone) inStore.delete(first)
      for (const first of changed) inStore.add(first)
      changed.clear()
      removed.clear()
      return { removed: gone, written }
    },
    list: () => firsts.map((first, index): [number, number] => [first, lasts[index] as number]),
  }
}
