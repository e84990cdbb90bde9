import { HALLUCINATED, WRONG_NAME } from './planted.ts'
import type { Random } from './random.ts'
import { type Cast, type Script, type Step, step } from './script.ts'
import { COLLECTIONS, DOCUMENT_IDS, QUERIES } from './world.ts'

/** Wrong calls of a session that never finds the right name: fewer than make a loop. */
const WRONG_TRIES = 2

export function* documentScript(cast: Cast): Script {
  const { random, quotas } = cast
  if (quotas.unknownTool()) yield* guessToolName(random)
  const draw = random.next()
  if (draw < 0.62) yield* research(cast)
  else if (draw < 0.82) yield* browse(cast)
  else if (draw < 0.97) yield* summarize(cast, 2)
  else yield step('reindex_collection', { collection: random.pick(COLLECTIONS) })
}

function* research(cast: Cast): Script {
  const found = yield* search(cast)
  if (!found) return
  const count = cast.random.integer(1, 3)
  for (let index = 0; index < count; index += 1) yield* getDocument(cast)
  if (cast.random.chance(0.5)) yield* summarize(cast, 1)
}

function* browse(cast: Cast): Script {
  yield step('list_collections', {})
  const found = yield* search(cast)
  if (found) yield* getDocument(cast)
}

/** Returns whether a search was made in the end. */
function* search({ random, quotas }: Cast): Generator<Step, boolean, { failed: boolean }> {
  const words = random.pick(QUERIES)
  const filter = random.chance(0.3) ? { collection: random.pick(COLLECTIONS) } : {}
  const right = step('search_documents', { [WRONG_NAME.wanted]: words, ...filter })
  if (!quotas.wrongName()) {
    yield right
    return true
  }
  const wrong = step('search_documents', { [WRONG_NAME.sent]: words, ...filter }, wrongName())
  const gaveUp = quotas.neverCorrected()
  yield { ...wrong, first: true }
  if (!gaveUp) {
    yield { ...right, corrects: true, pauseMs: 2_500 }
    return true
  }
  for (let tries = 1; tries < WRONG_TRIES; tries += 1) yield { ...wrong, pauseMs: 2_500 }
  return false
}

function wrongName(): Partial<Step> {
  const { sent, wanted, expected } = WRONG_NAME
  return {
    plant: 'wrong_name',
    intention: {
      kind: 'invalid_arguments',
      problem: `\`${wanted}\` (${expected}) is missing and \`${sent}\` is not an argument; did you mean \`${wanted}\`?`,
      issues: [
        { path: wanted, code: 'missing_required', expected },
        { path: sent, code: 'unknown_key', received: 'string', suggest: wanted },
      ],
    },
  }
}

function* getDocument({ random, quotas }: Cast): Script {
  if (quotas.missing()) {
    const document_id = `DOC-${DOCUMENT_IDS.missing + random.integer(0, 9)}`
    const message = `There is no document ${document_id}.`
    yield step(
      'get_document',
      { document_id },
      {
        plant: 'tool_error',
        intention: { kind: 'tool_error', message },
      },
    )
  }
  const args = { document_id: knownDocument(random) }
  if (!quotas.hallucinated()) {
    yield step('get_document', args)
    return
  }
  yield step(
    'get_document',
    { ...args, [HALLUCINATED.key]: HALLUCINATED.value },
    {
      plant: 'hallucinated',
      intention: { kind: 'dropped', keys: [HALLUCINATED.key] },
    },
  )
}

function* summarize({ random, quotas }: Cast, most: number): Script {
  const count = random.integer(1, most)
  for (let index = 0; index < count; index += 1) {
    const cancelled = quotas.cancelled()
    yield step(
      'summarize_document',
      { document_id: knownDocument(random) },
      {
        ...(cancelled && { plant: 'cancelled', intention: { kind: 'cancelled' } }),
      },
    )
  }
}

function* guessToolName(random: Random): Script {
  const [tool, nearest] = random.pick([
    ['search_docs', 'search_documents'],
    ['fetch_document', 'get_document'],
  ] as const)
  yield {
    tool,
    args: { query: random.pick(QUERIES) },
    plant: 'unknown_tool',
    intention: { kind: 'unknown_tool', nearest },
  }
}

function knownDocument(random: Random): string {
  return `DOC-${random.integer(DOCUMENT_IDS.first, DOCUMENT_IDS.last)}`
}
