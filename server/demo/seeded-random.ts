export type SeededRandom = {
  /** In [0, 1). */
  next(): number
  /** Whole number in [0, below). */
  below(below: number): number
  chance(share: number): boolean
  pick<T>(values: readonly T[]): T
}

/** The same seed gives the same sequence on every machine. Not for secrets. */
export function createSeededRandom(seed: number): SeededRandom {
  // mulberry32: 32 bits of state are plenty for a demo's dice.
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return {
    next,
    below,
    chance: (share) => next() < share,
    pick(values) {
      const value = values[below(values.length)]
      if (value === undefined) throw new RangeError('Nothing to pick from: the list is empty.')
      return value
    },
  }
}

/** A seed of its own for each name, so that one sequence does not depend on how often another ran. */
export function seedFor(seed: number, name: string): number {
  let hash = seed >>> 0
  for (const character of name) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0
  }
  return hash
}
