import { type Context, Hono } from 'hono'
import type { DataSource } from './data-source.ts'
import { ask } from './page-request.tsx'
import { CALLS_PER_PAGE } from './pages/calls.tsx'

export type DataRoutesOptions = { data: DataSource; zone: string; now: () => number }

const MAX_LIMIT = 500

/** The same rows as the pages, as JSON; and a sign of life for whoever started this. */
export function dataRoutes({ data, zone, now }: DataRoutesOptions): Hono {
  const routes = new Hono()
  const asked = (context: Context, path: string, own: readonly string[] = []) =>
    ask(context, { path, zone, nowMs: now(), own })

  routes.get('/healthz', (context) => {
    data.current().store.dataVersion()
    return context.json({ ok: true })
  })

  routes.get('/overview.json', (context) => {
    const request = asked(context, '/overview.json')
    if (request.kind === 'bad') return context.json({ problems: request.problems }, 400)
    if (request.kind === 'redirect') return context.redirect(request.url, 303)
    const { store, findings } = data.current()
    const { filter } = request.view
    const rows = store.snapshot((now) => ({
      figures: now.keyFigures(filter),
      buckets: now.callsOverTime(filter),
      heatmap: now.heatmap(filter),
      tools: now.tools(filter),
    }))
    return context.json({ filter, findings: findings.current(), ...rows })
  })

  routes.get('/calls.json', (context) => {
    const request = asked(context, '/calls.json', ['cursor', 'limit'])
    if (request.kind === 'bad') return context.json({ problems: request.problems }, 400)
    if (request.kind === 'redirect') return context.redirect(request.url, 303)
    const limit = readLimit(request.page.get('limit'))
    if (typeof limit === 'string') {
      return context.json({ problems: [{ name: 'limit', message: limit }] }, 400)
    }
    const { filter } = request.view
    const cursor = request.page.get('cursor') ?? undefined
    const page = data.current().store.calls(filter, { limit, cursor })
    return context.json({ filter, ...page })
  })

  routes.get('/calls/:file{[0-9]+\\.json}', (context) => {
    const call = data.current().store.call(Number(context.req.param('file').slice(0, -5)))
    return call ? context.json(call) : context.json({ error: 'There is no such call.' }, 404)
  })

  routes.get('/calls/:id{[0-9]+}/arguments', (context) => {
    const call = data.current().store.call(Number(context.req.param('id')))
    if (call?.args === undefined) return context.text('There are no such arguments.\n', 404)
    return context.body(call.args, 200, { 'content-type': 'text/plain; charset=utf-8' })
  })
  return routes
}

function readLimit(text: string | null): number | string {
  if (text === null) return CALLS_PER_PAGE
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= MAX_LIMIT) return limit
  return `write a number from 1 to ${MAX_LIMIT}`
}
