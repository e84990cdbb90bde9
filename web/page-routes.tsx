import { type Context, Hono } from 'hono'
import { rankSignatures } from './analysis/argument-signatures.ts'
import type { Assets } from './assets.ts'
import type { Data, DataSource } from './data-source.ts'
import {
  type Asked,
  ask,
  respond,
  respondBadQuery,
  respondFragment,
  shellFor,
} from './page-request.tsx'
import { ArgumentsPage } from './pages/arguments.tsx'
import { CallPage } from './pages/call.tsx'
import { CALLS_PER_PAGE, CallsPage } from './pages/calls.tsx'
import { FindingsPage } from './pages/findings.tsx'
import { HelpPage } from './pages/help.tsx'
import { IngestPage } from './pages/ingest.tsx'
import type { Frame, Shell } from './pages/layout.tsx'
import { hrefOf, type View } from './pages/links.tsx'
import { LiveAnswer, OverviewPage, type OverviewRows } from './pages/overview.tsx'
import { NotFoundPage } from './pages/problem.tsx'
import { TimeoutsPage } from './pages/timeouts.tsx'
import { visibleText } from './pages/visible-text.tsx'
import { WelcomePage } from './pages/welcome.tsx'
import { isUnfiltered, printFilter } from './queries/filter.ts'

export type PageRoutesOptions = {
  data: DataSource
  assets: Assets
  zone: string
  now: () => number
}

const LATEST_CALLS = 12
const MINUTE_MS = 60_000

/** Token of a page that shows no data: the first call makes it load anew. */
const EMPTY_TOKEN = 'empty'

