import type { PropsWithChildren } from 'hono/jsx'
import { type Filter, printFilter, withValue } from '../queries/filter.ts'

/** What every page knows: the filter that the URL means, and the time at which it was asked. */
export type View = {
  /** The page's own path, to which filters lead. */
  path: string
  filter: Filter
  /** The zone that is meant where the URL names none. */
  defaultZone: string
  nowMs: number
}

export function hrefOf(path: string, query: URLSearchParams): string {
  const text = query.toString()
  return text === '' ? path : `${path}?${text}`
}

export function filterHref(view: View, path: string, filter: Filter = view.filter): string {
  return hrefOf(path, printFilter(filter, { defaultZone: view.defaultZone }))
}

export function callsHref(view: View, filter: Filter = view.filter): string {
  return filterHref(view, '/calls', filter)
}

/** Exactly the calls that a failure count counts: cancelled ones are no failures. */
export function onlyFailures(filter: Filter): Filter {
  return withValue(
    { ...filter, outcome: { include: ['failed'], exclude: [] } },
    'class',
    'cancelled',
    filter.class.include.length > 0 ? undefined : 'exclude',
  )
}

export function onlyTool(filter: Filter, server: string, tool: string): Filter {
  return {
    ...filter,
    server: { include: [server], exclude: [] },
    tool: { include: [tool], exclude: [] },
  }
}

/**
 * A link within a page: htmx replaces the view and keeps the rest, without JavaScript it is a
 * link like any other. Its id lets the keyboard's focus find it again after the swap.
 */
export function SwapLink({
  href,
  children,
  ...rest
}: PropsWithChildren<{
  href: string
  class?: string
  id?: string
  title?: string
  'aria-current'?: 'true' | 'page'
  'aria-label'?: string
}>) {
  return (
    <a
      href={href}
      hx-get={href}
      hx-target="#view"
      hx-push-url="true"
      hx-sync="#view:replace"
      {...rest}
    >
      {children}
    </a>
  )
}

/** Short, the same for the same text, and fit for an id. */
export function idOf(...parts: string[]): string {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(parts.join('\u0000'))) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  }
  return `x${hash.toString(36)}`
}
