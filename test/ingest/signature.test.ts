import assert from 'node:assert/strict'
import { test } from 'node:test'
import { primaryIssue, signatureOf } from '../../ingest/store/signature.ts'
import type { ArgumentIssue } from '../../server/call-log/record.ts'

const TYPE: ArgumentIssue = {
  path: 'items[0].id',
  code: 'wrong_type',
  expected: 'integer',
  received: 'string',
}

function fingerprint(issue: ArgumentIssue, server = 's', tool = 't'): string {
  return signatureOf(server, tool, issue).fingerprint
}

test('a fingerprint is the same for ever', () => {
  assert.equal(fingerprint(TYPE), 's1:16f59991350b6129')
})

test('the place in an array does not matter, the rest of the path does', () => {
  assert.equal(signatureOf('s', 't', TYPE).path, 'items[*].id')
  assert.equal(fingerprint(TYPE), fingerprint({ ...TYPE, path: 'items[12].id' }))
  assert.notEqual(fingerprint(TYPE), fingerprint({ ...TYPE, path: 'items[0].no' }))
})

test('server, tool, code, expected, received and subtype each matter; a suggestion does not', () => {
  const others = [
    fingerprint(TYPE, 'other'),
    fingerprint(TYPE, 's', 'other'),
    fingerprint({ ...TYPE, code: 'bad_format' }),
    fingerprint({ ...TYPE, expected: 'number' }),
    fingerprint({ ...TYPE, received: 'array' }),
    fingerprint({ ...TYPE, subtype: 'stringified_number' }),
  ]
  assert.equal(new Set([fingerprint(TYPE), ...others]).size, 7)
  assert.equal(fingerprint(TYPE), fingerprint({ ...TYPE, suggest: 'number' }))
})

test('spellings of one unknown key are one signature, other keys are not', () => {
  const key = (path: string) => fingerprint({ path, code: 'unknown_key' })
  assert.equal(key('customerID'), key('customer_id'))
  assert.equal(key('filter.customerID'), key('filter.customer-id'))
  assert.notEqual(key('customerID'), key('filter.customerID'))
  assert.notEqual(key('customerID'), key('customerName'))
  assert.notEqual(key('名前'), key('住所'))
})

test('of several issues the one that tells what to fix is primary', () => {
  const unknown: ArgumentIssue = { path: 'qeury', code: 'unknown_key' }
  const missing: ArgumentIssue = { path: 'query', code: 'missing_required' }
  const range: ArgumentIssue = { path: 'n', code: 'out_of_range' }
  const choice: ArgumentIssue = { path: 'n', code: 'not_in_enum' }
  const text: ArgumentIssue = { path: 'n', code: 'wrong_type', subtype: 'stringified_number' }
  const broken: ArgumentIssue = { path: '(root)', code: 'malformed_json' }
  for (const [issues, primary] of [
    [[], -1],
    [[range, choice], 1],
    [[choice, TYPE], 1],
    [[TYPE, missing, unknown], 2],
    [[unknown, missing, text], 2],
    [[text, broken], 1],
    [[range, range], 0],
  ] as const) {
    assert.equal(primaryIssue(issues), primary)
  }
})
