import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'

export type WatchedPage = {
  page: Page
  /** Fails the test if anything went wrong in the page so far, or if a chart was left behind. */
  check(): Promise<void>
  close(): Promise<void>
}

export type WatchOptions = BrowserContextOptions & {
  /** The dashboard's address; nothing else may be asked for. */
  url: string
  /** What a test provokes on purpose. */
  expected?: RegExp
}

/** Turns what happens silently in a page into console errors, which are watched. */
const REPORT_VIOLATIONS = `document.addEventListener('securitypolicyviolation', (event) => {
  console.error('policy violation: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample)
})`

const COUNT_CHARTS = `window.Chart
  ? [Object.keys(Chart.instances).length, document.querySelectorAll('canvas').length]
  : [0, 0]`

/** A page in a fresh context in which every fault counts. */
export async function openWatched(browser: Browser, options: WatchOptions): Promise<WatchedPage> {
  const { url, expected, ...contextOptions } = options
  const context = await browser.newContext({ baseURL: url, ...contextOptions })
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  const problems: string[] = []
  const note = (problem: string) => {
    if (!expected?.test(problem)) problems.push(problem)
  }
  await page.addInitScript(REPORT_VIOLATIONS)
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') note(message.text())
  })
  page.on('pageerror', (error) => note(`page error: ${error.message}`))
  page.on('dialog', (dialog) => {
    note(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) note(`asked elsewhere: ${request.url()}`)
  })
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? ''
    // A newer request takes an older one's place, and leaving a page ends what it asked for.
    if (reason !== 'net::ERR_ABORTED') note(`request failed: ${request.url()} ${reason}`)
  })
  page.on('response', (response) => {
    if (response.status() >= 400) note(`answer ${response.status()}: ${response.url()}`)
  })
  return {
    page,
    async check() {
      assert.deepEqual(problems, [])
      if (contextOptions.javaScriptEnabled === false) return
      const [charts = 0, canvases = 0] = (await page.evaluate(COUNT_CHARTS)) as number[]
      assert.ok(charts <= canvases, `${charts} charts live on ${canvases} canvases`)
    },
    close: () => context.close(),
  }
}

const PATIENCE_MS = 60_000

/** Waits until the condition holds; a loaded machine may take its time. */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  while (!(await holds())) {
    if (performance.now() > deadline) assert.fail(`waited in vain: ${what}`)
    await sleep(50)
  }
}
