import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { argumentsHash } from '../../server/call-log/canonical-json.ts'
import { ERROR_CLASSES, ISSUE_CODES, OUTCOMES } from '../../server/call-log/record.ts'
import { openCallLog } from '../../server/call-log/writer.ts'
import { linesOf, readLogFiles, samplesFolder, smallFolder, temporaryFolder } from './read-logs.ts'

const root = join(samplesFolder, '..')
const schema = JSON.parse(readFileSync(join(root, 'docs', 'log-format.schema.json'), 'utf8'))
const page = readFileSync(join(root, 'docs', 'log-format.md'), 'utf8')
const source = readFileSync(join(root, 'server', 'call-log', 'record.ts'), 'utf8')

const validate = new Ajv2020({ strictTypes: false }).compile(schema)

function problemsOf(record: unknown): string {
  return validate(record) ? '' : JSON.stringify(validate.errors)
}

/** Every key of every record, read out of the types themselves. */
function fieldNames(): Set<string> {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\//g, '')
  const types = code.slice(code.indexOf('export type NameAndVersion'))
  return new Set([...types.matchAll(/\b([a-z][a-z_]*)\??:/g)].map(([, name]) => name ?? ''))
}

function schemaKeys(part: unknown, found = new Set<string>()): Set<string> {
  if (typeof part !== 'object' || part === null) return found
  for (const [key, value] of Object.entries(part)) {
    if (key === 'properties') for (const name of Object.keys(value)) found.add(name)
    schemaKeys(value, found)
  }
  return found
}

/** In backticks, at word boundaries. */
function mentions(word: string): boolean {
  return new RegExp(`\`[^\`\n]*\\b${word}\\b[^\`\n]*\``).test(page)
}

const examples = [...page.matchAll(/```jsonl\n(.*)\n```/g)].map(([, line]) =>
  JSON.parse(line ?? ''),
)

test('each line of the sample fits the schema', () => {
  const lines = linesOf(readLogFiles(smallFolder))
  assert.ok(lines.length > 5_000)
  for (const line of lines) assert.equal(problemsOf(line), '')
})

test('the examples on the page fit the schema, and end with args', () => {
  assert.equal(examples.length, 2)
  for (const example of examples) {
    assert.equal(problemsOf(example), '')
    assert.equal(Object.keys(example).at(-1), 'args')
  }
  const [, full] = examples
  assert.equal(full.args_hash, argumentsHash(full.args))
})

test('what a live server writes fits the schema', (t) => {
  const directory = join(temporaryFolder(t), 'logs')
  const server = { name: 'billing', version: '2.4.0' }
  const log = openCallLog({ directory, server, beatMs: 0 })
  log.record({
    kind: 'call',
    server,
    call: 'c-1',
    tool: 'get_invoice',
    request: 1,
    started: 1_775_984_400_000,
    duration_ms: 1.5,
    outcome: 'failed',
    attempts: [],
    error: { class: 'tool_error', message: 'There is no invoice INV-1.' },
    args: { invoice_id: 'INV-1' },
  })
  log.close()
  const lines = linesOf(readLogFiles(directory))
  assert.deepEqual(
    lines.map(({ kind }) => kind),
    ['start', 'call', 'exit'],
  )
  for (const line of lines) assert.equal(problemsOf(line), '')
})

test('a record of a kind to come, and keys to come, fit the schema', () => {
  const [call] = examples
  assert.equal(problemsOf({ ...call, kind: 'from_the_future' }), '')
  assert.equal(problemsOf({ ...call, colour: 'green' }), '')
})

const [call] = examples
const wrong: [string, Record<string, unknown>][] = [
  ['no writer', { ...call, w: undefined }],
  ['a short writer', { ...call, w: 'abc' }],
  ['a number that is 0', { ...call, n: 0 }],
  ['another version', { ...call, v: 2 }],
  ['a time in words', { ...call, time: '2026-04-12' }],
  ['no tool', { ...call, tool: undefined }],
  ['no args', { ...call, args: undefined }],
  ['an outcome of its own', { ...call, outcome: 'ok' }],
  ['a failure without an error', { ...call, outcome: 'failed' }],
  ['a class of its own', { ...call, error: { class: 'oops', message: '' } }],
  ['a negative duration', { ...call, duration_ms: -1 }],
  ['null for absent', { ...call, session: null }],
  ['delivered: true', { ...call, delivered: true }],
  ['an issue without a path', { ...call, issues: [{ code: 'other' }] }],
  ['an exit without a code', { ...call, kind: 'exit' }],
]
for (const [what, record] of wrong) {
  test(`the schema refuses ${what}`, () => {
    assert.notEqual(problemsOf(JSON.parse(JSON.stringify(record))), '')
  })
}

test('the page names every field of every record', () => {
  const missing = [...fieldNames()].filter((name) => !mentions(name))
  assert.deepEqual(missing, [])
})

test('the schema knows the fields of the record types, and no others', () => {
  assert.deepEqual([...schemaKeys(schema)].sort(), [...fieldNames()].sort())
})

test('page and schema have all outcomes, classes and issue codes, in the same order', () => {
  const { outcome, errorClass, issue } = schema.$defs
  assert.deepEqual(outcome.enum, OUTCOMES)
  assert.deepEqual(errorClass.enum, ERROR_CLASSES)
  assert.deepEqual(issue.properties.code.enum, ISSUE_CODES)
  for (const word of [...OUTCOMES, ...ERROR_CLASSES, ...ISSUE_CODES]) {
    assert.ok(mentions(word), `log-format.md lacks \`${word}\``)
  }
})
