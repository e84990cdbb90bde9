import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { readRecords } from './demo-log.ts'
import { startChild } from './stdio-child.ts'
import {
  checkCancellation,
  checkQuestionInRounds,
  checkQuestionWithinCall,
  checkThrowAfterQuestion,
  checkTimeout,
  checkUrlElicitation,
} from './v2-endings.ts'
import { checkEveryAnswer } from './v2-faults.ts'
import { type Era, linkInMemory, linkStdio, type V2Link } from './v2-harness.ts'
import { logDirectory } from './wrapper-harness.ts'

test('SDK v2 in memory', async (t) => {
  const link = await linkInMemory(t)
  await checkSession(t, link, '2025-11-25', 'memory')
})

for (const era of ['2025-11-25', '2026-07-28'] as const) {
  test(`SDK v2 over stdio in ${era}`, async (t) => {
    await checkSession(t, await linkStdio(t, era), era, 'stdio')
  })
}

test('D5: SDK v2 survives a closed pipe, and the log says that nobody read the answer', async (t) => {
  const logs = logDirectory(t)
  const child = await startChild(t, 'v2-stdio-server.ts', [logs])
  child.process.stdout?.destroy()
  child.call(1, 'no_schema')
  assert.equal(await child.exitCode(), 0)
  const records = readRecords(logs)
  const call = records.find(({ kind }) => kind === 'call')
  const late = records.find(({ kind }) => kind === 'late')
  assert.equal(late?.kind === 'late' && late.tool, 'no_schema')
  assert.equal(late?.kind === 'late' && late.call, call?.kind === 'call' && call.call)
})

async function checkSession(t: TestContext, link: V2Link, era: Era, transport: string) {
  await t.test('each call is answered, and leaves one record', () =>
    checkEveryAnswer(link, era, transport),
  )
  await t.test('a client that gives up leaves one record', () => checkTimeout(link))
  await t.test('a cancelled call leaves one record', () => checkCancellation(link))
  if (era === '2026-07-28') {
    await t.test('a question passes untouched, its call is deferred', () =>
      checkQuestionInRounds(link),
    )
    return
  }
  await t.test('a URL elicitation passes untouched', () => checkUrlElicitation(link))
  await t.test('a question within a call leaves one record', () => checkQuestionWithinCall(link))
  await t.test('a handler that throws after a question is classified', () =>
    checkThrowAfterQuestion(link),
  )
}
