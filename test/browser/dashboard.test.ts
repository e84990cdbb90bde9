import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchChromium } from './find-chromium.ts'
import {
  NOW_MS,
  oneOfEach,
  type SampleDashboard,
  sampleCalls,
  sampleDashboard,
  startSample,
} from './sample-dashboard.ts'
import { openWatched, until } from './watched-page.ts'

let browser: Browser
/** For tests that only read. */
let sample: SampleDashboard

before(async () => {
  browser = await launchChromium()
  sample = await startSample(sampleCalls())
})

after(async () => {
  await browser?.close()
  await sample?.close()
})

const REFRESH = `htmx.trigger('#live', 'refresh')`

const HAS_CHART = `Boolean(window.Chart && Chart.getChart(document.querySelector('canvas')))`

test('the overview shows its findings and draws its chart', async () => {
  const { page, check, close } = await openWatched(browser, { url: sample.url })
  await page.goto('/')
  await until('the chart is drawn', () => page.evaluate(HAS_CHART))
  assert.equal(await page.locator('.chart-box canvas').isVisible(), true)
  assert.equal(await page.locator('.chart-box > svg').isVisible(), false)
  const cards = await page.locator('.card-sentence').allTextContents()
  assert.ok(
    cards.some((words) => /get_rate times out/.test(words)),
    cards.join('\n'),
  )
  assert.ok(cards.some((words) => /search is sent pattern, in place of query/.test(words)))
  assert.equal(await page.locator('.heatmap tbody td').count(), 168)
  await check()
  await close()
})

test('a click on a bar leads to the calls of its time', async () => {
  const { page, check, close } = await openWatched(browser, { url: sample.url })
  await page.goto('/')
  await until('the chart is drawn', () => page.evaluate(HAS_CHART))
  const canvas = page.locator('.chart-box canvas')
  const box = await canvas.boundingBox()
  assert.ok(box)
  await canvas.click({ position: { x: box.width / 2, y: box.height - 40 } })
  await page.waitForURL(/\/calls\?from=/)
  await check()
  await close()
})

test('G9: a filter swaps the list and the address, Back and Forward bring both again', async (t) => {
  const { url } = await sampleDashboard(t, sampleCalls())
  const { page, check, close } = await openWatched(browser, { url })
  const total = () => page.locator('h1 .count').textContent()
  await page.goto('/calls')
  const all = await total()

  await page.getByLabel(/^fetch\b/).check()
  await page.waitForURL('**/calls?tool=fetch')
  await until('the list is filtered', async () => (await total()) === '5')
  assert.equal(await page.evaluate('document.activeElement.value'), 'fetch', 'focus is kept')
  assert.equal(await page.title(), 'Calls · unsilent')
  assert.equal(await page.getByRole('status').textContent(), '5 calls')

  await page.locator('.calls tbody a').first().click()
  await page.waitForURL(/\/calls\/\d+$/)
  await page.goBack()
  await page.waitForURL('**/calls?tool=fetch')
  await until('the filtered list is back', async () => (await total()) === '5')
  assert.equal(await page.getByLabel(/^fetch\b/).isChecked(), true)

  await page.goBack()
  await page.waitForURL(`${url}/calls`)
  await until('the whole list is back', async () => (await total()) === all)
  assert.equal(await page.getByLabel(/^fetch\b/).isChecked(), false)

  await page.goForward()
  await until('the filter is back', async () => (await total()) === '5')
  await check()
  await close()
})

test('each swap and each step back leaves one chart', async () => {
  const { page, check, close } = await openWatched(browser, { url: sample.url })
  const calls = () => page.locator('.figure-value').first().textContent()
  await page.goto('/')
  const all = await calls()
  await page.getByRole('link', { name: '7 days' }).click()
  await page.waitForURL('**/?from=now-7d')
  await until('the chart is drawn', () => page.evaluate(HAS_CHART))
  await check()
  await page.goBack()
  await until('all calls are back', async () => (await calls()) === all)
  await until('the chart is drawn', () => page.evaluate(HAS_CHART))
  await check()
  await close()
})

