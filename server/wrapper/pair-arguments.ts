import { formatKey, pathKey, valueAt } from './argument-path.ts'
import { argumentNames, withCount } from './argument-sentences.ts'
import { type SchemaView, typeFits, viewAt } from './schema-view.ts'
import type { Worded } from './word-problem.ts'

type Pair = { wrong: Worded; wanted: Worded }

/**
 * The sentences, with every unknown name and the missing parameter it was meant for in one: they are
 * one mistake, and two sentences of it would read like two.
 */
export function pairedSentences(worded: Worded[], raw: unknown, root: SchemaView): string[] {
  const pairs = pairsIn(worded, raw, root)
  const merged = new Set(pairs.flatMap(({ wrong, wanted }) => [wrong, wanted]))
  const others = worded.filter((each) => !merged.has(each))
  const sentences = [...pairs.map(mergedSentence), ...others.map(({ sentence }) => sentence)]
  // Of an unknown name without a near one: say which names there are.
  const isHelpless = others.some(({ issue }) => issue.code === 'unknown_key' && !issue.suggest)
  const names = isHelpless ? argumentNames(root) : ''
  return names === '' ? sentences : [...sentences, names]
}

function pairsIn(worded: Worded[], raw: unknown, root: SchemaView): Pair[] {
  const unknown = worded.filter(({ issue }) => issue.code === 'unknown_key')
  const missing = worded.filter(({ issue }) => issue.code === 'missing_required')
  const pairs: Pair[] = []
  for (const wrong of unknown) {
    const wanted = missing.find(
      (each) => nameOf(each) === wrong.issue.suggest && areSiblings(wrong, each),
    )
    if (wanted && !pairs.some((pair) => pair.wanted === wanted)) pairs.push({ wrong, wanted })
  }
  return pairs.length > 0 ? pairs : lonelyPair(unknown, missing, raw, root)
}

/**
 * With nothing else to choose from, the one unknown name was meant as the one missing parameter, if
 * its value fits, even where the words share nothing.
 */
function lonelyPair(unknown: Worded[], missing: Worded[], raw: unknown, root: SchemaView): Pair[] {
  const [wrong, ...otherUnknown] = unknown
  const [wanted, ...otherMissing] = missing
  if (!wrong || !wanted || otherUnknown.length + otherMissing.length > 0) return []
  if (wrong.issue.suggest !== undefined || !areSiblings(wrong, wanted)) return []
  const view = viewAt(root, wanted.problem.path)
  if (view && !typeFits(view, valueAt(raw, wrong.problem.path))) return []
  wrong.issue.suggest = nameOf(wanted)
  return [{ wrong, wanted }]
}

function nameOf({ problem }: Worded): string {
  return formatKey(String(problem.path.at(-1)))
}

function areSiblings(a: Worded, b: Worded): boolean {
  const parentOf = ({ problem }: Worded) => pathKey(problem.path.slice(0, -1))
  return parentOf(a) === parentOf(b)
}

function mergedSentence({ wrong, wanted }: Pair): string {
  const type = wanted.issue.expected ? ` (${wanted.issue.expected})` : ''
  const what = `\`${wanted.issue.path}\`${type} is missing and \`${wrong.issue.path}\` is not an argument`
  return `${withCount(what, wanted.count)}; did you mean \`${nameOf(wanted)}\`?`
}
