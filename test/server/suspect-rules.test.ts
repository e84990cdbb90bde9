import assert from 'node:assert/strict'
import { test } from 'node:test'
import { suspectRule } from '../../server/wrapper/suspect-rules.ts'

const ofText = (text: string) => suspectRule({ content: [{ type: 'text', text }] })

const suspects: [string, string][] = [
  ['Error: API rate limit exceeded', 'error_prefix'],
  ['TypeError: fetch failed', 'error_prefix'],
  ['MCP error -32602: Tool x not found', 'error_prefix'],
  ['Internal error: database is locked', 'error_prefix'],
  ['TypeError: x is not a function\n    at run (/srv/app.js:3:7)', 'stack_trace'],
  ['Traceback (most recent call last):\n  File "a.py", line 1', 'stack_trace'],
  ['401 Unauthorized', 'http_status'],
  ['HTTP 503 Service Unavailable', 'http_status'],
  ['Status code: 404 Not Found', 'http_status'],
  ['connect ECONNREFUSED 127.0.0.1:5432', 'network_code'],
  ['getaddrinfo ENOTFOUND db.internal', 'network_code'],
  ['API rate limit exceeded', 'rate_limit'],
  ['Too many requests, slow down', 'rate_limit'],
  ['Failed to fetch the invoice', 'failed_to'],
  ["Sorry, I couldn't connect to the server", 'failed_to'],
  ['Request failed with status code 500', 'failed_phrase'],
  ['The connection timed out.', 'failed_phrase'],
  ['<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head></html>', 'html_error_page'],
  ['❌ Error: the service is down', 'error_prefix'],
  ['⚠️ Failed to load the page', 'failed_to'],
  ['[ERROR] could not open the database', 'error_prefix'],
  ['**Error:** the index is gone', 'error_prefix'],
  ['Error executing tool lookup: list index out of range', 'error_doing'],
  ['An error occurred while processing your request.', 'error_occurred'],
  ['Something went wrong. Please try again later.', 'error_occurred'],
  ['Internal Server Error', 'http_status'],
  ['HTTP error! status: 503', 'http_status'],
  ['Access denied: the token has expired', 'access_refused'],
  ['Invalid API key provided', 'access_refused'],
  ['The service is temporarily unavailable.', 'unavailable'],
  ['socket hang up', 'runtime_message'],
  [`Unexpected token '<', "<html>" is not valid JSON`, 'runtime_message'],
  ['Unexpected end of JSON input', 'runtime_message'],
  ["Cannot read properties of undefined (reading 'id')", 'runtime_message'],
  ["ENOENT: no such file or directory, open '/x'", 'runtime_message'],
  ['SQLITE_BUSY: database is locked', 'runtime_message'],
  ['rows.map is not a function', 'runtime_message'],
  ['The operation was aborted due to timeout', 'runtime_message'],
  ['[object Promise]', 'value_lost'],
  ['[object Object],[object Object]', 'value_lost'],
  ["{'error': 'timeout', 'status': 504}", 'python_error'],
  ['<!DOCTYPE html><html><head><title>Sign in</title></head></html>', 'html_login_page'],
  ['<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', 'xml_error'],
  ['{"error":"quota exceeded"}', 'json_error_key'],
  ['{"data":null,"errors":[{"message":"no such field"}]}', 'json_errors'],
  ['{"errors":[{"message":"no such field"}]}', 'json_errors'],
  ['{"title":"Not Found","status":404,"detail":"No such invoice."}', 'json_http_status'],
  ['{"statusCode":503,"message":"down"}', 'json_http_status'],
  ['{"__type":"ThrottlingException","message":"Rate exceeded"}', 'json_exception'],
  ['{"detail":"Authentication credentials were not provided."}', 'json_message'],
  ['{"message":"API rate limit exceeded","documentation_url":"https://x/"}', 'json_message'],
  ['{"success":false,"message":"no such user"}', 'json_denied'],
  ['{"status":"error","message":"down"}', 'json_status'],
  ['{"is_valid":false,"errors":["All connection attempts failed"]}', 'json_denied'],
]
for (const [text, rule] of suspects) {
  test(`${rule}: ${JSON.stringify(text.slice(0, 50))} is suspect`, () => {
    assert.equal(ofText(text), rule)
  })
}

