import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'
import { asText, type DemoTools } from './tool-support.ts'

const documentId = z.string().describe('Such as DOC-104')

export function registerDocumentTools(server: McpServer, { ask }: DemoTools): void {
  server.registerTool(
    'search_documents',
    {
      title: 'Search documents',
      description:
        'Finds documents that contain all the words; a line for each, none if none does.',
      inputSchema: {
        query: z.string().min(1).describe('Words to look for'),
        collection: z.string().optional().describe('Only in this collection'),
        limit: z.number().int().min(1).max(50).optional().describe('Default 20'),
      },
      annotations: { readOnlyHint: true, openWorldHint: true },
    },
    async ({ query, collection, limit }, { signal }) => {
      const answer = await ask((client) =>
        client.get('/documents', { signal, query: { q: query, collection, limit } }),
      )
      const { documents } = answer as { documents: { id: string; title: string }[] }
      const lines = documents.map(({ id, title }) => `${id}  ${title}`)
      return { content: [{ type: 'text', text: lines.join('\n') }] }
    },
  )

  server.registerTool(
    'get_document',
    {
      title: 'Get a document',
      description: 'The whole text of one document.',
      inputSchema: { document_id: documentId },
      annotations: { readOnlyHint: true, openWorldHint: true },
    },
    async ({ document_id }, { signal }) =>
      asText(
        await ask((client) =>
          client.get(`/documents/${encodeURIComponent(document_id)}`, { signal }),
        ),
      ),
  )

  server.registerTool(
    'summarize_document',
    {
      title: 'Summarize a document',
      description: 'The first sentences of one document.',
      inputSchema: {
        document_id: documentId,
        max_words: z.number().int().min(5).max(200).optional().describe('Default 60'),
      },
      annotations: { readOnlyHint: true, openWorldHint: true },
    },
    async ({ document_id, max_words }, { signal }) => {
      const path = `/documents/${encodeURIComponent(document_id)}/summary`
      const query = { words: max_words }
      const answer = await ask((client) => client.get(path, { signal, query }))
      const { summary } = answer as { summary: string }
      return { content: [{ type: 'text', text: summary }] }
    },
  )

  registerCollectionTools(server, ask)
}

function registerCollectionTools(server: McpServer, ask: DemoTools['ask']): void {
  server.registerTool(
    'list_collections',
    {
      title: 'List collections',
      description: 'All collections with the number of their documents.',
      annotations: { readOnlyHint: true, openWorldHint: true },
    },
    async ({ signal }) => asText(await ask((client) => client.get('/collections', { signal }))),
  )

  server.registerTool(
    'reindex_collection',
    {
      title: 'Reindex a collection',
      description: 'Queues a collection to be indexed anew; harmless if it is queued already.',
      inputSchema: { collection: z.string().describe('Name as list_collections gives it') },
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: true,
      },
    },
    async ({ collection }, { signal }) => {
      const path = `/collections/${encodeURIComponent(collection)}/index`
      return asText(await ask((client) => client.post(path, {}, { signal })))
    },
  )
}
