import { writeFileSync } from 'node:fs'
import { argumentsHash } from '../server/call-log/canonical-json.ts'
import type { CallRecord } from '../server/call-log/record.ts'
import { createRecordLogger } from '../server/call-log/record-logger.ts'
import { SampleLogError } from './write-logs.ts'

/** Just over the 1 MiB that a reader looks at. */
export const DEFAULT_HUGE_LINE_BYTES = 1024 * 1024 + 1024

const SERVER = { name: 'hostile', version: '0.0.1' }
const WRITER = 'ba'.repeat(16)
const START_MS = Date.UTC(2026, 3, 1, 9)
const NUL_RUN_BYTES = 64

/** What has to become of the file's parts. Each is counted once. */
export type HostileFacts = {
  /** Whole `call` records, wherever on a line they stand. */
  calls: number
  /** Whole records of other kinds, one of a kind that does not exist yet. */
  events: number
  /** Records that are in the file already: not to be counted as calls again. */
  duplicates: number
  /** JSON objects of another program: neither shown nor refused. */
  foreign: number
  blank: number
  /** By the reason that the ingester gives. */
  refused: Record<string, number>
  /** Bytes after the last line break: a record that its writer had no time to end. */
  unfinishedBytes: number
  bytes: number
}

export type HostileFile = { bytes: Buffer; facts: HostileFacts }

/** A file with everything in it that a log should not have. The same on every machine. */
export function createHostileFile(options: { hugeLineBytes: number }): HostileFile {
  const parts: Buffer[] = []
  const facts: HostileFacts = {
    calls: 0,
    events: 0,
    duplicates: 0,
    foreign: 0,
    blank: 0,
    refused: {},
    unfinishedBytes: 0,
    bytes: 0,
  }
  const page: Page = {
    add(part) {
      parts.push(typeof part === 'string' ? Buffer.from(part) : part)
    },
    refuse(reason) {
      facts.refused[reason] = (facts.refused[reason] ?? 0) + 1
    },
    facts,
    ...createLines(),
  }
  addEncodingTroubles(page)
  addBrokenLines(page)
  addGluedLines(page)
  addOddRecords(page)
  if (options.hugeLineBytes > 0) addHugeLine(page, options.hugeLineBytes)
  addUnfinishedLine(page)
  const bytes = Buffer.concat(parts)
  facts.bytes = bytes.length
  return { bytes, facts }
}

