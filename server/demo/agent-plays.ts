import { CUSTOMERS } from './sample-data.ts'
import type { SeededRandom } from './seeded-random.ts'

export type AgentStep = {
  service: 'billing' | 'docs-search'
  tool: string
  args: Record<string, unknown>
  /** The agent gives up after this long; absent: the SDK's default of a minute. */
  patienceMs?: number | undefined
}

/** A few calls in a row, as one task makes them. */
export type Play = (random: SeededRandom) => AgentStep[]

const QUERIES = [
  'signing keys',
  'backup',
  'retry-after',
  'travel',
  'notice',
  'csv',
  'API rate limit',
]
/** Words that no document has: the answer is empty. */
const VAIN_QUERIES = ['quarterly zebra report', 'lunch menu', 'kubernetes 1.99']
const PAIRS = [
  ['EUR', 'USD'],
  ['USD', 'GBP'],
  ['EUR', 'SEK'],
  ['GBP', 'CHF'],
] as const

const billing = (tool: string, args: Record<string, unknown>, patienceMs?: number): AgentStep => ({
  service: 'billing',
  tool,
  args,
  patienceMs,
})

const docs = (tool: string, args: Record<string, unknown>): AgentStep => ({
  service: 'docs-search',
  tool,
  args,
})

const invoiceId = (random: SeededRandom): string => `INV-${2001 + random.below(60)}`
const documentId = (random: SeededRandom): string => `DOC-${101 + random.below(16)}`

export function exchangeRate(random: SeededRandom, patienceMs?: number): AgentStep {
  const [base, quote] = random.pick(PAIRS)
  return billing('get_exchange_rate', { base, quote }, patienceMs)
}

const reviewInvoices: Play = (random) => [
  billing('list_invoices', { customer: random.pick(CUSTOMERS), status: 'overdue' }),
  billing('get_invoice', { invoice_id: invoiceId(random) }),
  exchangeRate(random),
]

const writeInvoice: Play = (random) => [
  exchangeRate(random),
  billing('create_invoice', {
    customer: random.pick(CUSTOMERS),
    currency: 'EUR',
    amount: 50 + random.below(900),
    due: '2026-12-15',
  }),
]

const closeMonth: Play = (random) => [
  billing('list_invoices', { status: 'open', limit: 50 }),
  billing('export_statement', { customer: random.pick(CUSTOMERS), month: '2026-10' }),
]

const research: Play = (random) => [
  docs('list_collections', {}),
  docs('search_documents', { query: random.pick(QUERIES) }),
  docs('get_document', { document_id: documentId(random) }),
  docs('summarize_document', { document_id: documentId(random) }),
]

const searchInVain: Play = (random) => [
  docs('search_documents', { query: random.pick(VAIN_QUERIES) }),
  docs('search_documents', { query: random.pick(QUERIES) }),
]

/** A parameter's name made up, put right after the answer has named the real one. */
const inventParameter: Play = (random) => {
  const query = random.pick(QUERIES)
  return [
    docs('search_documents', { pattern: query }),
    docs('search_documents', { query }),
    docs('get_document', { document_id: documentId(random) }),
  ]
}

const numberAsText: Play = (random) => {
  const customer = random.pick(CUSTOMERS)
  return [
    billing('list_invoices', { customer, limit: '10' }),
    billing('list_invoices', { customer, limit: 10 }),
  ]
}

/** Accepted by the schema, but dropped: the agent believes that it asked for something. */
const inventOption: Play = (random) => [
  docs('get_document', { document_id: documentId(random), format: 'markdown' }),
]

const wrongChoice: Play = (random) => [
  billing('list_invoices', { status: 'unpaid' }),
  billing('list_invoices', { status: 'open', customer: random.pick(CUSTOMERS) }),
]

/** The same call over and over, though the answer says that it cannot work. */
const loop: Play = (random) =>
  Array.from({ length: 4 + random.below(3) }, () =>
    docs('get_document', { document_id: 'DOC-990' }),
  )

const missName: Play = () => [
  docs('search_docs', { query: 'service levels' }),
  docs('search_documents', { query: 'service levels' }),
]

const reindex: Play = (random) => [
  docs('reindex_collection', { collection: random.pick(['runbooks', 'product']) }),
]

/** How often each is played, in parts of the whole. */
const WEIGHTED_PLAYS: readonly { play: Play; weight: number }[] = [
  { play: reviewInvoices, weight: 8 },
  { play: research, weight: 8 },
  { play: writeInvoice, weight: 4 },
  { play: closeMonth, weight: 3 },
  { play: searchInVain, weight: 2 },
  { play: inventParameter, weight: 3 },
  { play: numberAsText, weight: 2 },
  { play: inventOption, weight: 2 },
  { play: wrongChoice, weight: 1 },
  { play: loop, weight: 1 },
  { play: missName, weight: 1 },
  { play: reindex, weight: 1 },
]

const DECK: readonly Play[] = WEIGHTED_PLAYS.flatMap(({ play, weight }) =>
  Array.from({ length: weight }, () => play),
)

export function nextPlay(random: SeededRandom): AgentStep[] {
  return random.pick(DECK)(random)
}
