import type { Context } from 'hono'
import { getCookie } from 'hono/cookie'
import { html } from 'hono/html'
import type { Child } from 'hono/jsx'
import type { Assets } from './assets.ts'
import type { DataSource } from './data-source.ts'
import { isFromForm, readFormQuery } from './pages/form-query.ts'
import {
  type Frame,
  renderFragment,
  renderPage,
  type Shell,
  THEMES,
  type Theme,
} from './pages/layout.tsx'
import { hrefOf, type View } from './pages/links.tsx'
import { BadQueryList, BadQueryPage } from './pages/problem.tsx'
import { type Problem, parseFilter, printFilter } from './queries/filter.ts'

export const THEME_COOKIE = 'unsilent_theme'

type Status = 200 | 400 | 404 | 405 | 500 | 503

/**
 * htmx asks for a fragment only when it says so twice. A step back in history says it once: it gets
 * the whole page, as a reload does.
 */
export function wantsFragment(context: Context): boolean {
  return (
    context.req.header('hx-request') === 'true' &&
    context.req.header('hx-request-type') === 'partial'
  )
}

export function themeOf(context: Context): Theme {
  const kept = getCookie(context, THEME_COOKIE)
  return THEMES.find((theme) => theme === kept) ?? 'auto'
}

/** What is the same on every page. */
export function shellFor(
  context: Context,
  { assets, data }: { assets: Assets; data: Pick<DataSource, 'trouble'> },
): Shell {
  return { assets, theme: themeOf(context), trouble: data.trouble() }
}

export function respond(
  context: Context,
  shell: Shell,
  frame: Frame,
  { status = 200, url }: { status?: Status; url?: string } = {},
) {
  context.header('vary', 'HX-Request, HX-Request-Type, Cookie')
  if (!wantsFragment(context)) return context.html(renderPage(shell, frame), status)
  if (url !== undefined) context.header('hx-push-url', url)
  return context.html(renderFragment(shell, frame), status)
}

/** A fragment that is no page of its own. */
export function respondFragment(context: Context, body: Child, status: Status = 200) {
  context.header('vary', 'HX-Request, HX-Request-Type, Cookie')
  return context.html(html`${body}`, status)
}

export type Asked =
  | { kind: 'view'; view: View; page: URLSearchParams; url: string }
  | { kind: 'redirect'; url: string }
  | { kind: 'bad'; problems: Problem[] }

export type AskOptions = {
  path: string
  zone: string
  nowMs: number
  /** The page's own parameters beside the filter's. */
  own?: readonly string[]
}

/** Reads the filter from a URL; what a plain form sent is led to its clean address first. */
export function ask(context: Context, { path, zone, nowMs, own = [] }: AskOptions): Asked {
  const sent = new URL(context.req.url).searchParams
  const query = readFormQuery(sent)
  const parsed = parseFilter(query, { nowMs, defaultZone: zone, alsoAllowed: own })
  const problems = [...(parsed.ok ? [] : parsed.problems), ...repeated(query, own)]
  if (!parsed.ok || problems.length > 0) return { kind: 'bad', problems }
  const clean = printFilter(parsed.filter, { defaultZone: zone })
  const page = new URLSearchParams()
  for (const name of own) {
    const value = query.get(name)
    if (value !== null) page.set(name, value)
  }
  const url = hrefOf(path, new URLSearchParams([...clean, ...page]))
  if (isFromForm(sent) && !wantsFragment(context)) return { kind: 'redirect', url }
  const view: View = { path, filter: parsed.filter, defaultZone: zone, nowMs }
  return { kind: 'view', view, page, url }
}

function repeated(query: URLSearchParams, own: readonly string[]): Problem[] {
  return own
    .filter((name) => query.getAll(name).length > 1)
    .map((name) => ({ name, message: `${name} is given several times: give it once` }))
}

/** 400, in the place that asked: above the form that sent it, or as a page. */
export function respondBadQuery(
  context: Context,
  shell: Shell,
  problems: readonly Problem[],
  path: string,
) {
  if (wantsFragment(context)) {
    return respondFragment(context, <BadQueryList problems={problems} />, 400)
  }
  const body = <BadQueryPage problems={problems} path={path} />
  return respond(context, shell, { title: 'Not understood', active: path, body }, { status: 400 })
}
