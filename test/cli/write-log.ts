import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { CallRecord, ErrorClass, LogRecord } from '../../server/call-log/record.ts'
import { createRecordLogger } from '../../server/call-log/record-logger.ts'

export type TestCall = {
  tool: string
  /** Epoch ms. */
  startedMs: number
  /** Absent: it succeeded. */
  error?: { class: ErrorClass; message: string }
  args?: unknown
}

export type TestLog = { log(record: LogRecord, atMs: number): void; call(call: TestCall): void }

/** A log as the wrapper writes it, of one process. `writer` is 32 hex digits. */
export function openTestLog(directory: string, writer: string): TestLog {
  mkdirSync(directory, { recursive: true })
  const path = join(directory, `billing.${writer.slice(0, 8)}.1.jsonl`)
  let nowMs = 0
  const logger = createRecordLogger({
    write: (line) => appendFileSync(path, line),
    now: () => nowMs,
    pid: 1,
    hostname: 'test',
    writer,
  })
  const log = (record: LogRecord, atMs: number): void => {
    nowMs = atMs
    logger.log(record)
  }
  let calls = 0
  return {
    log,
    call(call) {
      calls += 1
      log(callRecord(call, `${writer.slice(0, 8)}-${calls}`), call.startedMs + 40)
    },
  }
}

function callRecord({ tool, startedMs, error, args = {} }: TestCall, id: string): CallRecord {
  return {
    kind: 'call',
    server: { name: 'billing', version: '1.0.0' },
    call: id,
    tool,
    request: 1,
    started: startedMs,
    duration_ms: 40,
    handler_ms: 39,
    outcome: error ? 'failed' : 'succeeded',
    attempts: [{ ms: 39, class: error?.class }],
    error,
    args,
  }
}
