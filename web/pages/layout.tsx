import { html } from 'hono/html'
import type { Child } from 'hono/jsx'
import type { Trouble } from '../../ingest/store/health-file.ts'
import type { Assets } from '../assets.ts'
import { TroubleBanner } from './trouble.tsx'

export const THEMES = ['auto', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

export const PAGES = [
  { path: '/', word: 'Overview' },
  { path: '/calls', word: 'Calls' },
  { path: '/timeouts', word: 'Timeouts' },
  { path: '/arguments', word: 'Arguments' },
  { path: '/ingest', word: 'Ingest' },
  { path: '/help', word: 'Help' },
] as const

export type Frame = {
  title: string
  /** Path of the page in the menu that this one is or belongs to. */
  active: string
  /** Query string, with `?`, that the menu's links to filtered pages keep. */
  keptQuery?: string | undefined
  /** Chart.js is loaded only where a chart may come. */
  hasChart?: boolean | undefined
  body: Child
}

export type Shell = {
  assets: Assets
  theme: Theme
  /** Told on every page: what is shown may be old. */
  trouble: Trouble | undefined
}

/** Settle delay 0: otherwise htmx writes style attributes, which our policy forbids. */
const HTMX_CONFIG = JSON.stringify({
  defaultSettleDelay: 0,
  defaultTimeout: 30_000,
  morphIgnore: ['data-htmx-powered', 'open'],
})

/** The whole page. */
export function renderPage({ assets, theme, trouble }: Shell, frame: Frame) {
  return html`<!doctype html>${(
    <html lang="en" data-theme={theme}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content={theme === 'auto' ? 'light dark' : theme} />
        <meta name="htmx-config" content={HTMX_CONFIG} />
        <title>{documentTitle(frame)}</title>
        <link rel="icon" href={assets.icon} type="image/svg+xml" />
        <link rel="stylesheet" href={assets.style} />
        <script src={assets.htmx} defer></script>
        {frame.hasChart && <script src={assets.chart} defer></script>}
        <script src={assets.script} defer></script>
      </head>
      <body>
        <a class="skip" href="#view">
          Skip to the content
        </a>
        <header class="top">
          <div class="wide">
            <a class="brand" href="/">
              <img src={assets.icon} alt="" width="20" height="20" />
              unsilent
            </a>
            <Menu frame={frame} />
            <ThemeForm theme={theme} />
          </div>
          <div id="trouble">
            <TroubleBanner trouble={trouble} />
          </div>
        </header>
        <div id="problem" class="wide" role="alert"></div>
        <main id="view" class="wide" tabindex={-1}>
          {frame.body}
        </main>
        <p id="said" class="hidden" role="status"></p>
      </body>
    </html>
  )}`
}

/** What htmx puts in place of the view, with the parts outside of it that changed too. */
export function renderFragment({ trouble }: Shell, frame: Frame) {
  return html`${(
    <>
      <title>{documentTitle(frame)}</title>
      {frame.body}
      <hx-partial hx-target="#menu" hx-swap="outerHTML">
        <Menu frame={frame} />
      </hx-partial>
      <hx-partial hx-target="#trouble" hx-swap="innerHTML">
        <TroubleBanner trouble={trouble} />
      </hx-partial>
      <hx-partial hx-target="#problem" hx-swap="innerHTML">
        <span class="hidden"></span>
      </hx-partial>
    </>
  )}`
}

function documentTitle({ title }: Frame): string {
  return `${title} · unsilent`
}

const FILTERED = ['/', '/calls', '/arguments']

function Menu({ frame }: { frame: Frame }) {
  return (
    <nav id="menu" aria-label="Pages">
      <ul>
        {PAGES.map(({ path, word }) => (
          <li>
            <a
              href={FILTERED.includes(path) ? path + (frame.keptQuery ?? '') : path}
              aria-current={path === frame.active ? 'page' : undefined}
            >
              {word}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

const THEME_WORDS: Readonly<Record<Theme, string>> = {
  auto: 'As the system',
  light: 'Light',
  dark: 'Dark',
}

const THEME_ICONS: Readonly<Record<Theme, string>> = {
  auto: 'M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11',
  light:
    'M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6M8 1.5v1.4M8 13.1v1.4M1.5 8h1.4M13.1 8h1.4M3.4 3.4l1 1M11.6 11.6l1 1M3.4 12.6l1-1M11.6 4.4l1-1',
  dark: 'M13 9.6A5.6 5.6 0 0 1 6.4 3a5.6 5.6 0 1 0 6.6 6.6z',
}

function ThemeForm({ theme }: { theme: Theme }) {
  return (
    <form class="themes" method="post" action="/theme">
      <fieldset>
        <legend class="hidden">Colours</legend>
        {THEMES.map((choice) => (
          <button
            type="submit"
            name="theme"
            value={choice}
            title={THEME_WORDS[choice]}
            aria-label={THEME_WORDS[choice]}
            aria-pressed={choice === theme ? 'true' : 'false'}
          >
            <svg class={`icon theme-${choice}`} viewBox="0 0 16 16" aria-hidden="true">
              <path d={THEME_ICONS[choice]} />
            </svg>
          </button>
        ))}
      </fieldset>
    </form>
  )
}
