import { createHash } from 'node:crypto'
import type { OpenCallEntry, OpenSlot } from '../../server/call-log/open-journal.ts'
import { FORMAT_VERSION } from '../../server/call-log/record.ts'
import type { Death } from '../writer-liveness.ts'
import { isObject, valueTextOf } from './field-values.ts'
import type { ParseContext, ParsedLine } from './parsed-line.ts'
import { readStampedRecord } from './unsilent-record.ts'

export type OrphanFacts = {
  /** The writer that is gone. */
  w: string
  death: Death
  /** Epoch ms of its last sign of life. */
  lastSignMs: number
  /** Of its `fatal` record, if it has one. */
  fatal: { call: string | undefined } | undefined
}

/** A call is in the journal only after it has run for so long. */
const LEAST_MS = 50

const WORDS: Readonly<Record<Death, string>> = {
  exited: 'The process ended during the call, and its record could not be written.',
  rebooted: 'The machine was started anew while the call ran.',
  gone: 'The process was gone before the call ended: killed from outside, or out of memory.',
  silent: 'The process fell silent during the call and was not heard of again.',
}

/**
 * A call that died with its process, as the record that nobody wrote: failed, crashed. How long it
 * ran is not known; `duration_ms` is until the last sign of life. Its n is negative, made of its id.
 */
export function readOrphan(
  entry: OpenCallEntry,
  { bytes }: OpenSlot,
  facts: OrphanFacts,
  context: ParseContext,
): ParsedLine {
  const { args: _, ...known } = entry
  const head = {
    ...known,
    v: FORMAT_VERSION,
    kind: 'call',
    duration_ms: Math.max(LEAST_MS, facts.lastSignMs - startOf(entry, facts)),
    outcome: 'failed',
    attempts: [],
    error: { class: 'crashed', message: WORDS[facts.death], by: culpritOf(entry, facts) },
  }
  const args = valueTextOf(bytes.toString('utf8'), 'args') ?? 'null'
  const line = `${JSON.stringify(head).slice(0, -1)},"args":${args}}`
  const record: unknown = JSON.parse(line)
  if (!isObject(record)) return { fate: 'refused', reason: 'invalid' }
  return readStampedRecord(record, { w: facts.w, n: orphanNumber(entry.call) }, line, context)
}

function startOf({ started }: OpenCallEntry, { lastSignMs }: OrphanFacts): number {
  return typeof started === 'number' ? started : lastSignMs
}

function culpritOf({ call }: OpenCallEntry, { death, fatal }: OrphanFacts) {
  if (death === 'rebooted') return 'other'
  if (!fatal?.call) return undefined
  return fatal.call === call ? 'self' : 'other'
}

/** Below 0, where no record's number is; equal for the same call. */
export function orphanNumber(call: string): number {
  const hex = createHash('sha256').update(call).digest('hex').slice(0, 13)
  return -1 - Number.parseInt(hex, 16)
}
