import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { Database } from '../../ingest/store/load-sqlite.ts'
import { CALL_FLAGS } from '../../ingest/store/schema.ts'
import {
  append,
  assertSound,
  callRecord,
  createStampedLine,
  createWorld,
  foreignCall,
  ingestOnce,
  NOON,
  quarantined,
  storedCalls,
  withReader,
} from './support.ts'

const W = 'b'.repeat(32)
const NOW = NOON + 60_000

/** A good stamped line, to stand before and after the bad ones. */
function good(n: number, changes: Parameters<typeof callRecord>[0] = {}): string {
  return createStampedLine(W, n, NOON, callRecord({ call: `c-${n}`, ...changes }))
}

/** A stamped line with keys that no CallRecord has. */
function strange(n: number, changes: Record<string, unknown>): string {
  return createStampedLine(W, n, NOON, { ...callRecord({ call: `c-${n}` }), ...changes } as never)
}

async function ingest(...parts: (string | Buffer)[]) {
  const world = createWorld()
  append(world.log('a.jsonl'), ...parts)
  const summary = await ingestOnce(world)
  return { world, summary }
}

type Case = {
  name: string
  /** Stands between a good first and a good last line. */
  input: (string | Buffer)[]
  /** Ids of the calls beside the two good ones. */
  rows?: string[]
  refused?: { reason: string; lines: number }[]
  check?(database: Database): void
}

