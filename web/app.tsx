import { type Context, Hono } from 'hono'
import { asStoreError, StoreError, type StoreState } from '../ingest/store/store-error.ts'
import type { Assets } from './assets.ts'
import { dataRoutes } from './data-routes.ts'
import type { DataSource } from './data-source.ts'
import { respond, respondBadQuery, shellFor } from './page-request.tsx'
import { pageRoutes } from './page-routes.tsx'
import { BrokenPage, NotFoundPage, UnavailablePage } from './pages/problem.tsx'
import { InvalidCursorError } from './queries/call-questions.ts'
import { ownOrigin } from './security/own-origin.ts'
import { requestGuard } from './security/request-guard.ts'
import { responseHeaders } from './security/response-headers.ts'
import { themeRoute } from './theme-route.ts'

export type AppOptions = {
  data: DataSource
  assets: Assets
  /** The port that requests name in `Host`. */
  port: number
  /** IANA zone in which times are meant where a URL names none. */
  zone: string
  now: () => number
  /** Called with what went wrong behind a 500 or 503; the client is told less. */
  onFault: (error: unknown) => void
}

/** The dashboard. Nothing is served before the request has passed the guard. */
export function createApp(options: AppOptions): Hono {
  const app = new Hono()
  const shellOf = (context: Context) => shellFor(context, options)
  app.use(responseHeaders())
  app.use(requestGuard(ownOrigin(options.port)))
  app.get('/assets/:name', (context) => {
    const asset = options.assets.byPath.get(context.req.path)
    if (!asset) return context.text('There is no such file.\n', 404)
    return context.body(asset.body, 200, {
      'content-type': asset.type,
      'cache-control': 'public, max-age=31536000, immutable',
    })
  })
  app.route('/', themeRoute())
  app.route('/', dataRoutes(options))
  app.route('/', pageRoutes(options))

  app.notFound((context) => {
    if (context.req.method === 'POST') {
      context.header('allow', 'GET, HEAD')
      return context.text('This page can only be read: use GET.\n', 405)
    }
    const body = <NotFoundPage what="page" />
    return respond(
      context,
      shellOf(context),
      { title: 'Not found', active: '', body },
      { status: 404 },
    )
  })

  app.onError((error, context) => {
    const wantsJson = context.req.path.endsWith('.json')
    if (error instanceof InvalidCursorError) {
      const problems = [{ name: 'cursor', message: error.message }]
      if (wantsJson) return context.json({ problems }, 400)
      return respondBadQuery(context, shellOf(context), problems, context.req.path)
    }
    options.onFault(error)
    const state = unavailableState(error)
    if (wantsJson) {
      const words = state ?? 'The answer failed.'
      return context.json({ error: words }, state ? 503 : 500)
    }
    const frame = state
      ? { title: 'Unavailable', body: <UnavailablePage state={state} /> }
      : { title: 'Failed', body: <BrokenPage /> }
    const status = state ? 503 : 500
    return respond(context, shellOf(context), { active: '', ...frame }, { status })
  })
  return app
}

/**
 * What is wrong and what to do. No path and no SQL in it: what the database's own message says goes
 * to the terminal.
 */
const STATES: Readonly<Partial<Record<StoreState, string>>> = {
  missing: 'The database file is not there. Start `unsilent serve` or `unsilent ingest`.',
  moved: 'The database file was deleted or replaced. Start again what ingests.',
  busy: 'Another program holds the database locked. Close it.',
  io: 'Reading the database failed: the disk does not answer as it should. Look at the disk.',
  corrupt:
    'The database is damaged. Move it aside, without deleting it, and ingest the logs again; `unsilent doctor` tells more.',
  full: 'There is no space left on the disk. Free some.',
  readonly:
    'The database, or its directory, may not be opened by this user. Run this as its owner.',
  not_a_database: 'The database file is not a database any more. Move it aside, or name another.',
  not_ours: 'The database file belongs to another program. Name another one with --db.',
  newer_schema: 'The database was made by a newer version of unsilent. Update this one.',
  older_schema:
    'The database was made by an older version of unsilent and is not yet up to date. Start `unsilent ingest` once.',
}

function unavailableState(error: unknown): string | undefined {
  const isSqlite = error instanceof Error && error.name === 'SqliteError'
  if (!isSqlite && !(error instanceof StoreError)) return undefined
  return STATES[asStoreError(error, '').state]
}
