import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  createOpenJournal,
  MAX_SLOTS,
  type OpenCallEntry,
  readOpenJournal,
  SLOT_BYTES,
} from '../../server/call-log/open-journal.ts'

function setUp(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'unsilent-journal-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const path = join(directory, 'shop.20260101T000000Z.1.9f3a1c22.open')
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const clock = { ms: 0 }
  const journal = createOpenJournal({
    path,
    header: () => ({
      w: '9f3a1c22'.repeat(4),
      pid: 1,
      boot_id: 'boot',
      started: 1_767_225_600_000,
    }),
    monotonicMs: () => clock.ms,
  })
  t.after(() => journal.remove())
  return {
    path,
    journal,
    pass(ms: number) {
      clock.ms += ms
      t.mock.timers.tick(ms)
    },
    read: () => readOpenJournal(readFileSync(path)),
    names: () => readOpenJournal(readFileSync(path))?.calls.map(({ call }) => call),
  }
}

function entry(call: string, args: unknown = { id: 1 }): () => OpenCallEntry {
  return () => ({
    server: { name: 'shop', version: '1' },
    call,
    tool: 'search',
    request: 7,
    started: 1_767_225_600_000,
    args,
  })
}

test('a call that ends at once leaves no trace', (t) => {
  const { journal, pass, path } = setUp(t)
  for (let index = 0; index < 1_000; index++) {
    journal.opened(`call-${index}`, () => assert.fail('nobody should ask'))
    journal.closed(`call-${index}`)
  }
  pass(1_000)
  assert.equal(existsSync(path), false)
})

test('a call that takes its time stands in the journal until it ends', (t) => {
  const { journal, pass, path, read, names } = setUp(t)
  journal.opened('a', entry('a', { query: 'x', token: 'CANARY1' }))
  pass(50)
  assert.deepEqual(read(), {
    header: {
      v: 1,
      kind: 'open_calls',
      w: '9f3a1c22'.repeat(4),
      pid: 1,
      boot_id: 'boot',
      started: 1_767_225_600_000,
      slot_bytes: SLOT_BYTES,
    },
    calls: [
      {
        ...entry('a')(),
        args: { query: 'x', token: read()?.calls[0] && tokenOf(read()?.calls[0]?.args) },
      },
    ],
    brokenSlots: 0,
  })
  assert.ok(!readFileSync(path, 'utf8').includes('CANARY1'))
  assert.equal(statSync(path).mode & 0o777, 0o600)
  journal.closed('a')
  assert.deepEqual(names(), [])
})

function tokenOf(args: unknown): string {
  const { token } = args as { token: string }
  assert.match(token, /^\[redacted 1-7 chars #[0-9a-f]{12}\]$/)
  return token
}

test('slots are used again, and young calls wait for their turn', (t) => {
  const { journal, pass, names } = setUp(t)
  journal.opened('a', entry('a'))
  pass(30)
  journal.opened('b', entry('b'))
  pass(20)
  assert.deepEqual(names(), ['a'])
  pass(50)
  assert.deepEqual(names(), ['a', 'b'])
  journal.closed('a')
  journal.opened('c', entry('c'))
  pass(100)
  assert.deepEqual(names(), ['c', 'b'])
})

test('arguments that do not fit are replaced by their size', (t) => {
  const { journal, pass, read } = setUp(t)
  journal.opened('a', entry('a', { text: 'x'.repeat(20_000) }))
  journal.opened('b', entry('b', { text: 'short' }))
  pass(100)
  const calls = read()?.calls ?? []
  assert.deepEqual(calls[0]?.args, { $trunc: true, bytes: 20_011 })
  assert.deepEqual(calls[1]?.args, { text: 'short' })
})

test('more calls than slots are no fault', (t) => {
  const { journal, pass, names } = setUp(t)
  for (let index = 0; index < MAX_SLOTS + 50; index++) {
    journal.opened(`${index}`, entry(`${index}`))
  }
  pass(100)
  assert.equal(names()?.length, MAX_SLOTS)
  for (let index = 0; index < MAX_SLOTS + 50; index++) journal.closed(`${index}`)
  assert.deepEqual(names(), [])
})

test('a journal that cannot be written is done without', (t) => {
  const { journal, pass, path } = setUp(t)
  writeFileSync(path, 'somebody else’s')
  journal.opened('a', entry('a'))
  pass(100)
  journal.closed('a')
  journal.opened('b', () => {
    throw new Error('no')
  })
  pass(100)
  journal.remove()
  assert.equal(readFileSync(path, 'utf8'), 'somebody else’s')
})

test('remove takes the file away', (t) => {
  const { journal, pass, path } = setUp(t)
  journal.opened('a', entry('a'))
  pass(100)
  assert.equal(existsSync(path), true)
  journal.remove()
  assert.equal(existsSync(path), false)
})

test('a slot that was written in part is counted, a foreign file is no journal', (t) => {
  const { journal, pass, path } = setUp(t)
  journal.opened('a', entry('a'))
  journal.opened('b', entry('b'))
  pass(100)
  const bytes = readFileSync(path)
  bytes.fill(0, SLOT_BYTES * 2 + 20)
  const read = readOpenJournal(bytes)
  assert.deepEqual(
    read?.calls.map(({ call }) => call),
    ['a'],
  )
  assert.equal(read?.brokenSlots, 1)
  assert.equal(readOpenJournal(Buffer.from('{"kind":"call"}\n')), undefined)
  assert.equal(readOpenJournal(Buffer.alloc(0)), undefined)
  assert.equal(readOpenJournal(Buffer.alloc(100_000)), undefined)
})
