import { closeSync, constants, openSync, unlinkSync, writeSync } from 'node:fs'
import { cutText, type TruncationMarker } from './limits.ts'
import type { CallRecord } from './record.ts'
import { redactText } from './redact.ts'
import { redactArguments } from './redacted-arguments.ts'

/**
 * The journal of calls that are still running: `<the log's name without its number>.open`, beside
 * the log. This file owns its format. It is what is left of a call whose process was killed: a
 * reader that finds the writer dead, and no `call` record with an entry's id, knows what ran.
 *
 *   slots of SLOT_BYTES each; in a slot one JSON object, ended by `\n`; the rest is without meaning
 *   slot 0   {"v":1,"kind":"open_calls","w":…,"pid":…,"pid_ns":…,"boot_id":…,"started":…,
 *            "slot_bytes":…}
 *   slot i   a call as an OpenCallEntry, or an empty line where no call stands
 *
 * A slot is written with one pwrite when its call has been open for a moment, and emptied with one
 * of a single byte when the call ends. Most calls end before, and cost nothing here.
 */
export const OPEN_JOURNAL_EXTENSION = '.open'
export const SLOT_BYTES = 8 * 1024
/** Calls open at once beyond this many are not in the journal. */
export const MAX_SLOTS = 256
const WRITE_AFTER_MS = 50
const NEWLINE = Buffer.from('\n')

export type OpenJournalHeader = {
  v: 1
  kind: 'open_calls'
  /** The writer of the log beside it. */
  w: string
  pid: number
  /** Which processes the pid counts among. With the boot it tells whether the writer lives. */
  pid_ns?: string | undefined
  boot_id?: string | undefined
  /** Epoch ms at which the writer began. */
  started: number
  slot_bytes: number
}

/** What is known of a call before it ends. */
export type OpenCallEntry = Pick<
  CallRecord,
  'server' | 'call' | 'tool' | 'request' | 'started' | 'args'
> &
  Partial<Pick<CallRecord, 'session' | 'client' | 'protocol' | 'transport' | 'trace' | 'args_hash'>>

export type OpenJournal = {
  /** The call has begun. `entry` is asked only if the call takes its time. */
  opened(call: string, entry: () => OpenCallEntry): void
  /** The call's record is written, or will never be. */
  closed(call: string): void
  /** Removes the journal: nothing is open any more, or all that was open is recorded. */
  remove(): void
}

export type OpenJournalOptions = {
  path: string
  header(): Omit<OpenJournalHeader, 'v' | 'kind' | 'slot_bytes'>
  monotonicMs(): number
}

type Running = { sinceMs: number; entry: () => OpenCallEntry; slot: number | undefined }

/** Never throws: a journal that cannot be written is done without. */
export function createOpenJournal(options: OpenJournalOptions): OpenJournal {
  const running = new Map<string, Running>()
  const freeSlots: number[] = []
  let usedSlots = 1
  let fd: number | undefined
  let usable = true
  let timer: NodeJS.Timeout | undefined

  function sweepLater(): void {
    if (timer || !usable) return
    timer = setTimeout(sweep, WRITE_AFTER_MS)
    timer.unref()
  }

  function sweep(): void {
    timer = undefined
    const until = options.monotonicMs() - WRITE_AFTER_MS
    let isWaiting = false
    for (const call of running.values()) {
      if (call.slot !== undefined) continue
      if (call.sinceMs > until) isWaiting = true
      else write(call)
    }
    if (isWaiting) sweepLater()
  }

  function write(call: Running): void {
    const slot = freeSlots.pop() ?? (usedSlots <= MAX_SLOTS ? usedSlots++ : undefined)
    if (slot === undefined || !usable) return
    call.slot = slot
    guarded(() => writeSlot(open(), slot, slotText(call.entry())))
  }

  function open(): number {
    if (fd !== undefined) return fd
    const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
    fd = openSync(options.path, O_RDWR | O_CREAT | O_EXCL | (O_NOFOLLOW ?? 0), 0o600)
    const header: OpenJournalHeader = {
      v: 1,
      kind: 'open_calls',
      ...options.header(),
      slot_bytes: SLOT_BYTES,
    }
    writeSlot(fd, 0, `${JSON.stringify(header)}\n`)
    return fd
  }

  function guarded(work: () => void): void {
    try {
      work()
    } catch {
      usable = false
    }
  }

  return {
    opened(call, entry) {
      running.set(call, { sinceMs: options.monotonicMs(), entry, slot: undefined })
      sweepLater()
    },
    closed(call) {
      const slot = running.get(call)?.slot
      running.delete(call)
      if (slot === undefined) return
      guarded(() => {
        if (fd !== undefined) writeSync(fd, NEWLINE, 0, 1, slot * SLOT_BYTES)
      })
      freeSlots.push(slot)
    },
    remove() {
      clearTimeout(timer)
      running.clear()
      if (fd === undefined) return
      const last = fd
      fd = undefined
      usable = false
      guarded(() => {
        closeSync(last)
        unlinkSync(options.path)
      })
    },
  }
}

