export type Random = {
  /** In [0, 1). */
  next(): number
  /** Whole number from `least` to `most`, both included. */
  integer(least: number, most: number): number
  chance(share: number): boolean
  pick<T>(values: readonly T[]): T
  /** Median and spread (sigma of the logarithm) of a log-normal: what latencies look like. */
  logNormal(median: number, sigma: number): number
  /** Lower-case hex digits, at most 8 a draw. */
  hex(digits: number): string
}

/**
 * The same seed and label give the same sequence on every machine. A label of its own for each
 * purpose keeps one sequence independent of how often another was asked.
 *
 * sfc32: its 128 bits of state are needed where ids are made of several draws; with 32 bits of
 * state ten million ids of 64 bits would collide by the thousand. Not for secrets.
 */
export function createRandom(seed: number, label: string): Random {
  const draw = sfc32(seed, hashOf(label))
  const next = (): number => draw() / 2 ** 32
  const integer = (least: number, most: number): number =>
    least + Math.floor(next() * (most - least + 1))
  return {
    next,
    integer,
    chance: (share) => next() < share,
    pick(values) {
      const value = values[integer(0, values.length - 1)]
      if (value === undefined) throw new RangeError('Nothing to pick from: the list is empty.')
      return value
    },
    logNormal: (median, sigma) => median * Math.exp(sigma * normal(next)),
    hex(digits) {
      let text = ''
      while (text.length < digits) text += draw().toString(16).padStart(8, '0')
      return text.slice(0, digits)
    },
  }
}

/**
 * Says yes to that share of the questions, at uneven distances of up to twice the mean. Chance alone
 * could leave a rare fault out of a small sample; even distances would fall into step with the days
 * and look like a time of day.
 */
export function createQuota(share: number, random: Random): () => boolean {
  let owed = random.next()
  let due = 2 * random.next()
  return () => {
    owed += share
    if (owed < due) return false
    owed -= due
    due = 2 * random.next()
    return true
  }
}

/** Order drawn from `random`; the argument stays as it is. */
export function shuffled<T>(values: readonly T[], random: Random): T[] {
  const result = [...values]
  for (let index = result.length - 1; index > 0; index -= 1) {
    const other = random.integer(0, index)
    const held = result[index] as T
    result[index] = result[other] as T
    result[other] = held
  }
  return result
}

/** Sum of six uniform draws: close enough to a bell, and free of sin and cos, which vary by build. */
function normal(next: () => number): number {
  let sum = 0
  for (let draw = 0; draw < 6; draw += 1) sum += next()
  return (sum - 3) * Math.SQRT2
}

function sfc32(seed: number, label: number): () => number {
  let a = seed | 0
  let b = label | 0
  let c = Math.floor(seed / 2 ** 32) | 0
  let counter = 1
  const draw = (): number => {
    const sum = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return sum >>> 0
  }
  // The seed has to reach all of the state before the first number is used.
  for (let round = 0; round < 12; round += 1) draw()
  return draw
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (const character of text) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  }
  return hash
}
