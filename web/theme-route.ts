import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { setCookie } from 'hono/cookie'
import { THEME_COOKIE } from './page-request.tsx'
import { THEMES } from './pages/layout.tsx'

const MAX_BODY_BYTES = 64 * 1024
const YEAR_S = 365 * 86_400

/** The one route that changes something: a cookie with the choice of colours. */
export function themeRoute(): Hono {
  const routes = new Hono()
  routes.post(
    '/theme',
    bodyLimit({
      maxSize: MAX_BODY_BYTES,
      onError: (context) => context.text('The form is too large.\n', 413),
    }),
    async (context) => {
      const { theme } = await context.req.parseBody()
      const chosen = THEMES.find((name) => name === theme)
      if (!chosen) return context.text(`theme must be one of ${THEMES.join(', ')}.\n`, 400)
      setCookie(context, THEME_COOKIE, chosen, {
        httpOnly: true,
        sameSite: 'Strict',
        path: '/',
        maxAge: YEAR_S,
      })
      return context.redirect(placeOf(context.req.header('referer')), 303)
    },
  )
  return routes
}

/** Back to the page that the form was on. The guard has checked that it was one of ours. */
function placeOf(referer: string | undefined): string {
  if (!referer || !URL.canParse(referer)) return '/'
  const { pathname, search } = new URL(referer)
  // Two slashes would begin another host's name.
  return pathname.replace(/^\/+/, '/') + search
}
