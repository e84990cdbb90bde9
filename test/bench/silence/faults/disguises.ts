import { type Fault, text } from '../fault.ts'

/** The tool caught an error and returned it as if it were its answer, without `isError`. */
const says = (id: string, what: string, words: string): Fault => ({
  id,
  what,
  group: 'disguises',
  cause: /error|fail|limit|denied|reach|timed? ?out|not found|unavailable|unauthorized/i,
  tool: { run: async () => text(words) },
})

const data = (id: string, what: string, value: Record<string, unknown>): Fault => ({
  ...says(id, what, JSON.stringify(value)),
})

const structured = (id: string, what: string, value: Record<string, unknown>): Fault => ({
  ...says(id, what, ''),
  tool: { run: async () => ({ content: [], structuredContent: value }) },
})

export const disguiseFaults: Fault[] = [
  says('says_error', 'Error: …', 'Error: connect ECONNREFUSED 127.0.0.1:5432'),
  says('says_message', 'only the message', 'connect ECONNREFUSED 127.0.0.1:5432'),
  says('says_fetch_failed', 'only "fetch failed"', 'fetch failed'),
  says('says_hang_up', 'only "socket hang up"', 'socket hang up'),
  says(
    'says_not_json',
    'a JSON parse error',
    `Unexpected token '<', "<html><bo"... is not valid JSON`,
  ),
  says('says_end_of_json', 'a cut JSON text', 'Unexpected end of JSON input'),
  says(
    'says_undefined_property',
    'a TypeError',
    "Cannot read properties of undefined (reading 'id')",
  ),
  says('says_enoent', 'ENOENT', "ENOENT: no such file or directory, open '/data/prices.csv'"),
  says('says_locked', 'a locked database', 'SQLITE_BUSY: database is locked'),
  says('says_aborted', 'a time-out', 'The operation was aborted due to timeout'),
  says('says_axios', "axios' message", 'Request failed with status code 500'),
  says('says_rate_limit', 'a rate limit', 'API rate limit exceeded for user 4711.'),
  says('says_status', 'an HTTP status', '401 Unauthorized'),
  says('says_http_error', 'HTTP error! status', 'HTTP error! status: 503'),
  says('says_failed_to', 'Failed to …', 'Failed to fetch invoice INV-17: upstream timed out'),
  says('says_mark', 'a cross and Error', '❌ Error: the invoice service is down'),
  says('says_bracket', '[ERROR] …', '[ERROR] could not open the database'),
  says('says_bold', 'Error in Markdown', '**Error:** Could not reach the search index.'),
  says(
    'says_executing',
    'Error executing tool',
    'Error executing tool lookup: list index out of range',
  ),
  says('says_occurred', 'An error occurred', 'An error occurred while processing your request.'),
  says('says_wrong', 'Something went wrong', 'Something went wrong. Please try again later.'),
  says('says_denied', 'Access denied', 'Access denied: the token has expired'),
  says('says_timeout', 'timed out', 'Request timed out after 30000 ms'),
  says('says_unavailable', 'unavailable', 'The service is temporarily unavailable.'),
  says(
    'says_stack',
    'a stack trace',
    "TypeError: Cannot read properties of null (reading 'rows')\n    at lookup (/srv/app/tools.js:12:9)",
  ),
  says(
    'says_traceback',
    'a Python traceback',
    'Traceback (most recent call last):\n  File "tool.py", line 3, in run\nKeyError: \'id\'',
  ),
  says('says_python_dict', 'a Python dict', "{'error': 'timeout', 'status': 504}"),
  says(
    'says_html',
    'an HTML error page',
    '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>',
  ),
  says(
    'says_login',
    'a login page in place of data',
    '<!DOCTYPE html><html><head><title>Sign in</title></head><body><form>…</form></body></html>',
  ),
  says(
    'says_xml',
    'an XML error',
    '<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>',
  ),
  data('json_error', '{error}', { error: 'invoice service timed out' }),
  data('json_error_code', '{error: {code, message}}', {
    error: { code: 403, message: 'The caller lacks permission', status: 'PERMISSION_DENIED' },
  }),
  data('json_unsuccessful', '{success: false}', { success: false, message: 'card declined' }),
  data('json_invalid', '{is_valid: false, errors}', {
    is_valid: false,
    errors: ['All connection attempts failed'],
  }),
  data('json_graphql', 'a GraphQL error', {
    data: null,
    errors: [{ message: 'Field "total" is not defined', path: ['invoice'] }],
  }),
  data('json_status', '{status: "error"}', { status: 'error', message: 'index is rebuilding' }),
  data('json_problem', 'an HTTP problem', {
    type: 'about:blank',
    title: 'Not Found',
    status: 404,
    detail: 'No such invoice.',
  }),
  data('json_status_code', '{statusCode: 503}', {
    statusCode: 503,
    error: 'Service Unavailable',
    message: 'upstream is down',
  }),
  data('json_detail', '{detail}', { detail: 'Authentication credentials were not provided.' }),
  data('json_exception', 'an AWS exception', {
    __type: 'ThrottlingException',
    message: 'Rate exceeded',
  }),
  data('json_limit', 'a limit notice inside HTTP 200', {
    message: 'API rate limit exceeded',
    documentation_url: 'https://api.example/limits',
  }),
  structured('data_code', '{code, message} in data', { code: 'E_QUOTA', message: 'quota used up' }),
  structured('data_unsuccessful', '{ok: false} in data', { ok: false, reason: 'locked' }),
]
