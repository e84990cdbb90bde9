import assert from 'node:assert/strict'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { LogRecord } from '../../server/call-log/record.ts'
import { type CallLog, type CallLogOptions, openCallLog } from '../../server/call-log/writer.ts'
import { callRecord } from './call-records.ts'
import { linesOf, logFiles, ofKind, readLog, unexplainedHoles } from './read-log.ts'

const server = { name: 'shop', version: '1.0.0' }

function newDirectory(t: TestContext): string {
  const parent = mkdtempSync(join(tmpdir(), 'unsilent-log-'))
  t.after(() => rmSync(parent, { recursive: true, force: true }))
  return join(parent, 'logs')
}

function openLog(t: TestContext, options: Partial<CallLogOptions> = {}): CallLog {
  const log = openCallLog({ directory: newDirectory(t), server, beatMs: 0, ...options })
  t.after(() => log.close())
  return log
}

async function until<T>(look: () => T | undefined | false, what: string): Promise<T> {
  const giveUpAt = Date.now() + 20_000
  while (Date.now() < giveUpAt) {
    const found = look()
    if (found) return found
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error(`waited in vain for ${what}`)
}

test('a log begins with start and numbers its records without holes', (t) => {
  const tools = [{ name: 'search', schema_hash: 'abc' }]
  const log = openLog(t, { tools: () => tools })
  log.record(callRecord(1))
  log.record(callRecord(2))
  log.close()
  const records = readLog(log.directory)
  assert.deepEqual(
    records.map(({ n, kind }) => [n, kind]),
    [
      [1, 'start'],
      [2, 'call'],
      [3, 'call'],
      [4, 'exit'],
    ],
  )
  const [start] = ofKind(records, 'start')
  assert.equal(start?.node, process.version)
  assert.equal(start?.beat_ms, 0)
  assert.deepEqual(start?.tools, tools)
  assert.deepEqual(start?.server, server)
  assert.equal(new Set(records.map(({ w }) => w)).size, 1)
  assert.match(start?.w ?? '', /^[0-9a-f]{32}$/)
})

test('a file is named for server, start, process, writer and number, and is its owner’s alone', (t) => {
  const directory = newDirectory(t)
  const log = openLog(t, {
    directory,
    server: { name: '../Büro: shop.v2/…', version: '1' },
    now: () => Date.UTC(2026, 2, 15, 1, 2, 3, 456),
  })
  log.record(callRecord(1))
  const [name = ''] = logFiles(directory)
  const [{ w } = { w: '' }] = readLog(directory)
  assert.equal(name, `B-ro-shop-v2.20260315T010203Z.${process.pid}.${w.slice(0, 8)}.1.jsonl`)
  assert.equal(statSync(join(directory, name)).mode & 0o777, 0o600)
  assert.equal(statSync(directory).mode & 0o777, 0o700)
})

test('a process has one writer for a directory, however often it is asked for', (t) => {
  const directory = newDirectory(t)
  const logs = Array.from({ length: 20 }, () => openLog(t, { directory }))
  for (const [index, log] of logs.entries()) log.record(callRecord(index))
  assert.equal(logFiles(directory).length, 1)
  assert.equal(new Set(logs).size, 1)
  assert.notEqual(openLog(t), logs[0])
})

test('args is the last key of a call’s line, however the record was put together', (t) => {
  const log = openLog(t)
  const { args, ...rest } = callRecord(1)
  const record: LogRecord = { args, ...rest, error: { class: 'unexpected', message: 'x' } }
  log.record(record)
  const text = readFileSync(join(log.directory, logFiles(log.directory)[0] ?? ''), 'utf8')
  assert.match(text.split('\n')[1] ?? '', /,"args":\{"query":"invoice 1"\}\}$/)
})