test('G10: new calls come in without moving what is being read', async (t) => {
  const { url, add } = await sampleDashboard(t, oneOfEach())
  const { page, check, close } = await openWatched(browser, { url })
  await page.goto('/')
  await until('the chart is drawn', () => page.evaluate(HAS_CHART))
  await page.locator('#over-time-numbers summary').click()
  await page.locator('#filters summary').click()
  await page.locator('#when-from').fill('half typ')
  await page.evaluate('scrollTo(0, 600)')
  const scrolled = await page.evaluate('scrollY')
  const chart = await page.evaluate('Chart.getChart(document.querySelector("canvas")).id')

  add([{ startedMs: NOW_MS - 1, tool: 'fresh_tool', session: 'now' }])
  await page.evaluate(REFRESH)
  const fresh = page.locator('.latest .fresh')
  await until('the call is shown', async () => (await fresh.count()) === 1)

  assert.match((await fresh.textContent()) ?? '', /fresh_tool/)
  assert.equal(await page.evaluate('scrollY'), scrolled)
  assert.equal(await page.evaluate('document.activeElement.id'), 'when-from')
  assert.equal(await page.locator('#when-from').inputValue(), 'half typ')
  assert.equal(await page.locator('#over-time-numbers').getAttribute('open'), '')
  assert.equal(await page.evaluate('Chart.getChart(document.querySelector("canvas")).id'), chart)
  await check()
  await close()
})

test('G10: a failed refresh keeps the old numbers and says since when they are old', async (t) => {
  const { url, add } = await sampleDashboard(t, oneOfEach())
  const expected = /Failed to load resource|\/live|htmx:error/
  const { page, check, close } = await openWatched(browser, { url, expected })
  await page.goto('/')
  const words = page.locator('#live-words')
  for (const fail of ['abort', 'status'] as const) {
    await page.route('**/live?*', (route) =>
      fail === 'abort' ? route.abort() : route.fulfill({ status: 503, body: 'gone' }),
    )
    await page.evaluate(REFRESH)
    await until(`stale (${fail})`, async () =>
      /^Stale since \d/.test((await words.textContent()) ?? ''),
    )
    assert.equal(await page.locator('.figures .figure').count(), 6)
    await page.unroute('**/live?*')
    add([{ startedMs: NOW_MS - 1 }])
    await page.evaluate(REFRESH)
    await until('live again', async () => (await words.textContent()) === 'Live')
  }
  await check()
  await close()
})

test('following can be paused', async () => {
  const { page, check, close } = await openWatched(browser, { url: sample.url })
  await page.goto('/')
  await page.getByRole('button', { name: 'Pause' }).click()
  assert.equal(await page.locator('#live-words').textContent(), 'Paused')
  await page.getByRole('button', { name: 'Resume' }).click()
  assert.equal(await page.locator('#live-words').textContent(), 'Live')
  await check()
  await close()
})

test('the empty page fills by itself', async (t) => {
  const { url, add } = await sampleDashboard(t, [])
  const { page, check, close } = await openWatched(browser, { url })
  await page.goto('/')
  assert.equal(await page.locator('h1').textContent(), 'No tool call yet')
  add(oneOfEach())
  await page.evaluate(REFRESH)
  await until('the overview has come', async () => (await page.locator('.figures').count()) > 0)
  await check()
  await close()
})

test('times can be read in the zone of the browser, on every axis', async () => {
  const timezoneId = 'Pacific/Auckland'
  const { page, check, close } = await openWatched(browser, { url: sample.url, timezoneId })
  await page.goto('/calls')
  await page.locator('#when-tz').selectOption({ label: 'Pacific/Auckland (this browser)' })
  await page.waitForURL(/\?tz=Pacific%2FAuckland$/)
  await until('times have moved', async () =>
    /^Times in Pacific\/Auckland$/.test((await page.locator('.zone').textContent()) ?? ''),
  )
  await check()
  await close()
})

