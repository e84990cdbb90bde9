import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { openWriter } from '../../ingest/store/open-database.ts'
import {
  createRequestInbox,
  placeRequest,
  readAnswer,
  withdrawRequest,
} from '../../ingest/store/requests.ts'
import { openState, statePath } from '../../ingest/store/state-database.ts'
import { StoreError } from '../../ingest/store/store-error.ts'
import { createRequestDesk, type RequestHandlers } from '../../ingest/worker/request-desk.ts'
import { RequestRefusal } from '../../ingest/worker/request-refusal.ts'
import { createWorld, NOON } from './support.ts'

test('the state file stands beside its database, under its name', () => {
  assert.equal(statePath('/a/unsilent.db'), '/a/unsilent-state.db')
  assert.equal(statePath('/a/calls.v2.sqlite'), '/a/calls.v2-state.sqlite')
  assert.equal(statePath('/a/calls'), '/a/calls-state.db')
})

test('the state file is private, made once, and needs no second file', () => {
  const { databasePath } = createWorld()
  openState(databasePath).close()
  openState(databasePath).close()
  const path = statePath(databasePath)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  for (const suffix of ['-wal', '-shm', '-journal']) assert.equal(existsSync(path + suffix), false)
})

test("another program's file in the place of the state file is refused and left as it is", () => {
  const { databasePath } = createWorld()
  const path = statePath(databasePath)
  writeFileSync(path, 'dear diary\n'.repeat(50))
  assert.throws(
    () => openState(databasePath),
    (error) => error instanceof StoreError && error.state === 'not_a_database',
  )
  assert.equal(readFileSync(path, 'utf8'), 'dear diary\n'.repeat(50))
})

test('a state file of a newer version is refused', () => {
  const { databasePath } = createWorld()
  const state = openState(databasePath)
  state.pragma('user_version = 1000')
  state.close()
  assert.throws(() => openState(databasePath), /has schema version 1000.*update unsilent/)
})

test('an inbox sees each request from its placing to its withdrawal', () => {
  const { databasePath } = createWorld()
  const inbox = createRequestInbox(databasePath)
  assert.deepEqual(inbox.waiting(), [])
  const first = placeRequest(databasePath, 'forget', { tool: 'a' }, NOON)
  const second = placeRequest(databasePath, 'forget', { tool: 'b' }, NOON + 1)
  assert.deepEqual(inbox.waiting(), [
    { id: first, kind: 'forget', parameters: { tool: 'a' }, askedMs: NOON },
    { id: second, kind: 'forget', parameters: { tool: 'b' }, askedMs: NOON + 1 },
  ])
  assert.equal(withdrawRequest(databasePath, first), true)
  assert.equal(withdrawRequest(databasePath, first), false)
  assert.deepEqual(
    inbox.waiting().map(({ id }) => id),
    [second],
  )
})

function deskWith(handlers: RequestHandlers) {
  const { databasePath } = createWorld()
  const database = openWriter(databasePath)
  const desk = createRequestDesk(databasePath, () => NOON, handlers)
  const stepToEnd = (): number => {
    let steps = 0
    while (desk.step(database)) steps += 1
    return steps
  }
  return { databasePath, database, desk, stepToEnd }
}

test('a request is done step by step, answered, and taken out of the file', () => {
  const done: unknown[] = []
  const { databasePath, database, desk, stepToEnd } = deskWith({
    *forget({ request }) {
      done.push(request.parameters)
      yield
      done.push('second step')
      yield
      return { calls: 3 }
    },
  })
  assert.equal(desk.step(database), false)
  const id = placeRequest(databasePath, 'forget', { tool: 'a' }, NOON)
  assert.equal(desk.step(database), true)
  assert.deepEqual(done, [{ tool: 'a' }])
  assert.equal(readAnswer(database, id), undefined)
  assert.equal(stepToEnd(), 2)
  assert.deepEqual(done, [{ tool: 'a' }, 'second step'])
  assert.deepEqual(readAnswer(database, id), { outcome: 'done', counts: { calls: 3 } })
  assert.equal(withdrawRequest(databasePath, id), false)
})

test('what cannot be done, or is of a kind nobody knows, is answered with a sentence', () => {
  const { databasePath, database, stepToEnd } = deskWith({
    // biome-ignore lint/correctness/useYield: it fails before its first step
    *forget() {
      throw new RequestRefusal('Name a tool.')
    },
  })
  const refused = placeRequest(databasePath, 'forget', {}, NOON)
  const unknown = placeRequest(databasePath, 'quarantine_retry', {}, NOON)
  stepToEnd()
  assert.deepEqual(readAnswer(database, refused), { outcome: 'refused', reason: 'Name a tool.' })
  const answer = readAnswer(database, unknown)
  assert.match(answer?.outcome === 'refused' ? answer.reason : '', /"quarantine_retry"; restart it/)
})

test('a request that was answered before a crash is not done again', () => {
  let times = 0
  const handlers: RequestHandlers = {
    *forget() {
      times += 1
      yield
      return {}
    },
  }
  const { databasePath, database, stepToEnd } = deskWith(handlers)
  const id = placeRequest(databasePath, 'forget', {}, NOON)
  stepToEnd()
  const state = openState(databasePath)
  state.prepare("INSERT INTO request VALUES (?, 'forget', '{}', ?)").run(id, NOON)
  state.close()
  const next = createRequestDesk(databasePath, () => NOON, handlers)
  assert.equal(next.step(database), false)
  assert.equal(times, 1)
  assert.equal(withdrawRequest(databasePath, id), false)
})

test('a damaged state file is a problem to be told, and keeps nothing from being read', () => {
  const { databasePath, database, desk } = deskWith({})
  writeFileSync(statePath(databasePath), 'x'.repeat(500))
  assert.equal(desk.step(database), false)
  assert.match(desk.problem() ?? '', /unsilent-state\.db is not a SQLite database.*move it away/)
})
