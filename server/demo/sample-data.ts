import { createSeededRandom, type SeededRandom } from './seeded-random.ts'

/** All invented: no customer, person or document here exists. */

export type Invoice = {
  id: string
  customer: string
  status: 'open' | 'paid' | 'overdue'
  currency: 'EUR' | 'USD' | 'GBP'
  amount: number
  /** ISO date. */
  due: string
}

export type Document = {
  id: string
  collection: string
  title: string
  text: string
}

export const CUSTOMERS = [
  'Alder & Vane',
  'Bellweather Foods',
  'Corvid Logistics',
  'Dunmore Textiles',
  'Eastmark Optics',
  'Fennel & Rye',
  'Greywater Shipping',
  'Harrow Instruments',
] as const

/** What one euro buys. */
const EURO_RATES: Record<string, number> = {
  EUR: 1,
  USD: 1.0842,
  GBP: 0.8517,
  CHF: 0.9476,
  JPY: 162.31,
  SEK: 11.284,
}

export const CURRENCIES = Object.keys(EURO_RATES)

const TOPICS = [
  ['runbooks', 'Rotating the signing keys', 'Keys are rotated each quarter by two people.'],
  ['runbooks', 'Restoring a backup', 'Restore into an empty database, then compare row counts.'],
  [
    'runbooks',
    'When an API answers 429',
    'The message "API rate limit exceeded" means: wait as long as Retry-After says.',
  ],
  ['runbooks', 'Draining a node', 'Stop new work first, then wait for the running jobs.'],
  ['handbook', 'Travel expenses', 'Hand in receipts within thirty days of the journey.'],
  ['handbook', 'Working hours', 'Core hours are ten to three; the rest is up to each team.'],
  ['handbook', 'First week', 'New colleagues get a laptop, a mentor and a quiet Friday.'],
  ['handbook', 'On-call duty', 'One week at a time, with the following Monday off.'],
  ['contracts', 'Framework agreement', 'Either side may end it with ninety days of notice.'],
  ['contracts', 'Data processing terms', 'Personal data is kept in the region of the customer.'],
  ['contracts', 'Service levels', 'Availability is measured each month, without planned work.'],
  ['contracts', 'Price list', 'Prices are reviewed each spring and fixed for a year.'],
  ['product', 'Search syntax', 'Words are joined by AND; quotes keep a phrase together.'],
  ['product', 'Import formats', 'CSV, JSON lines and spreadsheets up to twenty megabytes.'],
  ['product', 'Release notes', 'Exports are faster and errors name the line they are on.'],
  ['product', 'Known limits', 'A collection holds at most two hundred thousand documents.'],
] as const

export function createInvoices(seed: number, count = 60): Invoice[] {
  const random = createSeededRandom(seed)
  return Array.from({ length: count }, (_, index) => createInvoice(random, 2001 + index))
}

function createInvoice(random: SeededRandom, number: number): Invoice {
  const month = String(1 + random.below(12)).padStart(2, '0')
  const day = String(1 + random.below(28)).padStart(2, '0')
  return {
    id: `INV-${number}`,
    customer: random.pick(CUSTOMERS),
    status: random.pick(['open', 'paid', 'paid', 'overdue']),
    currency: random.pick(['EUR', 'EUR', 'USD', 'GBP']),
    amount: (4_000 + random.below(900_000)) / 100,
    due: `2026-${month}-${day}`,
  }
}

export function createDocuments(): Document[] {
  return TOPICS.map(([collection, title, sentence], index) => ({
    id: `DOC-${101 + index}`,
    collection,
    title,
    text: `${title}. ${sentence} This page belongs to the collection "${collection}" and was last read in spring.`,
  }))
}

/** Units of `quote` for one `base`; undefined where a currency is unknown. */
export function exchangeRate(base: string, quote: string): number | undefined {
  const from = EURO_RATES[base]
  const to = EURO_RATES[quote]
  if (from === undefined || to === undefined) return undefined
  return Number((to / from).toFixed(4))
}
