/**
 * What of a record does not become a column goes into `call_text.detail` as JSON. This file owns
 * that text's shape, both ways. Two things that nearly every record has are left out and put back
 * when it is read:
 *
 * - `attempts` of the usual kind, one attempt that took as long as the handler;
 * - `args_hash` where call.args_key has its first 52 bits.
 */

type Detail = Record<string, unknown>

/** Need not be stored: `expandDetail` can put it back. */
export function isLeftOut(key: string, record: Detail, argsKey: number | null): boolean {
  if (key === 'args_hash') return argsKey !== null
  return key === 'attempts' && isUsual(record.attempts, record.handler_ms)
}

function isUsual(attempts: unknown, handlerMs: unknown): boolean {
  if (!Array.isArray(attempts) || attempts.length !== 1 || typeof handlerMs !== 'number')
    return false
  const attempt: unknown = attempts[0]
  if (typeof attempt !== 'object' || attempt === null) return false
  return (attempt as Detail).ms === handlerMs && Object.keys(attempt).length === 1
}

/** The detail as the record had it; of the arguments' hash 13 digits. Changes its argument. */
export function expandDetail(detail: Detail, argsKey: number | null | undefined): Detail {
  const { attempts, handler_ms: handlerMs } = detail
  if (attempts === undefined && typeof handlerMs === 'number') detail.attempts = [{ ms: handlerMs }]
  if (detail.args_hash === undefined && typeof argsKey === 'number') {
    detail.args_hash = argsKey.toString(16).padStart(13, '0')
  }
  return detail
}