export function writeHostileFile(options: { path: string; hugeLineBytes: number }): HostileFacts {
  const { bytes, facts } = createHostileFile(options)
  try {
    writeFileSync(options.path, bytes, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new SampleLogError(`${options.path} cannot be written (${why}): name a new file.`)
  }
  return facts
}

type Lines = {
  /** The line of a record, without its line break. Each spends a number of the one writer. */
  call(changes?: Partial<CallRecord>): string
  start(): string
}

type Page = Lines & {
  add(part: string | Buffer): void
  refuse(reason: string): void
  facts: HostileFacts
}

function createLines(): Lines {
  let line = ''
  let count = 0
  const logger = createRecordLogger({
    now: () => START_MS + count * 1_000,
    pid: 4_711,
    hostname: 'app-3',
    writer: WRITER,
    write(written) {
      line = written.slice(0, -1)
    },
  })
  return {
    call(changes) {
      count += 1
      const args = { query: `number ${count}` }
      logger.log({
        kind: 'call',
        server: SERVER,
        call: `hostile-${count}`,
        tool: 'search_documents',
        request: count,
        started: START_MS + count * 1_000 - 12,
        duration_ms: 12,
        handler_ms: 11.5,
        args_hash: argumentsHash(args),
        outcome: 'succeeded',
        attempts: [{ ms: 11.5 }],
        result: { bytes: 120, blocks: 1 },
        args,
        ...changes,
      })
      return line
    },
    start() {
      logger.log({ kind: 'start', server: SERVER, node: 'v22.14.0', beat_ms: 0 })
      return line
    },
  }
}

function addEncodingTroubles({ add, refuse, facts, call, start }: Page): void {
  add(`\uFEFF${start()}\n`)
  facts.events += 1
  add(`${call()}\n`)
  add(`${call()}\r\n`)
  add('\n   \t\r\n')
  facts.calls += 2
  facts.blank += 2
  for (const bytes of [
    [0xff, 0xfe],
    [0xc0, 0xaf],
    [0xed, 0xa0, 0x80],
  ]) {
    add(Buffer.concat([Buffer.from('{"msg":"'), Buffer.from(bytes), Buffer.from('"}\n')]))
    refuse('utf8')
  }
  add(Buffer.alloc(NUL_RUN_BYTES))
  add(`${call()}\n`)
  refuse('nul_run')
  facts.calls += 1
}

function addBrokenLines({ add, refuse, facts, call }: Page): void {
  const stray = [
    'Listening on http://127.0.0.1:3000',
    'TypeError: Cannot read properties of undefined',
    '    at search (/srv/app/search.ts:9:3)',
  ]
  for (const text of stray) {
    add(`${text}\n`)
    refuse('not_json')
  }
  for (const text of ['[1]', '5', 'null', '"text"']) {
    add(`${text}\n`)
    refuse('shape')
  }
  for (const text of [
    '{"level":30,"time":1775034000000,"tool":"sear',
    '{"a":1},',
    '{"a":NaN}',
    '{"a":"\t"}',
  ]) {
    add(`${text}\n`)
    refuse('json')
  }
  add(`${call()}\n`)
  facts.calls += 1
}

/** Records whose line they do not have to themselves. */
function addGluedLines({ add, refuse, facts, call }: Page): void {
  add(`{"level":30,"time":1775034000000,"pid":4711,"kind":"call","tool":"get_doc${call()}\n`)
  refuse('torn')
  facts.calls += 1

  const known = call()
  add(`${known}\n`)
  add(`${known}\n`)
  facts.calls += 1
  facts.duplicates += 1

  // Two whole records on one line, the first of them known already.
  add(`${known}${call()}\n`)
  facts.calls += 1
  facts.duplicates += 1
}

/** Valid lines that only a careless reader stumbles over. */
function addOddRecords({ add, refuse, facts, call }: Page): void {
  const bigNumber = call({ args: { id: 1 } }).replace('"id":1', '"id":9007199254740993')
  const prototype = call({ args: { x: 1 } }).replace('"x":1', '"__proto__":{"polluted":true}')
  const odd = [
    bigNumber,
    prototype,
    call({ tool: '<img src=x onerror=alert(1)>' }),
    call({ tool: 'naïve\u202Etxt.exe' }),
    call({ args: { text: 'nul \u0000, lone \ud800, separator \u2028, escape \u001b[31mred' } }),
    call({ args: { text: 'looks like the end ,"args":{"a":1}}' } }),
    call().replace('"v":1', '"v":99'),
  ]
  for (const line of odd) add(`${line}\n`)
  facts.calls += odd.length

  add(`${call().replace('"kind":"call"', '"kind":"from_the_future"')}\n`)
  facts.events += 1
  add(`${call().replace('"tool":"search_documents",', '')}\n`)
  refuse('invalid')
  add('{"level":30,"time":1775034000000,"msg":"another program was here"}\n')
  facts.foreign += 1
}

function addHugeLine({ add, refuse, facts, call }: Page, bytes: number): void {
  add(`{"level":30,"msg":"${'x'.repeat(Math.max(0, bytes - '{"level":30,"msg":""}'.length))}"}\n`)
  refuse('too_long')
  add(`${call()}\n`)
  facts.calls += 1
}

function addUnfinishedLine({ add, facts, call }: Page): void {
  const unfinished = call().slice(0, 150)
  add(unfinished)
  facts.unfinishedBytes = Buffer.byteLength(unfinished)
}
