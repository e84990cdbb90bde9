import type { CallRecord } from '../../server/call-log/record.ts'

/** A call as the wrapper would log it. */
export function callRecord(id: number | string, more: Partial<CallRecord> = {}): CallRecord {
  return {
    kind: 'call',
    server: { name: 'shop', version: '1.0.0' },
    call: `call-${id}`,
    tool: 'search',
    request: typeof id === 'number' ? id : 0,
    started: 1_767_225_600_000,
    duration_ms: 12.5,
    outcome: 'succeeded',
    attempts: [{ ms: 12 }],
    args: { query: `invoice ${id}` },
    ...more,
  }
}