function writeSlot(fd: number, slot: number, text: string): void {
  const bytes = Buffer.from(text)
  writeSync(fd, bytes, 0, bytes.length, slot * SLOT_BYTES)
}

const MAX_NAME_LENGTH = 200

/** One line that fits into a slot; of arguments that do not, only their size. */
function slotText(entry: OpenCallEntry): string {
  const { args, ...rest } = entry
  const head = { ...rest, tool: cutText(redactText(entry.tool), MAX_NAME_LENGTH) }
  const { json } = redactArguments(args)
  const text = `${JSON.stringify(head).slice(0, -1)},"args":${json}}\n`
  if (Buffer.byteLength(text) <= SLOT_BYTES) return text
  const marker: TruncationMarker = { $trunc: true, bytes: Buffer.byteLength(json) }
  const cut = `${JSON.stringify({ ...head, args: marker })}\n`
  if (Buffer.byteLength(cut) <= SLOT_BYTES) return cut
  const { call, server, request, started } = entry
  return `${JSON.stringify({ call, server, tool: head.tool, request, started, args: null })}\n`
}

export type ReadOpenJournal = {
  header: OpenJournalHeader
  calls: OpenCallEntry[]
  /** Slots that hold neither a call nor an empty line: written in part when the process died. */
  brokenSlots: number
}

/** Undefined where the bytes are no journal. */
export function readOpenJournal(bytes: Uint8Array): ReadOpenJournal | undefined {
  const journal = readOpenSlots(bytes)
  if (!journal) return undefined
  const calls = journal.slots.flatMap(({ entry }) => entry ?? [])
  return { header: journal.header, calls, brokenSlots: journal.slots.length - calls.length }
}

/** A slot in use. */
export type OpenSlot = {
  /** Bytes from the file's beginning. */
  offset: number
  bytes: Buffer
  /** Undefined where the slot was written in part. */
  entry: OpenCallEntry | undefined
}

/** The same slot by slot, with their bytes. */
export function readOpenSlots(
  bytes: Uint8Array,
): { header: OpenJournalHeader; slots: OpenSlot[] } | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const header = parsedSlot(buffer, 0)
  if (!isHeader(header)) return undefined
  const slots: OpenSlot[] = []
  for (let at = header.slot_bytes; at < buffer.length; at += header.slot_bytes) {
    if (buffer[at] === 0x0a || buffer[at] === 0) continue
    const slot = buffer.subarray(at, at + header.slot_bytes)
    const end = slot.indexOf(0x0a)
    const entry = parsedSlot(slot, 0)
    slots.push({
      offset: at,
      bytes: slot.subarray(0, end < 0 ? slot.length : end),
      entry: isEntry(entry) ? entry : undefined,
    })
  }
  return { header, slots }
}

function parsedSlot(buffer: Buffer, at: number): unknown {
  const end = buffer.indexOf(0x0a, at)
  if (end === -1) return undefined
  try {
    return JSON.parse(buffer.toString('utf8', at, end))
  } catch {
    return undefined
  }
}

function isHeader(value: unknown): value is OpenJournalHeader {
  return (
    isObject(value) &&
    value.kind === 'open_calls' &&
    value.v === 1 &&
    typeof value.w === 'string' &&
    typeof value.slot_bytes === 'number' &&
    value.slot_bytes >= 512
  )
}

function isEntry(value: unknown): value is OpenCallEntry {
  return isObject(value) && typeof value.call === 'string' && typeof value.tool === 'string'
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
