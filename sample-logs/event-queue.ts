export type EventQueue<T> = {
  push(atMs: number, event: T): void
  /** The earliest event if it is due before `beforeMs`; equal times come in the order of pushing. */
  takeBefore(beforeMs: number): { atMs: number; event: T } | undefined
  /** All that waits, in no order. */
  waiting(): Iterable<T>
  size(): number
}

type Entry<T> = { atMs: number; order: number; event: T }

/** A binary heap by time. */
export function createEventQueue<T>(): EventQueue<T> {
  const heap: Entry<T>[] = []
  let pushed = 0

  return {
    push(atMs, event) {
      pushed += 1
      rise(heap, { atMs, order: pushed, event })
    },
    takeBefore(beforeMs) {
      const first = heap[0]
      if (!first || first.atMs >= beforeMs) return undefined
      const last = heap.pop()
      if (last && heap.length > 0) sink(heap, last)
      return first
    },
    *waiting() {
      for (const { event } of heap) yield event
    },
    size: () => heap.length,
  }
}

function isBefore<T>(one: Entry<T>, other: Entry<T>): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order)
}

function rise<T>(heap: Entry<T>[], entry: Entry<T>): void {
  let index = heap.length
  heap.push(entry)
  while (index > 0) {
    const parentIndex = (index - 1) >> 1
    const parent = heap[parentIndex] as Entry<T>
    if (isBefore(parent, entry)) break
    heap[index] = parent
    index = parentIndex
  }
  heap[index] = entry
}

/** Puts `entry` in the place of the first, then lets it down to where it belongs. */
function sink<T>(heap: Entry<T>[], entry: Entry<T>): void {
  let index = 0
  for (;;) {
    let childIndex = 2 * index + 1
    const left = heap[childIndex]
    if (!left) break
    const right = heap[childIndex + 1]
    if (right && isBefore(right, left)) childIndex += 1
    const child = heap[childIndex] as Entry<T>
    if (isBefore(entry, child)) break
    heap[index] = child
    index = childIndex
  }
  heap[index] = entry
}