const cases: Case[] = [
  { name: 'blank lines are counted as blank', input: ['\n', '   \n', '\t\r\n'] },
  {
    name: 'D10, E14: CRLF ends a line like LF, and no value carries the CR',
    input: [good(2).replace('\n', '\r\n')],
    rows: ['c-2'],
    check(database) {
      const row = database.prepare("SELECT * FROM calls WHERE uid = 'c-2'").get()
      assert.doesNotMatch(JSON.stringify(row), /\\r/)
      assert.match(JSON.stringify(row), /\{\\"id\\":7\}/)
    },
  },
  {
    name: 'D3, D11: coloured banners and a level of no alarm are noise, and no failures',
    input: [
      '\u001b[32m[App] start\u001b[39m\n',
      'ready\n',
      '{"level":30,"msg":"ready"}\n',
      '{"level":50,"msg":"\\u001b[31mlisten EADDRINUSE\\u001b[39m"}\n',
    ],
    refused: [{ reason: 'not_json', lines: 2 }],
  },
  {
    name: 'E14: a lone carriage return makes one bad line',
    input: ['{"a":1}\r{"b":2}\n'],
    refused: [{ reason: 'json', lines: 1 }],
  },
  {
    name: 'invalid UTF-8 is refused, and its neighbours are kept',
    input: [Buffer.from([0x7b, 0xff, 0x7d, 0x0a])],
    refused: [{ reason: 'utf8', lines: 1 }],
  },
  {
    name: 'UTF-16 is one entry, not a flood',
    input: [Buffer.from(`\uFEFF${'{"tool":"x"}\n'.repeat(50)}`, 'utf16le'), '\n'],
    refused: [{ reason: 'encoding', lines: 51 }],
  },
  {
    name: 'UTF-16 with the other byte order as well',
    input: [Buffer.from(`\uFEFF${'{"tool":"x"}\n'.repeat(50)}`, 'utf16le').swap16()],
    refused: [{ reason: 'encoding', lines: 50 }],
  },
  {
    name: 'a lone surrogate in a string is no fault',
    input: [good(2).replace('get_invoice', '\\ud800')],
    rows: ['c-2'],
    check(database) {
      const tool = database.prepare("SELECT tool FROM calls WHERE uid = 'c-2'").pluck().get()
      assert.equal(tool, '\uFFFD')
    },
  },
  {
    name: 'a NUL character in a name does not hide the rest of it',
    input: [good(2).replace('get_invoice', 'a\\u0000b')],
    rows: ['c-2'],
    check(database) {
      const row = database.prepare(
        "SELECT tool, length(tool) AS length FROM calls WHERE uid = 'c-2'",
      )
      assert.deepEqual(row.get(), { tool: 'a\uFFFDb', length: 3 })
    },
  },
  {
    name: 'a hole of zero bytes is one entry and the record after it is kept',
    input: [Buffer.alloc(3_000_000), good(2)],
    rows: ['c-2'],
    refused: [{ reason: 'nul_run', lines: 1 }],
  },
  {
    name: 'a raw control character in a string is refused',
    input: ['{"a":"x\u0001y"}\n'],
    refused: [{ reason: 'json', lines: 1 }],
  },
  {
    name: 'E11: lines beyond the limit are refused one by one, the others kept',
    input: [
      `{"x":"${'y'.repeat(17_000_000)}"}\n`,
      good(2),
      Buffer.alloc(4_000_000, 'z'),
      '\n',
      good(3),
    ],
    rows: ['c-2', 'c-3'],
    refused: [
      { reason: 'too_long', lines: 1 },
      { reason: 'too_long', lines: 1 },
    ],
  },
  {
    name: 'arguments that are nested very deeply are kept as text',
    input: [good(2).replace('{"id":7}', `${'['.repeat(400_000)}${']'.repeat(400_000)}`)],
    rows: ['c-2'],
  },
  {
    name: 'anything else that is nested very deeply is refused',
    input: [
      good(2).replace('"attempts":', `"x":${'['.repeat(9000)}${']'.repeat(9000)},"attempts":`),
    ],
    refused: [{ reason: 'depth', lines: 1 }],
  },
  {
    name: 'an object with very many keys is kept',
    input: [
      good(2).replace(
        '{"id":7}',
        JSON.stringify(Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`k${i}`, i]))),
      ),
    ],
    rows: ['c-2'],
  },
  {
    name: 'keys that would change a prototype are data',
    input: [
      good(2).replace(
        '"attempts":',
        '"__proto__":{"polluted":1},"constructor":{"prototype":{}},"attempts":',
      ),
    ],
    rows: ['c-2'],
    check(database) {
      assert.equal(({} as Record<string, unknown>).polluted, undefined)
      const detail = database
        .prepare("SELECT detail FROM call_text WHERE uid = 'c-2'")
        .pluck()
        .get()
      assert.match(detail as string, /"__proto__":\{"polluted":1\}/)
    },
  },
  {
    name: 'E22: of a key that stands twice the last one counts, as JSON.parse decides',
    input: [
      '{"level":30,"time":1767225600000,"time":"yesterday","level":"info","msg":"inner","msg":"outer"}\n',
      foreignCall('twice').replace('"duration_ms":3', '"duration_ms":3,"duration_ms":4'),
    ],
    rows: ['twice'],
    check(database) {
      assert.equal(
        database.prepare("SELECT duration_ms FROM calls WHERE uid = 'twice'").pluck().get(),
        4,
      )
    },
  },
  {
    name: 'E23: integers beyond 2^53 keep their digits',
    input: [
      good(2)
        .replace('{"id":7}', '{"id":9007199254740993,"x":1e400,"y":-0,"z":1E5}')
        .replace('"request":1', '"request":9007199254740993'),
    ],
    rows: ['c-2'],
    check(database) {
      const row = database.prepare(
        "SELECT args, detail ->> '$.request' AS request FROM calls WHERE uid = 'c-2'",
      )
      assert.deepEqual(row.get(), {
        args: '{"id":9007199254740993,"x":1e400,"y":-0,"z":1E5}',
        request: '9007199254740993',
      })
    },
  },
  {
    name: 'E12: JSON that is no object is refused by its shape, text by its kind',
    input: [
      '\n',
      '   \n',
      'not json\n',
      '[1]\n',
      '5\n',
      'null\n',
      '"x"\n',
      '{}\n',
      '{"a":1}{"b":2}\n',
      '{"a":NaN}\n',
      '{"a":1},\n',
    ],
    refused: [
      { reason: 'not_json', lines: 1 },
      { reason: 'shape', lines: 4 },
      { reason: 'json', lines: 3 },
    ],
    check(database) {
      assert.equal(database.prepare('SELECT foreign_lines FROM stream').pluck().get(), 1)
    },
  },
  {
    name: 'a torn record with a whole one written over its end: the whole one is kept',
    input: [good(2).slice(0, 90), good(3)],
    rows: ['c-3'],
    refused: [{ reason: 'torn', lines: 1 }],
  },
  {
    name: 'two whole records on one line are two rows',
    input: [good(2).trimEnd(), good(3)],
    rows: ['c-2', 'c-3'],
  },
  {
    name: 'a broken record whose arguments hold something like a record gives no row',
    input: [`${good(2, { args: [{ level: 30, tool: 'fake', outcome: 'ok' }] }).slice(0, -3)}\n`],
    refused: [{ reason: 'json', lines: 1 }],
  },
  {
    name: 'E10: records that were cut by another process leave their neighbours alone',
    input: ['{"a":1,"m":"xx{"b":2}\n', 'yy"}\n', good(2)],
    rows: ['c-2'],
    refused: [
      { reason: 'json', lines: 1 },
      { reason: 'not_json', lines: 1 },
    ],
  },
  {
    name: 'a stack trace is one entry with its number of lines',
    input: ['Error: boom\n', '    at one\n', '    at two\n', '    at three\n'],
    refused: [{ reason: 'not_json', lines: 4 }],
  },
  {
    name: 'a record without a tool is refused, and its number is not a gap',
    input: [strange(2, { tool: 17 })],
    refused: [{ reason: 'invalid', lines: 1 }],
    check(database) {
      assert.deepEqual(database.prepare('SELECT first_n, last_n FROM writer_range').raw().all(), [
        [1, 2],
        [9, 9],
      ])
    },
  },
  {
    name: 'durations that are none are 0 and flagged',
    input: [
      strange(2, { duration_ms: -1 }),
      strange(3, { duration_ms: 'fast' }),
      strange(4, { duration_ms: null }),
      good(5).replace('12.5', '1e308'),
      good(6).replace('12.5', '1e400'),
    ],
    rows: ['c-2', 'c-3', 'c-4', 'c-5', 'c-6'],
    check(database) {
      const rows = database.prepare(
        'SELECT DISTINCT duration_us, flags FROM call WHERE n BETWEEN 2 AND 6',
      )
      assert.deepEqual(rows.all(), [{ duration_us: 0, flags: CALL_FLAGS.duration }])
    },
  },
  {
    name: 'E16: times that cannot be true are replaced by now, flagged and kept',
    input: [
      strange(2, { started: NOW + 400 * 86_400_000 }),
      strange(3, { started: NOW + 300_000 }),
      strange(4, { started: 0 }),
      strange(5, { started: -1 }),
      strange(6, { started: 1e18 * 100 }),
      strange(7, { started: { a: 1 } }),
    ],
    rows: ['c-2', 'c-3', 'c-4', 'c-5', 'c-6', 'c-7'],
    check(database) {
      const rows = database.prepare(
        'SELECT DISTINCT started_ms, flags FROM call WHERE n BETWEEN 2 AND 7',
      )
      assert.deepEqual(rows.all(), [{ started_ms: NOW, flags: CALL_FLAGS.clock }])
      const kept = database.prepare("SELECT detail ->> '$.clock' FROM call_text WHERE uid = 'c-4'")
      assert.equal(kept.pluck().get(), 0)
    },
  },
  {
    name: 'the same record twice is stored once and counted',
    input: [good(2), good(2), good(1)],
    rows: ['c-2'],
    check(database) {
      assert.equal(database.prepare('SELECT duplicate_rows FROM stream').pluck().get(), 2)
    },
  },
  {
    name: 'another record under a number that is taken is kept under a writer of its own',
    input: [good(2), good(2, { call: 'of the copy' }), good(2, { call: 'of the copy' })],
    rows: ['c-2', 'of the copy'],
    check(database) {
      const rows = database.prepare('SELECT w, conflict_of FROM writer ORDER BY id')
      assert.deepEqual(rows.all(), [
        { w: W, conflict_of: null },
        { w: `${W}~2`, conflict_of: 1 },
      ])
      assert.equal(database.prepare('SELECT duplicate_rows FROM stream').pluck().get(), 1)
    },
  },
  {
    name: 'a hole in the numbers stays visible, and closes when the record comes',
    input: [good(2), good(4), good(6), good(5)],
    rows: ['c-2', 'c-4', 'c-5', 'c-6'],
    check(database) {
      assert.deepEqual(database.prepare('SELECT first_n, last_n FROM writer_range').raw().all(), [
        [1, 2],
        [4, 6],
        [9, 9],
      ])
    },
  },
  {
    name: 'a record of a newer version is kept whole and flagged',
    input: [strange(2, { v: 2, outcome: 'postponed', future: { x: 1 } })],
    rows: ['c-2'],
    check(database) {
      const row = database
        .prepare(
          "SELECT flags, detail ->> '$.future.x' AS x, detail ->> '$.line' AS line FROM call JOIN call_text ON call_id = call.id WHERE n = 2",
        )
        .get() as { flags: number; x: number; line: string }
      assert.equal(row.flags, CALL_FLAGS.newer)
      assert.equal(row.x, 1)
      assert.match(row.line, /"outcome":"postponed"/)
    },
  },
  {
    name: 'a kind of record this version does not know is kept as an event',
    input: [strange(2, { kind: 'weather', sky: 'grey' })],
    check(database) {
      assert.deepEqual(
        database.prepare("SELECT kind, detail ->> '$.sky' AS sky FROM process_event").get(),
        { kind: 'weather', sky: 'grey' },
      )
    },
  },
  {
    name: 'an endless tool name is clipped, an empty one named',
    input: [good(2, { tool: 'é'.repeat(200_000) }), good(3, { tool: '' })],
    rows: ['c-2', 'c-3'],
    check(database) {
      const names = database.prepare('SELECT name FROM tool WHERE id > 1 ORDER BY id').pluck()
      assert.deepEqual(names.all(), ['é'.repeat(128), '(empty)'])
    },
  },
  {
    name: 'names with markup, SQL or direction marks are only text',
    input: [good(2, { tool: "x'); DROP TABLE call; --\u202E<script>" })],
    rows: ['c-2'],
    check(database) {
      const tool = database.prepare("SELECT tool FROM calls WHERE uid = 'c-2'").pluck().get()
      assert.equal(tool, "x'); DROP TABLE call; --\u202E<script>")
    },
  },
]

