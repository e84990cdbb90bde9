/**
 * What of a record does not become a column goes into `call_text.detail` as JSON. This file owns
 * that text's shape, both ways. Things that nearly every record has are left out and put back
 * when it is read:
 *
 * - `attempts` of the usual kind, one attempt that took as long as the handler;
 * - `args_hash` where call.args_key has its first 52 bits;
 * - `protocol` and `transport` where call.protocol_id has both;
 * - of `result` the number of blocks, where it is one.
 */

type Detail = Record<string, unknown>

/** What a row's columns have of these, as `expandDetail` will find it. */
export type DetailColumns = {
  argsKey: number | null
  protocol: readonly [version: string, transport: string] | undefined
}

const PROTOCOL = /^[ -~]{1,32}$/

/** Version and transport if both are words that a dictionary may have. */
export function protocolOf(record: Detail): DetailColumns['protocol'] {
  const { protocol, transport } = record
  if (typeof protocol !== 'string' || typeof transport !== 'string') return undefined
  return PROTOCOL.test(protocol) && PROTOCOL.test(transport) ? [protocol, transport] : undefined
}

/** Need not be stored: `expandDetail` can put it back. */
export function isLeftOut(key: string, record: Detail, columns: DetailColumns): boolean {
  if (key === 'args_hash') return columns.argsKey !== null
  if (key === 'protocol' || key === 'transport') return columns.protocol !== undefined
  return key === 'attempts' && isUsual(record.attempts, record.handler_ms)
}

function isUsual(attempts: unknown, handlerMs: unknown): boolean {
  if (!Array.isArray(attempts) || attempts.length !== 1 || typeof handlerMs !== 'number')
    return false
  const attempt: unknown = attempts[0]
  if (typeof attempt !== 'object' || attempt === null) return false
  return (attempt as Detail).ms === handlerMs && Object.keys(attempt).length === 1
}

/** Shortens the record's result in place. A number of blocks that is missing becomes null. */
export function shortenResult({ result }: Detail): void {
  if (!isDetail(result) || typeof result.bytes !== 'number') return
  if (result.blocks === 1) result.blocks = undefined
  else if (result.blocks === undefined) result.blocks = null
}

function lengthenResult({ result }: Detail): void {
  if (!isDetail(result) || typeof result.bytes !== 'number') return
  if (result.blocks === null) delete result.blocks
  else result.blocks ??= 1
}

function isDetail(value: unknown): value is Detail {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The detail as the record had it; of the arguments' hash 13 digits. Changes its argument. */
export function expandDetail(detail: Detail, { argsKey, protocol }: DetailColumns): Detail {
  const { attempts, handler_ms: handlerMs } = detail
  if (attempts === undefined && typeof handlerMs === 'number') detail.attempts = [{ ms: handlerMs }]
  if (detail.args_hash === undefined && argsKey !== null) {
    detail.args_hash = argsKey.toString(16).padStart(13, '0')
  }
  lengthenResult(detail)
  if (protocol) {
    const [version, transport] = protocol
    detail.protocol ??= version
    detail.transport ??= transport
  }
  return detail
}