const innocent = [
  '',
  'null',
  '5',
  '"x"',
  '[]',
  '{"error":null,"rows":[]}',
  '{"errors":[],"rows":3}',
  '{"error_count":3,"total":10}',
  '{"success":true,"error":"","rows":[1]}',
  '{"success":true,"error":"one of 40 rows was skipped"}',
  '{"id":1,"error":"none","status":"open","title":"Error: crash at start"}',
  '{"code":"DE","message":"Germany"}',
  '{"status":"failed","build":4,"branch":"main"}',
  'Error handling in Go is explicit. A function returns an error as its last value.',
  'Errors and how to avoid them: a guide',
  'Error: disk full\nError: disk full\nInfo: retrying',
  'ERROR 2026-03-01 disk full\nINFO 2026-03-01 fine',
  'The request failed in 3 of 1,000 runs last week, which is within the target. '.repeat(5),
  'How to fix "connect ECONNREFUSED" in Docker: publish the port, then try again.',
  '404 Media is a technology news site.',
  '500 requests were served today.',
  'Failed to launch: a memoir\nBy A. Writer',
  '* **error** `Error | null` (optional)',
  '[error]: #error-events',
  '# Errors\n\nAn error occurred? Read on.',
  'The blue shirt is currently unavailable.',
  'Permissions: read, write',
  'Undefined behaviour is not defined by the standard.',
  '{"status":404,"pages":12,"author":"A","year":1999,"isbn":"x","title":"Room 404","price":3}',
  '{"code":404,"title":"Peugeot 404"}',
  '{"message":"Your parcel arrives on Friday."}',
  '{"errors":["a typo in row 3"],"data":{"rows":3}}',
  '<html><head><title>Signs of spring</title></head></html>',
  '<errors><count>0</count></errors>',
  'Cannot be exported to CSV. Formats: PDF, PNG.',
  '<!DOCTYPE html><html><head><title>Errors in our docs, and what we learnt</title></head></html>',
  'Rate limits: 100 requests a minute. What happens when the rate limit is exceeded is described below.',
  'function fail() {\n  throw new Error("x")\n}',
]
for (const text of innocent) {
  test(`a result that merely talks about errors is not suspect: ${JSON.stringify(text.slice(0, 50))}`, () => {
    assert.equal(ofText(text), undefined)
  })
}

test('several texts are a document, not a message', () => {
  const content = [
    { type: 'text', text: 'Error: one' },
    { type: 'text', text: 'Error: two' },
  ]
  assert.equal(suspectRule({ content }), undefined)
})

test('structured content is looked at where no text is suspect', () => {
  const structuredContent = { code: 'E_QUOTA', message: 'quota used up' }
  assert.equal(suspectRule({ content: [], structuredContent }), 'structured_code')
  assert.equal(suspectRule({ content: [], structuredContent: { n: 1 } }), undefined)
})

test('data of which JSON leaves nothing is suspect', () => {
  const content = [{ type: 'text', text: 'done' }]
  const lost = [new Map([['a', 1]]), new Set([1]), new Error('x'), Promise.resolve(1), Number.NaN]
  for (const value of lost) {
    assert.equal(suspectRule({ content, structuredContent: { at: [value] } }), 'structured_lost')
  }
  const kept = [
    0,
    '',
    null,
    undefined,
    new Date(0),
    {},
    [],
    Object.assign(new Error('x'), { code: 1 }),
  ]
  for (const value of kept) {
    assert.equal(suspectRule({ content, structuredContent: { at: [value] } }), undefined)
  }
  const circular: Record<string, unknown> = {}
  circular.self = circular
  assert.equal(suspectRule({ content, structuredContent: circular }), undefined)
})

test('a megabyte of text costs next to nothing', () => {
  const long = 'Error '.repeat(170_000)
  const since = performance.now()
  for (let run = 0; run < 100; run += 1) ofText(long)
  // Looking at all of it a hundred times would take seconds.
  assert.ok(performance.now() - since < 500)
})