export function pageRoutes({ data, assets, zone, now }: PageRoutesOptions): Hono {
  const routes = new Hono()
  const shell = (context: Context): Shell => shellFor(context, { assets, data })

  /** Answers with the page that `draw` makes of the filter in the URL. */
  function page(
    context: Context,
    path: string,
    draw: (view: View, own: URLSearchParams) => Omit<Frame, 'active' | 'keptQuery'>,
    own: readonly string[] = [],
  ) {
    const asked: Asked = ask(context, { path, zone, nowMs: now(), own })
    if (asked.kind === 'bad') return respondBadQuery(context, shell(context), asked.problems, path)
    if (asked.kind === 'redirect') return context.redirect(asked.url, 303)
    const keptQuery = hrefOf('', printFilter(asked.view.filter, { defaultZone: zone }))
    const frame = { ...draw(asked.view, asked.page), active: path, keptQuery }
    return respond(context, shell(context), frame, { url: asked.url })
  }

  routes.get('/', (context) =>
    page(context, '/', (view) => {
      const current = data.current()
      const live = { token: tokenOf(current, view.nowMs), newerThan: undefined }
      if (current.store.extent() === undefined) {
        const health = current.store.ingestHealth()
        const body = <WelcomePage view={view} health={health} token={EMPTY_TOKEN} />
        return { title: 'No call yet', body }
      }
      const body = <OverviewPage view={view} rows={overviewRows(current, view)} live={live} />
      return { title: 'Overview', hasChart: true, body }
    }),
  )

  routes.get('/live', (context) => {
    const own = ['token', 'newest']
    const asked = ask(context, { path: '/', zone, nowMs: now(), own })
    if (asked.kind === 'bad') return respondBadQuery(context, shell(context), asked.problems, '/')
    if (asked.kind === 'redirect') return context.redirect(asked.url, 303)
    const current = data.current()
    const seen = asked.page.get('token')
    const token = tokenOf(current, asked.view.nowMs)
    const isEmpty = current.store.extent() === undefined
    if (seen === token || (seen === EMPTY_TOKEN && isEmpty)) return context.body(null, 204)
    if (seen === EMPTY_TOKEN || isEmpty) {
      context.header('hx-refresh', 'true')
      return context.body(null, 200)
    }
    const newest = Number(asked.page.get('newest'))
    const live = { token, newerThan: Number.isSafeInteger(newest) ? newest : undefined }
    const rows = overviewRows(current, asked.view)
    return respondFragment(context, <LiveAnswer view={asked.view} rows={rows} live={live} />)
  })

  routes.get('/calls', (context) =>
    page(
      context,
      '/calls',
      (view, own) => {
        const { store } = data.current()
        const cursor = own.get('cursor') ?? undefined
        const rows = store.snapshot((at) => ({
          page: at.calls(view.filter, { limit: CALLS_PER_PAGE, cursor }),
          facets: at.facets(view.filter),
          hidden: isUnfiltered(view.filter) ? 0 : at.keyFigures(view.filter).hidden,
          cursor,
        }))
        return { title: 'Calls', body: <CallsPage view={view} rows={rows} /> }
      },
      ['cursor'],
    ),
  )

  routes.get('/calls/:id{[0-9]+}', (context) => {
    const call = data.current().store.call(Number(context.req.param('id')))
    const asked = ask(context, { path: '/calls', zone, nowMs: now() })
    if (asked.kind === 'bad') {
      return respondBadQuery(context, shell(context), asked.problems, context.req.path)
    }
    if (asked.kind === 'redirect') return context.redirect(context.req.path, 303)
    if (!call) {
      const frame = { title: 'Not found', active: '/calls', body: <NotFoundPage what="call" /> }
      return respond(context, shell(context), frame, { status: 404 })
    }
    const title = `${visibleText(call.tool)}, call ${call.id}`
    const body = <CallPage view={asked.view} call={call} />
    return respond(context, shell(context), { title, active: '/calls', body })
  })

  routes.get('/timeouts', (context) =>
    page(context, '/timeouts', (view) => {
      const { findings } = data.current()
      const rows = {
        windows: findings.windows(),
        findings: findings.current(),
        status: findings.status(),
      }
      const body = <TimeoutsPage view={view} rows={rows} />
      return { title: 'Timeouts', body }
    }),
  )

  routes.get('/findings', (context) =>
    page(context, '/findings', () => {
      const { findings } = data.current()
      const body = (
        <FindingsPage
          findings={findings.current()}
          windows={findings.windows()}
          status={findings.status()}
        />
      )
      return { title: 'Findings', body }
    }),
  )

  routes.get('/arguments', (context) =>
    page(context, '/arguments', (view) => {
      const { store } = data.current()
      const rows = store.snapshot((at) => ({
        signatures: rankSignatures(at.signatures(view.filter), at.wrongNames(view.filter)),
        facets: at.facets(view.filter),
      }))
      return { title: 'Malformed arguments', body: <ArgumentsPage view={view} rows={rows} /> }
    }),
  )

  routes.get('/ingest', (context) =>
    page(context, '/ingest', (view) => {
      const health = data.current().store.ingestHealth()
      const body = <IngestPage view={view} health={health} trouble={data.trouble()} />
      return { title: 'Ingest', body }
    }),
  )

  routes.get('/help', (context) =>
    page(context, '/help', () => ({ title: 'Help', body: <HelpPage /> })),
  )
  return routes
}

/** A new minute is a reason to draw anew even without new calls: ranges and ages move on. */
function tokenOf({ generation, store }: Data, nowMs: number): string {
  return `${generation}.${store.dataVersion()}.${Math.floor(nowMs / MINUTE_MS)}`
}

function overviewRows({ store, findings }: Data, { filter }: View): OverviewRows {
  const rows = store.snapshot((at) => ({
    figures: at.keyFigures(filter),
    buckets: at.callsOverTime(filter),
    heatmap: at.heatmap(filter),
    tools: at.tools(filter),
    latest: at.calls(filter, { limit: LATEST_CALLS }).rows,
    facets: at.facets(filter),
    lastCallMs: at.extent()?.lastMs,
  }))
  return {
    ...rows,
    findings: findings.current(),
    windows: findings.windows(),
    status: findings.status(),
  }
}