for (const { name, input, rows = [], refused = [], check } of cases) {
  test(name, async () => {
    const { world } = await ingest(good(1), ...input, good(9))
    withReader(world, (database) => {
      assert.deepEqual(storedCalls(database), ['c-1', 'c-9', ...rows].sort())
      assert.deepEqual(
        quarantined(database).map(({ reason, lines }) => ({ reason, lines })),
        refused,
      )
      check?.(database)
      assertSound(database)
    })
  })
}

test('an empty file is no stream and no error', async () => {
  const { world, summary } = await ingest('')
  assert.equal(summary.files, 1)
  assert.deepEqual(summary.problems, [])
  withReader(world, (database) => {
    assert.equal(database.prepare('SELECT count(*) FROM stream').pluck().get(), 0)
  })
})

test('a byte order mark does not cost the first line', async () => {
  const { world } = await ingest(Buffer.from([0xef, 0xbb, 0xbf]), good(1), good(2))
  withReader(world, (database) => {
    assert.deepEqual(storedCalls(database), ['c-1', 'c-2'])
    assertSound(database)
  })
})

test('a file of UTF-16 alone, with its mark, is refused as such', async () => {
  const { world, summary } = await ingest(Buffer.from(`\uFEFF${good(1)}${good(2)}`, 'utf16le'))
  assert.deepEqual(summary.quarantined, { encoding: 2 })
  withReader(world, assertSound)
})

