import assert from 'node:assert/strict'
import { test } from 'node:test'
import { launchChromium } from './find-chromium.ts'

test('a browser that is named and not there fails with one sentence that helps', async () => {
  await assert.rejects(launchChromium({ CHROMIUM_PATH: '/nowhere/chromium' }), (error: Error) => {
    assert.match(
      error.message,
      /^No Chromium could be started \(CHROMIUM_PATH \(\/nowhere\/chromium\)/,
    )
    assert.match(error.message, /playwright-core install/)
    assert.equal(error.message.split('\n').length, 1)
    return true
  })
})
