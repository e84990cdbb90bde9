import {
  CUSTOMERS,
  createDocuments,
  createInvoices,
  type Document,
  exchangeRate,
  type Invoice,
} from './sample-data.ts'

/** Created invoices are kept in memory up to here; the oldest go first. */
const MAX_INVOICES = 500

export type UpstreamAnswer = { status: number; body: unknown }

export type UpstreamRoute = {
  /** The name of the tool it serves: faults are addressed by it. */
  operation: string
  answer(body: unknown): UpstreamAnswer
}

export type UpstreamRoutes = { find(method: string, url: URL): UpstreamRoute | undefined }

type Request = { parameters: string[]; query: URLSearchParams; body: unknown }

type RouteDefinition = {
  operation: string
  method: string
  path: RegExp
  answer(request: Request): UpstreamAnswer
}

export function createUpstreamRoutes({ seed }: { seed: number }): UpstreamRoutes {
  const definitions = [
    ...billingRoutes(createInvoices(seed)),
    ...documentRoutes(createDocuments()),
    sessionRoute(),
  ]
  return {
    find(method, url) {
      for (const { operation, method: wanted, path, answer } of definitions) {
        const match = method === wanted ? path.exec(url.pathname) : null
        if (!match) continue
        const parameters = match.slice(1).map(decodeURIComponent)
        return {
          operation,
          answer: (body) => answer({ parameters, query: url.searchParams, body }),
        }
      }
      return undefined
    },
  }
}

function billingRoutes(invoices: Invoice[]): RouteDefinition[] {
  let statements = 0
  return [
    {
      operation: 'list_invoices',
      method: 'GET',
      path: /^\/invoices$/,
      answer({ query }) {
        const customer = query.get('customer')
        const status = query.get('status')
        const found = invoices.filter(
          (invoice) =>
            (!customer || invoice.customer === customer) && (!status || invoice.status === status),
        )
        return ok({ invoices: found.slice(0, limitOf(query)), total: found.length })
      },
    },
    {
      operation: 'get_invoice',
      method: 'GET',
      path: /^\/invoices\/([^/]+)$/,
      answer({ parameters: [id] }) {
        const invoice = invoices.find((candidate) => candidate.id === id)
        return invoice ? ok(invoice) : notFound(`There is no invoice ${id}.`)
      },
    },
    {
      operation: 'create_invoice',
      method: 'POST',
      path: /^\/invoices$/,
      answer({ body }) {
        const invoice = { ...(body as Omit<Invoice, 'id' | 'status'>), ...nextInvoice(invoices) }
        if (!CUSTOMERS.some((name) => name === invoice.customer)) {
          return notFound(`There is no customer "${invoice.customer}".`)
        }
        invoices.push(invoice)
        if (invoices.length > MAX_INVOICES) invoices.shift()
        return { status: 201, body: invoice }
      },
    },
    {
      operation: 'get_exchange_rate',
      method: 'GET',
      path: /^\/rates\/([^/]+)\/([^/]+)$/,
      answer({ parameters: [base = '', quote = ''] }) {
        const rate = exchangeRate(base, quote)
        return rate === undefined
          ? notFound(`There is no rate from ${base} to ${quote}.`)
          : ok({ base, quote, rate })
      },
    },
    {
      operation: 'export_statement',
      method: 'POST',
      path: /^\/statements$/,
      answer({ body }) {
        statements += 1
        return ok({ statement: `STM-${300 + statements}`, ...(body as object), pages: 2 })
      },
    },
  ]
}

function nextInvoice(invoices: readonly Invoice[]): Pick<Invoice, 'id' | 'status'> {
  const last = Number(invoices.at(-1)?.id.slice('INV-'.length) ?? 2000)
  return { id: `INV-${last + 1}`, status: 'open' }
}

function documentRoutes(documents: readonly Document[]): RouteDefinition[] {
  const byId = (id: string | undefined): Document | undefined =>
    documents.find((document) => document.id === id)
  return [
    {
      operation: 'search_documents',
      method: 'GET',
      path: /^\/documents$/,
      answer({ query }) {
        const found = search(documents, query.get('q') ?? '', query.get('collection'))
        return ok({
          documents: found.slice(0, limitOf(query)).map(({ id, title }) => ({ id, title })),
        })
      },
    },
    {
      operation: 'get_document',
      method: 'GET',
      path: /^\/documents\/([^/]+)$/,
      answer({ parameters: [id] }) {
        const document = byId(id)
        return document ? ok(document) : notFound(`There is no document ${id}.`)
      },
    },
    {
      operation: 'summarize_document',
      method: 'GET',
      path: /^\/documents\/([^/]+)\/summary$/,
      answer({ parameters: [id], query }) {
        const document = byId(id)
        if (!document) return notFound(`There is no document ${id}.`)
        const words = document.text.split(' ')
        return ok({ summary: words.slice(0, Number(query.get('words') ?? 60)).join(' ') })
      },
    },
    {
      operation: 'list_collections',
      method: 'GET',
      path: /^\/collections$/,
      answer: () => ok({ collections: countByCollection(documents) }),
    },
    {
      operation: 'reindex_collection',
      method: 'POST',
      path: /^\/collections\/([^/]+)\/index$/,
      answer({ parameters: [name = ''] }) {
        const count = countByCollection(documents).find((row) => row.name === name)?.documents
        if (count === undefined) return notFound(`There is no collection "${name}".`)
        return { status: 202, body: { collection: name, documents: count, state: 'queued' } }
      },
    },
  ]
}

function sessionRoute(): RouteDefinition {
  let sessions = 0
  return {
    operation: 'open_session',
    method: 'POST',
    path: /^\/sessions$/,
    answer() {
      sessions += 1
      return { status: 201, body: { session: `s-${sessions}` } }
    },
  }
}

function search(
  documents: readonly Document[],
  query: string,
  collection: string | null,
): Document[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  return documents.filter((document) => {
    if (collection && document.collection !== collection) return false
    const text = document.text.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

function countByCollection(documents: readonly Document[]): { name: string; documents: number }[] {
  const counts = new Map<string, number>()
  for (const { collection } of documents) {
    counts.set(collection, (counts.get(collection) ?? 0) + 1)
  }
  return [...counts].map(([name, count]) => ({ name, documents: count }))
}

function limitOf(query: URLSearchParams): number {
  return Number(query.get('limit') ?? 20)
}

function ok(body: unknown): UpstreamAnswer {
  return { status: 200, body }
}

function notFound(error: string): UpstreamAnswer {
  return { status: 404, body: { error } }
}
