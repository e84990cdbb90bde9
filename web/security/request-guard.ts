import type { MiddlewareHandler } from 'hono'
import { isOwnHost, isOwnUrlOrigin, type OwnOrigin } from './own-origin.ts'

/** What the guard looks at; a header that was not sent is undefined. */
export type RequestFacts = {
  method: string
  host: string | undefined
  origin: string | undefined
  fetchSite: string | undefined
  fetchMode: string | undefined
  fetchDest: string | undefined
}

export type Refusal = { status: 403 | 405; reason: string }

const METHODS = ['GET', 'HEAD', 'POST']

/**
 * Why a request is refused, or undefined. Reads stay open to programs without a browser, which
 * send neither Origin nor Sec-Fetch-Site; a browser on a foreign page always sends one of them.
 */
export function refusalOf(facts: RequestFacts, own: OwnOrigin): Refusal | undefined {
  if (!isOwnHost(own, facts.host)) {
    return { status: 403, reason: `Ask for this page as ${own.origins[0]}, not by another name.` }
  }
  if (facts.origin !== undefined && !isOwnUrlOrigin(own, facts.origin)) {
    return { status: 403, reason: 'This request came from another site.' }
  }
  if (isFromElsewhere(facts)) {
    return { status: 403, reason: 'This request came from another site.' }
  }
  if (!METHODS.includes(facts.method)) {
    return { status: 405, reason: 'Use GET, HEAD or POST.' }
  }
  // A form post from a browser always has an Origin; asking for it closes the one gap left.
  if (facts.method === 'POST' && facts.origin === undefined) {
    return { status: 403, reason: 'A POST needs the Origin header.' }
  }
  return undefined
}

/** A link in a chat may open the dashboard; a foreign page may not embed or fetch it. */
function isFromElsewhere({ method, fetchSite, fetchMode, fetchDest }: RequestFacts): boolean {
  if (fetchSite === undefined || fetchSite === 'same-origin' || fetchSite === 'none') return false
  const isRead = method === 'GET' || method === 'HEAD'
  return !(isRead && fetchMode === 'navigate' && fetchDest === 'document')
}

export function requestGuard(own: OwnOrigin): MiddlewareHandler {
  return async function guardRequest(context, next) {
    const header = (name: string) => context.req.header(name)
    // A request line may hold a whole URL; its host counts as much as the header's.
    const urlHost = new URL(context.req.url).host
    const refusal = refusalOf(
      {
        method: context.req.method,
        host: isOwnHost(own, urlHost) ? (header('host') ?? urlHost) : urlHost,
        origin: header('origin'),
        fetchSite: header('sec-fetch-site'),
        fetchMode: header('sec-fetch-mode'),
        fetchDest: header('sec-fetch-dest'),
      },
      own,
    )
    if (!refusal) return next()
    if (refusal.status === 405) context.header('allow', METHODS.join(', '))
    return context.text(`${refusal.reason}\n`, refusal.status)
  }
}
