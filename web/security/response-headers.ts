import type { MiddlewareHandler } from 'hono'

/** No inline code, no eval, nothing from elsewhere: what a log contains can never run. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/**
 * On every answer, refusals included. Referrer-Policy is `same-origin` and not `no-referrer`,
 * because under the latter Chromium sends `Origin: null` with our own forms.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'cache-control': 'no-store',
}

/** Sets the headers; a handler that chose its own `cache-control` (hashed assets) keeps it. */
export function responseHeaders(): MiddlewareHandler {
  return async function setHeaders(context, next) {
    await next()
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) {
      if (!context.res.headers.has(name)) context.res.headers.set(name, value)
    }
  }
}
