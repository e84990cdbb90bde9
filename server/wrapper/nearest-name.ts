/** How sure a suggestion is, and which layer found it. `score` is 0 to 1; 1 is the same word. */
export type NameMatch = {
  name: string
  score: number
  by: 'same_word' | 'spelling' | 'shared_words' | 'synonym'
}

export type Candidate = {
  name: string
  /** Fits what was sent, by type; breaks ties before `missing` does. */
  fits?: boolean
  /** Required and not sent. */
  missing?: boolean
}

const MIN_SPELLING_SIMILARITY = 0.7
const MIN_SHARED_WORDS = 0.5
/** Names longer than this are data, not names; comparing them would only cost time. */
const MAX_NAME_LENGTH = 100

/** Words that models use for one another. A word may stand in one group only. */
const SYNONYMS: readonly (readonly string[])[] = [
  ['query', 'pattern', 'search', 'q', 'term', 'keyword', 'keywords'],
  ['path', 'file', 'filename', 'filepath', 'dir', 'directory', 'folder'],
  ['url', 'uri', 'link', 'href'],
  ['limit', 'max', 'count', 'top', 'size'],
  ['ns', 'namespace'],
  ['cmd', 'command'],
  ['from', 'start', 'since', 'after', 'begin'],
  ['to', 'end', 'until', 'before'],
  ['id', 'identifier', 'key'],
  ['message', 'msg', 'text', 'body', 'content'],
  ['description', 'desc', 'summary'],
  ['repo', 'repository'],
  ['lang', 'language', 'locale'],
  ['offset', 'skip'],
]

const synonymOf = new Map(
  SYNONYMS.flatMap((group) => group.map((word) => [word, group[0] ?? word])),
)

/**
 * The real name that was probably meant, or undefined: better silent than far-fetched. Four layers,
 * the first that answers wins; ties go to the candidate that fits by type, then to one that is
 * required and missing.
 */
export function nearestName(
  wrong: string,
  candidates: readonly Candidate[],
): NameMatch | undefined {
  if (wrong.length === 0 || wrong.length > MAX_NAME_LENGTH) return undefined
  for (const layer of [sameWord, closeSpelling, sharedWords, synonyms]) {
    const best = bestOf(layer, wrong, candidates)
    if (best) return best
  }
  return undefined
}

type Layer = (wrong: string, name: string) => NameMatch | undefined

function bestOf(layer: Layer, wrong: string, candidates: readonly Candidate[]) {
  let best: { match: NameMatch; rank: number } | undefined
  for (const candidate of candidates) {
    const match = layer(wrong, candidate.name)
    if (!match) continue
    // Fit and need only break ties: they weigh less than the smallest step between two scores.
    const rank = match.score + (candidate.fits ? 2e-6 : 0) + (candidate.missing ? 1e-6 : 0)
    if (!best || rank > best.rank) best = { match, rank }
  }
  return best?.match
}

function sameWord(wrong: string, name: string): NameMatch | undefined {
  return bare(wrong) === bare(name) ? { name, score: 1, by: 'same_word' } : undefined
}

function closeSpelling(wrong: string, name: string): NameMatch | undefined {
  const a = wrong.toLowerCase()
  const b = name.toLowerCase()
  const longest = Math.max(a.length, b.length)
  // The distance is at least the difference in length.
  if (1 - Math.abs(a.length - b.length) / longest < MIN_SPELLING_SIMILARITY) return undefined
  const score = 1 - editDistance(a, b) / longest
  return score >= MIN_SPELLING_SIMILARITY ? { name, score, by: 'spelling' } : undefined
}

function sharedWords(wrong: string, name: string): NameMatch | undefined {
  const dice = diceOf(wordsOf(wrong), wordsOf(name))
  return dice >= MIN_SHARED_WORDS
    ? { name, score: 0.6 + 0.3 * dice, by: 'shared_words' }
    : undefined
}

function synonyms(wrong: string, name: string): NameMatch | undefined {
  const dice = diceOf(wordsOf(wrong).map(canonical), wordsOf(name).map(canonical))
  return dice >= MIN_SHARED_WORDS ? { name, score: 0.5 + 0.3 * dice, by: 'synonym' } : undefined
}

function canonical(word: string): string {
  return synonymOf.get(word) ?? word
}

/** Lower case without separators: `parent_folder-ID` and `parentFolderId` are the same word. */
function bare(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
}

/** `parentFolderID2` → parent, folder, id2. */
export function wordsOf(name: string): string[] {
  return name
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu}+)(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 0)
}

/** Sørensen–Dice over two bags of words: 0 nothing in common, 1 the same words. */
function diceOf(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return 0
  const left = new Set(a)
  const right = new Set(b)
  let shared = 0
  for (const word of left) if (right.has(word)) shared += 1
  return (2 * shared) / (left.size + right.size)
}

/** Optimal string alignment: edits and swaps of neighbours, no substring edited twice. */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, substitution)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (swapped) cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1)
      row.push(cost)
    }
    beforeLast = last
    last = row
  }
  return last[b.length] ?? 0
}
