import { type Fault, type Tool, text } from './fault.ts'
import { argumentFaults } from './faults/arguments.ts'
import { disguiseFaults } from './faults/disguises.ts'
import { hangFaults } from './faults/hangs.ts'
import { lowLevelFaults } from './faults/low-level.ts'
import { helperTools, processFaults } from './faults/process.ts'
import { resultFaults } from './faults/results.ts'
import { stdoutFaults } from './faults/stdout.ts'
import { throwFaults } from './faults/throws.ts'
import { upstreamFaults } from './faults/upstream.ts'

export const faults: readonly Fault[] = [
  ...resultFaults,
  ...throwFaults,
  ...disguiseFaults,
  ...argumentFaults,
  ...upstreamFaults,
  ...stdoutFaults,
  ...lowLevelFaults,
  ...hangFaults,
  ...processFaults,
]

/**
 * Not among the faults and never counted: the tool gives a plausible answer that is wrong. Nothing
 * outside of the tool can see that; the table shows what becomes of them all the same.
 */
export const unseeable: readonly Fault[] = [
  {
    id: 'stale_cache',
    what: 'an old value, since the upstream failed',
    group: 'disguises',
    cause: /stale/,
    tool: { run: () => text('Balance: 4,711.00 EUR') },
  },
  {
    id: 'nothing_found',
    what: "swallows its error: 'No invoices found.'",
    group: 'disguises',
    cause: /error/,
    tool: { run: () => text('No invoices found.') },
  },
]

/** Everything one server registers. */
export function toolsOf(level: 'high' | 'low'): Map<string, Tool> {
  const own = [...faults, ...unseeable].filter(
    ({ lowLevel }) => (lowLevel ? 'low' : 'high') === level,
  )
  const tools = own.flatMap(({ id, tool }): [string, Tool][] => (tool ? [[id, tool]] : []))
  const more = level === 'high' ? [...Object.entries(helperTools), ...soundTools] : []
  return new Map([...tools, ...more])
}

const says = (id: string, words: string): [string, Tool] => [id, { run: () => text(words) }]

/**
 * Calls that succeed, many of them talking about failure. A flag or an error on one of these is a
 * false alarm.
 */
export const soundTools: readonly [string, Tool][] = [
  says('sound_number', '0'),
  says('sound_false', 'false'),
  says('sound_none', 'No results found.'),
  says(
    'sound_document',
    'Error handling in MCP servers\n\nError: this word opens many log lines. A tool that fails returns isError.\n'.repeat(
      6,
    ),
  ),
  says(
    'sound_heading',
    '# Errors\n\nHow to read an HTTP 500 in the access log, and what to do next.',
  ),
  says(
    'sound_log',
    '2026-01-03 ERROR could not reach the index\n2026-01-03 INFO retrying\n2026-01-03 INFO done',
  ),
  says('sound_code', "class NotFoundError extends Error {\n  name = 'NotFoundError'\n}"),
  says('sound_jobs', JSON.stringify({ jobs: [{ id: 1, status: 'failed', error: 'disk full' }] })),
  says('sound_no_error', JSON.stringify({ error: null, rows: [1, 2] })),
  says('sound_no_errors', JSON.stringify({ errors: [], valid: true })),
  says('sound_success', JSON.stringify({ success: true, message: 'Error log cleared' })),
  says(
    'sound_status',
    JSON.stringify({ status: 'open', message: 'Customer reports a failed login' }),
  ),
  says('sound_ticket', 'Ticket 17: login failed for three users. Assigned to Ada.'),
  says('sound_quote', 'The customer wrote: "Failed to fetch my invoice, please help."'),
  says('sound_html', '<html><head><title>Price list</title></head><body>…</body></html>'),
  says('sound_message', JSON.stringify({ message: 'Hello, how can I help?', code: 200 })),
  says(
    'sound_title',
    JSON.stringify({ title: 'Not Found: a novel', status: 200, detail: 'Paperback' }),
  ),
  says('sound_errata', 'Errata: page 12, read "due" for "do".'),
]
