import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import pino from 'pino'
import { z } from 'zod'
import type { Logger } from '../../server/index.ts'
import { startChild } from './stdio-child.ts'
import { logDirectory, startWrapped } from './wrapper-harness.ts'

type Line = { level: number; msg: string; app?: string; toolCall: Record<string, unknown> }

function fileLogger(path: string) {
  return pino({ base: { app: 'billing' } }, pino.destination({ dest: path, sync: true }))
}

function linesOf(path: string): Line[] {
  return readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
}

function register(server: Parameters<Parameters<typeof startWrapped>[1]>[0]): void {
  server.registerTool('find', { inputSchema: { id: z.number(), password: z.string() } }, () => ({
    content: [{ type: 'text', text: 'found' }],
  }))
  server.registerTool('throws', {}, () => {
    throw new Error('boom')
  })
}

test('the application’s own pino logger gets one line a call, at the call’s level, redacted', async (t) => {
  const path = join(logDirectory(t), 'app.log')
  const { call, calls } = await startWrapped(t, register, { logger: fileLogger(path) })
  await call('find', { id: 7, password: 'hunter2' })
  await call('throws')
  const [found, thrown, ...more] = linesOf(path)
  assert.deepEqual(more, [])
  assert.equal(found?.app, 'billing')
  assert.equal(found?.level, 30)
  assert.match(found?.msg ?? '', /^find succeeded after [\d.]+ ms$/)
  assert.equal(thrown?.level, 50)
  const [first] = calls()
  assert.equal(found?.toolCall.call, first?.call)
  assert.deepEqual(found?.toolCall.args, first?.args)
  assert.doesNotMatch(readFileSync(path, 'utf8'), /hunter2/)
})

test('without a call log the own logger still gets its lines', async (t) => {
  const path = join(logDirectory(t), 'app.log')
  const { call } = await startWrapped(t, register, { logs: false, logger: fileLogger(path) })
  await call('find', { id: 7, password: 'hunter2' })
  assert.deepEqual(
    linesOf(path).map(({ toolCall }) => toolCall.tool),
    ['find'],
  )
})

test('a logger that throws changes no answer and no record', async (t) => {
  const refuse = () => {
    throw new Error('no room')
  }
  const logger: Logger = { info: refuse, warn: refuse, error: refuse }
  const { call, calls } = await startWrapped(t, register, { logger })
  const answer = await call('find', { id: 7, password: 'x' })
  assert.deepEqual(answer.content, [{ type: 'text', text: 'found' }])
  assert.equal(calls().length, 1)
})

test('D2: a logger that writes to stdout gets no line over stdio, and stderr says why', async (t) => {
  for (const kind of ['pino', 'child', 'process.stdout']) {
    const child = await startChild(t, 'own-logger-server.ts', [logDirectory(t), kind])
    child.call(1, 'echo', { text: 'one' })
    child.call(2, 'echo', { text: 'two' })
    await child.answer(1)
    await child.answer(2)
    assert.equal(child.lines.length, 3, kind)
    assert.match(child.stderr(), /the logger of the options writes to stdout/, kind)
    assert.equal(child.stderr().split('writes to stdout').length, 2, 'it is told once')
  }
})

test('a logger that writes to stderr gets its lines over stdio', async (t) => {
  const child = await startChild(t, 'own-logger-server.ts', [logDirectory(t), 'stderr'])
  child.call(1, 'echo', { text: 'one' })
  await child.answer(1)
  assert.match(child.stderr(), /"toolCall":\{"kind":"call".*"msg":"echo succeeded after/)
})

test('something that is no logger is refused with what to give instead', async (t) => {
  const logger = { info: () => undefined } as unknown as Logger
  await assert.rejects(startWrapped(t, register, { logger }), /`logger` must be a pino logger, or/)
})
