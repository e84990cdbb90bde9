import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'
import { requireEnv } from '../index.ts'
import { CURRENCIES } from './sample-data.ts'
import { asText, type DemoTools } from './tool-support.ts'

const currency = z
  .string()
  .length(3)
  .describe(`ISO code, one of ${CURRENCIES.join(', ')}`)

export function registerBillingTools(server: McpServer, { ask }: DemoTools): void {
  server.registerTool(
    'list_invoices',
    {
      title: 'List invoices',
      description: 'Invoices of one customer or of all, newest number last.',
      inputSchema: {
        customer: z.string().optional().describe('Exact name of the customer'),
        status: z.enum(['open', 'paid', 'overdue']).optional(),
        limit: z.number().int().min(1).max(100).optional().describe('Default 20'),
      },
      annotations: { readOnlyHint: true, openWorldHint: true },
    },
    async (query, { signal }) =>
      asText(await ask((client) => client.get('/invoices', { signal, query }))),
  )

  server.registerTool(
    'get_invoice',
    {
      title: 'Get an invoice',
      description: 'One invoice by its number.',
      inputSchema: { invoice_id: z.string().describe('Such as INV-2007') },
      annotations: { readOnlyHint: true, openWorldHint: true },
    },
    async ({ invoice_id }, { signal }) =>
      asText(
        await ask((client) =>
          client.get(`/invoices/${encodeURIComponent(invoice_id)}`, { signal }),
        ),
      ),
  )

  server.registerTool(
    'create_invoice',
    {
      title: 'Create an invoice',
      description: 'Creates an invoice each time it is called.',
      inputSchema: {
        customer: z.string().describe('Exact name of the customer'),
        currency,
        amount: z.number().positive().describe('In units of the currency, as 129.5'),
        due: z.iso.date().optional().describe('Day by which it is to be paid, as 2026-05-31'),
      },
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: true,
      },
    },
    async (invoice, { signal }) =>
      asText(await ask((client) => client.post('/invoices', invoice, { signal }))),
  )

  registerRatesAndStatements(server, { ask })
}

function registerRatesAndStatements(server: McpServer, { ask }: DemoTools): void {
  server.registerTool(
    'get_exchange_rate',
    {
      title: 'Get an exchange rate',
      description: 'How many units of one currency buy one unit of another, today.',
      inputSchema: { base: currency, quote: currency },
      outputSchema: { base: z.string(), quote: z.string(), rate: z.number() },
      annotations: { readOnlyHint: true, openWorldHint: true },
    },
    async ({ base, quote }, { signal }) => {
      const answer = await ask((client) => client.get(`/rates/${base}/${quote}`, { signal }))
      return { ...asText(answer), structuredContent: answer as Record<string, unknown> }
    },
  )

  server.registerTool(
    'export_statement',
    {
      title: 'Export a statement',
      description: 'A statement of one customer for one month, ready to be downloaded.',
      inputSchema: {
        customer: z.string().describe('Exact name of the customer'),
        month: z
          .string()
          .regex(/^\d{4}-\d{2}$/, 'must look like 2026-04')
          .describe('As 2026-04'),
        format: z.enum(['pdf', 'csv']).optional().describe('Default pdf'),
      },
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
    },
    async (statement, { signal }) => {
      // Asked for here and not at the start, so that the other tools work without the key.
      const key = requireEnv('BILLING_EXPORT_KEY')
      const headers = { authorization: `Bearer ${key}` }
      return asText(
        await ask((client) => client.post('/statements', statement, { signal, headers })),
      )
    },
  )
}