test('nothing unredacted or unbounded goes into a line, whoever made the record', (t) => {
  const log = openLog(t)
  const canary = 'CANARY1'
  log.record(
    callRecord(1, {
      tool: `t${'x'.repeat(1_000_000)}`,
      request: `token=${canary}`,
      client: { name: `password=${canary}`, version: 'v'.repeat(100_000) },
      outcome: 'failed',
      dropped: Array.from({ length: 500 }, (_, index) => `${index} api_key=${canary}`),
      error: {
        class: 'unexpected',
        name: 'Error',
        message: `GET https://u:${canary}@host/?token=${canary} failed ${'y'.repeat(100_000)}`,
        stack: `Error: secret=${canary}\n${'    at x\n'.repeat(50_000)}`,
        causes: Array.from({ length: 100 }, () => ({ message: `Authorization: ${canary}` })),
        upstream: `https://u:${canary}@host`,
      },
      issues: Array.from({ length: 500 }, () => ({
        path: `ghp_${'A1'.repeat(20)}`,
        code: 'other' as const,
        expected: 'z'.repeat(100_000),
      })),
      args: {
        password: canary,
        text: 'w'.repeat(30_000),
        many: Array(300).fill('v'.repeat(30_000)),
      },
    }),
  )
  const [name = ''] = logFiles(log.directory)
  const line = readFileSync(join(log.directory, name), 'utf8').split('\n')[1] ?? ''
  assert.ok(Buffer.byteLength(line) < 256 * 1024, `${Buffer.byteLength(line)} bytes`)
  assert.ok(!line.includes(canary))
  assert.ok(!line.includes('ghp_'))
})

test('B15: NUL and half a surrogate pair leave the line one line of valid JSON', (t) => {
  const log = openLog(t)
  const args = { q: 'a\u0000b', half: '\ud800', line: 'a\nb\u2028c', ansi: '\u001b[31m' }
  log.record(callRecord(1, { args, tool: 'a\nb' }))
  const [call] = ofKind(readLog(log.directory), 'call')
  assert.deepEqual(call?.args, args)
  assert.equal(call?.tool, 'a\nb')
})

test('A15: a record that cannot be read is counted, and the next one is written', (t) => {
  const log = openLog(t)
  const hostile = Object.defineProperty(callRecord(1), 'tool', {
    enumerable: true,
    get() {
      throw new Error('no')
    },
  })
  log.record(hostile)
  log.record(
    callRecord(2, {
      args: {
        get x() {
          throw new Error('no')
        },
        big: 1n,
        nan: Number.NaN,
      },
    }),
  )
  const records = readLog(log.directory)
  const [drop] = ofKind(records, 'drop')
  assert.deepEqual([drop?.reason, drop?.records, drop?.from_n, drop?.to_n], ['unreadable', 1, 2, 2])
  assert.deepEqual(
    ofKind(records, 'call').map(({ args }) => args),
    [{ x: '[unreadable]', big: '1', nan: 'NaN' }],
  )
  assert.deepEqual(unexplainedHoles(records), [])
})

test('a file is left before the write that would make it too large', (t) => {
  const maxFileBytes = 1024 * 1024
  const log = openLog(t, { maxFileBytes })
  for (let id = 0; id < 120; id++)
    log.record(callRecord(id, { args: { text: 'x'.repeat(30_000) } }))
  log.close()
  const files = logFiles(log.directory)
  assert.ok(files.length >= 4, `${files.length} files`)
  const records = readLog(log.directory)
  assert.deepEqual(
    records.map(({ n }) => n),
    records.map((_, index) => index + 1),
  )
  assert.equal(ofKind(records, 'call').length, 120)
  for (const [index, name] of files.entries()) {
    assert.ok(statSync(join(log.directory, name)).size <= maxFileBytes)
    const own = linesOf(join(log.directory, name))
    const [first, last] = [own[0], own.at(-1)]
    if (index === 0) assert.equal(first?.kind, 'start')
    else assert.ok(first?.kind === 'open' && first.previous_file === files[index - 1])
    if (index === files.length - 1) assert.equal(last?.kind, 'exit')
    else assert.ok(last?.kind === 'close' && last.next_file === files[index + 1])
  }
})

test('R31: a file is left after a day; a clock set back does not bring its name again', (t) => {
  let now = Date.UTC(2026, 2, 28, 12)
  const log = openLog(t, { now: () => now })
  log.record(callRecord(1))
  now += 24 * 3600 * 1000
  log.record(callRecord(2))
  now -= 30 * 24 * 3600 * 1000
  log.record(callRecord(3))
  now += 31 * 24 * 3600 * 1000
  log.record(callRecord(4))
  const names = logFiles(log.directory)
  assert.equal(names.length, 3)
  assert.deepEqual(
    names.map((name) => name.split('.').at(-2)),
    ['1', '2', '3'],
  )
  assert.deepEqual(unexplainedHoles(readLog(log.directory)), [])
})