test('a refused line is kept with its place, length, hash and a sample', async () => {
  const { world } = await ingest(good(1), 'Trace: out of tune\n')
  withReader(world, (database) => {
    const [entry] = database.prepare('SELECT * FROM quarantine').all() as Record<string, unknown>[]
    assert.deepEqual(
      {
        line_offset: entry?.line_offset,
        line_number: entry?.line_number,
        length_bytes: entry?.length_bytes,
        sha256: entry?.sha256,
        sample: String(entry?.sample),
      },
      {
        line_offset: good(1).length,
        line_number: 2,
        length_bytes: 19,
        sha256: createHash('sha256').update('Trace: out of tune\n').digest('hex'),
        sample: 'Trace: out of tune\n',
      },
    )
  })
})

test('a secret in a refused line is not in the database', async () => {
  const secret = `ghp_${'a1B2'.repeat(9)}`
  const { world } = await ingest(good(1), `fatal: bad credentials ${secret}\n`)
  withReader(world, (database) => {
    const sample = String(database.prepare('SELECT sample FROM quarantine').pluck().get())
    assert.match(sample, /^fatal: bad credentials \[redacted/)
    assert.ok(!database.serialize().includes(secret))
  })
})

test('a program that makes up tool names cannot fill the table of tools', async () => {
  const lines = Array.from({ length: 1500 }, (_, index) => good(index + 1, { tool: `t-${index}` }))
  const { world } = await ingest(...lines)
  withReader(world, (database) => {
    assert.equal(database.prepare('SELECT count(*) FROM tool').pluck().get(), 1001)
    const other = database.prepare(
      "SELECT count(*) AS calls, min(detail ->> '$.tool') AS first FROM calls WHERE tool = '(other)'",
    )
    assert.deepEqual(other.get(), { calls: 500, first: 't-1000' })
    assertSound(database)
  })
})
