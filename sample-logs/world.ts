import type { NameAndVersion } from '../server/call-log/record.ts'

/** Invented: the two services of the demo, their tools, and who calls them. */

export type ServerName = 'billing' | 'docs-search'

export type ToolName =
  | 'list_invoices'
  | 'get_invoice'
  | 'create_invoice'
  | 'get_exchange_rate'
  | 'export_statement'
  | 'search_documents'
  | 'get_document'
  | 'summarize_document'
  | 'list_collections'
  | 'reindex_collection'

export type Tool = {
  server: ServerName
  /** Safe to repeat: the wrapper retries it. */
  repeatable: boolean
  /** Latency of a success: log-normal. */
  medianMs: number
  sigma: number
  upstream: string
  /** Largest text of a result, in UTF-16 units. */
  resultBytes: number
}

const BILLING_API = 'billing-api.example.net:443'
const RATES_API = 'rates.example.net:443'
const DOCS_API = 'docs-api.example.net:443'
const INDEX_HOST = 'index.example.net:9200'
const MODEL_API = 'models.example.net:443'

export const TOOLS: Record<ToolName, Tool> = {
  list_invoices: billing(true, 85, 0.5, BILLING_API, 4_200),
  get_invoice: billing(true, 40, 0.45, BILLING_API, 620),
  create_invoice: billing(false, 160, 0.5, BILLING_API, 310),
  get_exchange_rate: billing(true, 65, 0.6, RATES_API, 90),
  export_statement: billing(false, 900, 0.55, BILLING_API, 260),
  search_documents: docs(true, 140, 0.6, DOCS_API, 5_400),
  get_document: docs(true, 55, 0.5, DOCS_API, 9_000),
  summarize_document: docs(true, 2_400, 0.5, MODEL_API, 1_500),
  list_collections: docs(true, 25, 0.4, DOCS_API, 420),
  reindex_collection: docs(true, 700, 0.6, INDEX_HOST, 180),
}

export const TOOL_NAMES = Object.keys(TOOLS) as ToolName[]

export const VERSIONS: Record<ServerName, { before: string; after: string }> = {
  billing: { before: '2.3.1', after: '2.4.0' },
  'docs-search': { before: '1.8.2', after: '1.9.0' },
}

export const HOSTNAMES: Record<ServerName, string> = { billing: 'app-1', 'docs-search': 'app-2' }

/** What the samples' servers say they run on; never this machine's. */
export const NODE_VERSION = 'v22.14.0'

export const PROTOCOL = '2025-11-25'

export const SCHEDULER: NameAndVersion = { name: 'nightly-scheduler', version: '1.2.0' }

export type Client = NameAndVersion & { share: number; traced: boolean }

export const CLIENTS: readonly Client[] = [
  { name: 'claude-desktop', version: '0.14.2', share: 0.4, traced: false },
  { name: 'claude-code', version: '2.1.9', share: 0.33, traced: true },
  { name: 'cursor', version: '2.3.34', share: 0.27, traced: false },
]

export const CUSTOMERS = [
  'Alder & Vane',
  'Bellweather Foods',
  'Corvid Logistics',
  'Dunmore Textiles',
  'Eastmark Optics',
  'Fennel & Rye',
  'Greywater Shipping',
  'Harrow Instruments',
  'Ilse Brücken & Söhne',
  'Juniper Cycles',
  'Kestrel Marine',
  'Larkspur Media',
  'Møller Glas',
  'Northgate Tiles',
] as const

/** Five pairs in turn: no two of one night's failing calls are the same call. */
export const CURRENCY_PAIRS = [
  ['EUR', 'USD'],
  ['EUR', 'GBP'],
  ['EUR', 'CHF'],
  ['USD', 'JPY'],
  ['EUR', 'SEK'],
] as const

export const COLLECTIONS = ['handbook', 'contracts', 'runbooks', 'product'] as const

export const QUERIES = [
  'travel expenses',
  'notice period framework agreement',
  'restore a backup',
  'on-call duty',
  'Kündigungsfrist Rahmenvertrag',
  'import formats CSV',
  'rotate signing keys',
  'data processing terms région',
  'known limits of a collection',
  'price list 2026 €',
] as const

export const INVOICE_IDS = { first: 2001, last: 2480, missing: 2900 } as const
export const DOCUMENT_IDS = { first: 101, last: 176, missing: 990 } as const

function billing(
  repeatable: boolean,
  medianMs: number,
  sigma: number,
  upstream: string,
  resultBytes: number,
): Tool {
  return { server: 'billing', repeatable, medianMs, sigma, upstream, resultBytes }
}

function docs(
  repeatable: boolean,
  medianMs: number,
  sigma: number,
  upstream: string,
  resultBytes: number,
): Tool {
  return { server: 'docs-search', repeatable, medianMs, sigma, upstream, resultBytes }
}