test('beats tell of open calls, and stop with the log', async (t) => {
  const log = openLog(t, { beatMs: 20 })
  const open = Array.from({ length: 30 }, (_, index) => ({ call: `c${index}`, tool: 't', ms: 9 }))
  log.onBeat(() => open)
  log.onBeat(() => {
    throw new Error('no')
  })
  const beats = await until(() => {
    const found = ofKind(readLog(log.directory), 'beat')
    return found.length >= 3 && found
  }, 'three beats')
  assert.equal(beats[0]?.beat_ms, 20)
  assert.equal(beats[0]?.open.length, 20)
  assert.equal(beats[0]?.open[0]?.call, 'c0')
  assert.ok((beats[0]?.rss_bytes ?? 0) > 1_000_000)
  assert.ok((beats[0]?.loop_delay_ms ?? -1) >= 0)
  log.close()
  const after = readLog(log.directory).length
  await new Promise((resolve) => setTimeout(resolve, 60))
  assert.equal(readLog(log.directory).length, after)
})

test('a beat tells how long the event loop stood still', async (t) => {
  const log = openLog(t, { beatMs: 50 })
  await new Promise((resolve) => setTimeout(resolve, 60))
  const until200 = performance.now() + 200
  while (performance.now() < until200);
  const worst = await until(
    () => ofKind(readLog(log.directory), 'beat').find(({ loop_delay_ms }) => loop_delay_ms >= 100),
    'a beat with the delay',
  )
  assert.ok(worst.loop_delay_ms < 5_000)
})

test('M3: records wait in memory while the disk is full; what is lost is counted exactly', async (t) => {
  let full = false
  const log = openLog(t, {
    append(fd, data) {
      if (full)
        throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
      return writeSync(fd, Buffer.from(data))
    },
  })
  log.record(callRecord(1))
  full = true
  for (let id = 2; id <= 300; id++)
    log.record(callRecord(id, { args: { text: 'x'.repeat(30_000) } }))
  assert.equal(ofKind(readLog(log.directory), 'call').length, 1)
  full = false
  const records = await until(() => {
    const found = readLog(log.directory)
    return ofKind(found, 'drop').length > 0 && found
  }, 'the drop record')
  const [drop] = ofKind(records, 'drop')
  const written = ofKind(records, 'call').length
  assert.equal(drop?.reason, 'ENOSPC')
  assert.equal(written + (drop?.records ?? 0), 300)
  assert.ok(written > 100, 'four megabytes wait')
  assert.deepEqual(unexplainedHoles(records), [])
  log.record(callRecord(301))
  assert.equal(readLog(log.directory).at(-1)?.n, (drop?.n ?? 0) + 1)
})

test('M13: a directory that every user can write to is refused, a sticky one is not', (t) => {
  const directory = newDirectory(t)
  mkdirSync(directory)
  chmodSync(directory, 0o777)
  const log = openLog(t, { directory })
  log.record(callRecord(1))
  assert.deepEqual(logFiles(directory), [])
  chmodSync(directory, 0o1777)
  log.close()
  assert.equal(ofKind(readLog(directory), 'call').length, 1)
})

test('a symbolic link to a directory of one’s own is followed', (t) => {
  const directory = newDirectory(t)
  const real = newDirectory(t)
  mkdirSync(real, { mode: 0o700 })
  symlinkSync(real, directory)
  const log = openLog(t, { directory })
  log.record(callRecord(1))
  assert.equal(ofKind(readLog(real), 'call').length, 1)
})

test('M3: where the directory cannot be made, the calls go on', (t) => {
  const directory = newDirectory(t)
  writeFileSync(directory, 'a file stands here')
  const log = openLog(t, { directory })
  for (let id = 0; id < 10; id++) log.record(callRecord(id))
  rmSync(directory)
  log.close()
  const records = readLog(directory)
  assert.equal(ofKind(records, 'call').length, 10)
  assert.equal(records[0]?.kind, 'start')
})

test('wrong options are refused with what to write instead', (t) => {
  const directory = newDirectory(t)
  assert.throws(() => openCallLog({ directory, server, beatMs: -1 }), /beatMs must be 0 \(never\)/)
  assert.throws(() => openCallLog({ directory, server, maxFileBytes: 1000 }), /at least 1048576/)
})

test('what comes after close opens a file of its own', (t) => {
  const log = openLog(t)
  log.record(callRecord(1))
  log.close()
  log.record(callRecord(2))
  log.close()
  const files = logFiles(log.directory)
  assert.equal(files.length, 2)
  assert.equal(ofKind(readLog(log.directory), 'call').length, 2)
  assert.deepEqual(unexplainedHoles(readLog(log.directory)), [])
})