test('a field that cannot be meant is explained and can be mended', async () => {
  const expected = /400/
  const { page, check, close } = await openWatched(browser, { url: sample.url, expected })
  await page.goto('/calls')
  await page.locator('#when-from').fill('yesterday')
  await page.locator('#when-from').press('Enter')
  const alert = page.getByRole('alert')
  await until('the field is named', async () =>
    /is not a time/.test((await alert.textContent()) ?? ''),
  )
  assert.equal(await page.locator('#when-from').inputValue(), 'yesterday')
  assert.equal(page.url(), `${sample.url}/calls`)
  await page.locator('#when-from').fill('now-7d')
  await page.locator('#when-from').press('Enter')
  await page.waitForURL('**/calls?from=now-7d')
  await until('the alert is gone', async () => (await alert.textContent()) === '')
  await check()
  await close()
})

test('the choice of colours is kept, on the page where it was made', async () => {
  const { page, check, close } = await openWatched(browser, {
    url: sample.url,
    colorScheme: 'light',
  })
  const ground = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor')
  await page.goto('/calls?tool=fetch')
  const light = await ground()
  await page.getByRole('button', { name: 'Dark' }).click()
  await page.waitForURL('**/calls?tool=fetch')
  assert.notEqual(await ground(), light)
  await page.goto('/')
  assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark')
  await check()
  await close()
})

test('a call’s arguments can be copied exactly', async (t) => {
  const { url } = await sampleDashboard(t, [
    { startedMs: NOW_MS - 1000, args: { query: 'invoices', limit: 10 } },
  ])
  const permissions = ['clipboard-read', 'clipboard-write']
  const { page, check, close } = await openWatched(browser, { url, permissions })
  await page.goto('/calls/1')
  await page.getByRole('button', { name: 'Copy', exact: true }).click()
  await until('it says so', async () => (await page.getByRole('status').textContent()) === 'Copied')
  assert.equal(
    await page.evaluate('navigator.clipboard.readText()'),
    '{"query":"invoices","limit":10}',
  )
  await check()
  await close()
})

test('without JavaScript the lists, the map, the drawing and the filters are there', async () => {
  const { page, check, close } = await openWatched(browser, {
    url: sample.url,
    javaScriptEnabled: false,
  })
  await page.goto('/')
  assert.equal(await page.locator('.heatmap tbody td').count(), 168)
  assert.equal(await page.locator('.chart-box > svg').isVisible(), true)
  assert.equal(await page.locator('#live-toggle').isVisible(), false)
  await page.locator('#over-time-numbers summary').click()
  assert.equal(await page.locator('#over-time-numbers table').isVisible(), true)
  await page.locator('.heatmap td a').first().click()
  await page.waitForURL(/\/calls\?/)

  await page.goto('/calls')
  await page.getByLabel(/^fetch\b/).check()
  await page.locator('#when-tod_from').fill('00:00')
  await page.locator('#when-tod_to').fill('23:45')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.waitForURL('**/calls?tool=fetch&tod=00%3A00-23%3A45')
  assert.equal(await page.locator('.calls tbody tr').count(), 5)

  await page.goto('/calls')
  await page.getByRole('link', { name: 'Older' }).click()
  await page.waitForURL('**/calls?cursor=*')
  assert.equal(await page.locator('.calls tbody tr').count(), 50)
  await check()
  await close()
})

test('no page is wider than a screen of 320 pixels', async () => {
  const viewport = { width: 320, height: 640 }
  const { page, check, close } = await openWatched(browser, { url: sample.url, viewport })
  for (const path of [
    '/',
    '/calls',
    '/calls/1',
    '/timeouts',
    '/findings',
    '/arguments',
    '/ingest',
    '/help',
  ]) {
    await page.goto(path)
    const wider = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    )
    assert.equal(wider, 0, path)
  }
  await check()
  await close()
})
