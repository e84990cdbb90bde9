import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { visibleText } from '../../web/pages/visible-text.tsx'
import { HOSTILE_TEXTS, hostileCalls } from '../web/fixtures/hostile-texts.ts'
import { launchChromium } from './find-chromium.ts'
import { NOW_MS, type SampleDashboard, startSample } from './sample-dashboard.ts'
import { openWatched, until } from './watched-page.ts'

/** Elements and attributes that no page of ours has; there must be none from a log either. */
const FOREIGN = `[...document.querySelectorAll('*')].filter((element) =>
  /^(iframe|object|embed|base|math|video|audio|marquee|template|style|textarea)$/i.test(element.localName) ||
  element.localName === 'custom-element' ||
  [...element.attributes].some(({ name, value }) =>
    /^on|^srcdoc$|^style$|^background$|^formaction$/.test(name) && element.localName !== 'canvas' ||
    /^(href|src|action)$/.test(name) && !/^(\\/(?!\\/)|#)/.test(value))
).map((element) => element.outerHTML.slice(0, 200))`

const SCRIPTS = `[...document.scripts].filter(({ src, type }) =>
  !(src.startsWith(location.origin + '/assets/') || type === 'application/json')).length`

let browser: Browser
let sample: SampleDashboard

before(async () => {
  browser = await launchChromium()
  sample = await startSample(hostileCalls(NOW_MS))
})

after(async () => {
  await browser?.close()
  await sample?.close()
})

async function assertInert(page: Page, what: string): Promise<void> {
  await page.evaluate(
    `for (const details of document.querySelectorAll('details')) details.open = true`,
  )
  assert.deepEqual(await page.evaluate(FOREIGN), [], what)
  assert.equal(await page.evaluate(SCRIPTS), 0, what)
  assert.equal(await page.evaluate('document.querySelectorAll("#view").length'), 1, what)
  assert.match(await page.title(), / · unsilent$/, what)
}

test('G1: more than a hundred hostile texts are inert on every page', async () => {
  assert.ok(HOSTILE_TEXTS.length >= 100)
  const { page, check, close } = await openWatched(browser, { url: sample.url })
  for (const path of ['/', '/timeouts', '/findings', '/arguments', '/ingest']) {
    await page.goto(path)
    await assertInert(page, path)
  }
  // The rest of the list is read without a browser, in pages-hostile.test.ts.
  await page.goto('/calls')
  await assertInert(page, 'calls')
  await page.locator('#older').click()
  await page.waitForURL('**/calls?cursor=*')
  await assertInert(page, 'older calls')
  await check()
  await close()
})

test('G1: hostile texts are inert in what htmx swaps in', async () => {
  const { page, check, close } = await openWatched(browser, { url: sample.url })
  await page.goto('/')
  await page.getByRole('link', { name: '7 days' }).click()
  await page.waitForURL('**/?from=now-7d')
  await assertInert(page, 'after a swap')
  sample.add(hostileCalls(NOW_MS).slice(0, 3))
  await page.evaluate(`htmx.trigger('#live', 'refresh')`)
  await until('new calls', async () => (await page.locator('.latest .fresh').count()) > 0)
  await assertInert(page, 'after a refresh')
  await check()
  await close()
})

test('G1: the page of a hostile call shows its texts literally', async () => {
  const { page, check, close } = await openWatched(browser, { url: sample.url })
  for (const [index, text] of HOSTILE_TEXTS.entries()) {
    if (index % 12 !== 0) continue
    await page.goto(`/calls/${index * 3 + 2}`)
    await assertInert(page, text)
    const heading = ((await page.locator('h1').textContent()) ?? '').replace(/\ufffd+/g, '\ufffd')
    // Half a surrogate pair cannot be stored: a replacement character stands for it.
    assert.equal(heading, visibleText(Buffer.from(text).toString()))
  }
  await check()
  await close()
})

test('G1: hostile values are filtered by like any other', async () => {
  const { page, check, close } = await openWatched(browser, { url: sample.url })
  for (const text of ['<script>alert(1)</script>', '!not', '\\!not', "' OR '1'='1", '__proto__']) {
    const value = /^[!\\]/.test(text) ? `\\${text}` : text
    await page.goto(`/calls?tool=${encodeURIComponent(value)}`)
    assert.equal(await page.locator('.calls tbody tr').count(), 3, text)
  }
  await check()
  await close()
})
