import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { createHealthFile } from '../../ingest/store/health-file.ts'
import { launchChromium } from './find-chromium.ts'
import { NOW_MS, type SampleDashboard, sampleCalls, startSample } from './sample-dashboard.ts'
import { openWatched } from './watched-page.ts'

/** Evaluated, since our policy lets no foreign script element run. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Each violation as one line: the rule, and where. */
const runAxe = (options: object) => `axe.run(document, ${JSON.stringify(options)}).then(
  ({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => id + ' ' + target.join(' ') + ' ' + failureSummary)))`

const EVERYTHING = { resultTypes: ['violations'] }

/** All that a theme can change. */
const COLOURS = { runOnly: ['color-contrast', 'link-in-text-block'] }

const PAGES = [
  '/?from=now-7d',
  '/calls',
  '/calls/1',
  '/timeouts',
  '/findings',
  '/arguments',
  '/ingest',
  '/help',
  '/nowhere',
]

let browser: Browser
let full: SampleDashboard
let empty: SampleDashboard

before(async () => {
  browser = await launchChromium()
  full = await startSample(sampleCalls())
  empty = await startSample([])
})

after(async () => {
  await browser?.close()
  await full?.close()
  await empty?.close()
})

async function violationsIn(page: Page, options: object = EVERYTHING): Promise<string[]> {
  return (await page.evaluate(runAxe(options))) as string[]
}

async function openWithAxe(page: Page, path: string): Promise<void> {
  await page.goto(path)
  await page.evaluate(
    `for (const details of document.querySelectorAll('details')) details.open = true`,
  )
  await page.evaluate(AXE)
}

async function checkPages(url: string, paths: readonly string[]): Promise<void> {
  const { page, check, close } = await openWatched(browser, {
    url,
    expected: /404/,
    // Colours on their way to the other theme are no colours to judge.
    reducedMotion: 'reduce',
  })
  for (const path of paths) {
    await openWithAxe(page, path)
    await page.emulateMedia({ colorScheme: 'light' })
    assert.deepEqual(await violationsIn(page), [], path)
    await page.emulateMedia({ colorScheme: 'dark' })
    assert.deepEqual(await violationsIn(page, COLOURS), [], `${path} dark`)
  }
  await check()
  await close()
}

test('axe finds nothing on any page with calls, in both themes', () => checkPages(full.url, PAGES))

test('axe finds nothing on any page without calls, in both themes', () =>
  checkPages(empty.url, ['/', '/calls', '/timeouts', '/findings', '/arguments', '/ingest']))

test('axe finds nothing where ingesting is in trouble, in both themes', async () => {
  const health = createHealthFile(empty.databasePath)
  const message = 'There is no space left for the database; free some.'
  health.write({ state: 'full', message, sinceMs: NOW_MS, atMs: NOW_MS, pid: 7, ended: false })
  try {
    await checkPages(empty.url, ['/', '/calls', '/ingest'])
  } finally {
    health.write(undefined)
  }
})

test('axe finds nothing with filters in use and on a narrow screen', async () => {
  const viewport = { width: 390, height: 844 }
  const { page, check, close } = await openWatched(browser, { url: full.url, viewport })
  for (const path of ['/calls?tool=fetch&class=!cancelled&tod=22:00-06:00', '/?tool=none', '/']) {
    await openWithAxe(page, path)
    assert.deepEqual(await violationsIn(page), [], path)
  }
  await check()
  await close()
})

test('the keyboard reaches the content, the filters and each row', async () => {
  const { page, check, close } = await openWatched(browser, { url: full.url })
  await page.goto('/calls?tool=fetch')
  await page.keyboard.press('Tab')
  assert.equal(
    await page.evaluate('document.activeElement.textContent.trim()'),
    'Skip to the content',
  )
  await page.keyboard.press('Enter')
  const reached = new Set<string>()
  for (let presses = 0; presses < 80; presses++) {
    await page.keyboard.press('Tab')
    reached.add(
      String(
        await page.evaluate(
          'document.activeElement.id || document.activeElement.textContent.trim()',
        ),
      ),
    )
  }
  for (const id of ['range-now-7d', 'clear-filters', 'when-from', 'when-tz']) {
    assert.ok(reached.has(id), `${id} is not among ${[...reached].join(', ')}`)
  }
  assert.ok([...reached].some((words) => /^\w{3},? \d+ \w{3}, \d\d:\d\d$/.test(words)))
  await check()
  await close()
})
