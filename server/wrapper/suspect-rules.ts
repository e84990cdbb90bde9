import { findLostValue } from './lost-in-json.ts'
import { isRecord, type ToolResult } from './mcp-shapes.ts'
import { suspectTextRule } from './suspect-texts.ts'

/**
 * Successes that read like failures: only results that are one short message, or small data whose
 * own keys say so.
 */

/** Longer JSON is data; parsing it on every call would cost more than the rule is worth. */
const MAX_JSON_LENGTH = 2_000

/** The id of the first rule that takes this success for a failure in disguise. */
export function suspectRule(result: ToolResult): string | undefined {
  const text = firstText(result)
  if (text !== undefined) {
    const parsed = parseObject(text)
    const rule = parsed ? dataRule(parsed, 'json') : suspectTextRule(text)
    if (rule) return rule
  }
  const { structuredContent } = result
  if (!isRecord(structuredContent)) return undefined
  if (findLostValue(structuredContent)) return 'structured_lost'
  return dataRule(structuredContent, 'structured')
}

/** Undefined unless the result is one text, perhaps with blank ones. */
function firstText(result: ToolResult): string | undefined {
  if (!Array.isArray(result.content)) return undefined
  const texts: string[] = []
  for (const block of result.content) {
    if (!isRecord(block) || block.type !== 'text' || typeof block.text !== 'string')
      return undefined
    if (block.text !== '') texts.push(block.text)
    if (texts.length > 1) return undefined
  }
  return texts[0]?.slice(0, MAX_JSON_LENGTH + 1).trim()
}

function parseObject(text: string): Record<string, unknown> | undefined {
  if (!text.startsWith('{') || text.length > MAX_JSON_LENGTH) return undefined
  try {
    const parsed: unknown = JSON.parse(text)
    return isRecord(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}

const DENIALS = ['success', 'ok', 'succeeded', 'valid', 'is_valid', 'isValid', 'isSuccess']

function dataRule(data: Record<string, unknown>, kind: 'json' | 'structured'): string | undefined {
  const errors = data.errors
  const listsErrors = Array.isArray(errors) && errors.length > 0
  const denied = DENIALS.some((key) => data[key] === false)
  if (denied && (listsErrors || saysSomething(data.error) || saysSomething(data.message))) {
    return `${kind}_denied`
  }
  if (data.success === false || data.ok === false) return `${kind}_denied`
  if (data.isError === true || data.is_error === true) return `${kind}_denied`
  // GraphQL: errors in place of data.
  if (listsErrors && (data.data === null || Object.keys(data).every(isErrorListKey))) {
    return `${kind}_errors`
  }
  // An error beside data may be a note about it; alone it is the answer.
  if (saysSomething(data.error) && Object.keys(data).length <= 3 && data.success !== true) {
    return `${kind}_error_key`
  }
  return smallDataRule(data, kind)
}

const FAILED_STATUSES: ReadonlySet<unknown> = new Set(['error', 'failed', 'failure', 'fail'])

function isErrorListKey(key: string): boolean {
  return key === 'errors' || key === 'extensions'
}

/** Data that is no more than a message: a status, a code, an exception's name, or a bare text. */
function smallDataRule(
  data: Record<string, unknown>,
  kind: 'json' | 'structured',
): string | undefined {
  const size = Object.keys(data).length
  const words = [data.message, data.detail, data.msg, data.error, data.reason]
  const message = words.find((value) => typeof value === 'string' && value.trim() !== '')
  if (message === undefined && typeof data.title !== 'string') return undefined
  const reason = data.message ?? data.reason
  if (FAILED_STATUSES.has(data.status) && saysSomething(reason) && size <= 6) {
    return `${kind}_status`
  }
  if (isErrorCode(data.code) && saysSomething(data.message) && size <= 4) return `${kind}_code`
  const code = saysSomething(data.message ?? data.error) ? data.code : undefined
  const statuses = [data.status, data.statusCode, data.status_code, code]
  if (statuses.some(isErrorStatus) && size <= 6) return `${kind}_http_status`
  if (typeof data.__type === 'string' && /(?:Exception|Error)$/.test(data.__type)) {
    return `${kind}_exception`
  }
  // A title alone may be anybody's.
  if (message === undefined || size > 2) return undefined
  return suspectTextRule(String(message)) === undefined ? undefined : `${kind}_message`
}

function isErrorStatus(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 400 && value <= 599
}

function saysSomething(value: unknown): boolean {
  return (typeof value === 'string' && value.trim() !== '') || isRecord(value)
}

/** `E_QUOTA`, `ECONNREFUSED`, `ERR_TIMEOUT`, `QUOTA_ERROR`: not any code, an error's. */
function isErrorCode(code: unknown): boolean {
  return (
    typeof code === 'string' &&
    /^(?:E[_A-Z]{3,}|ERR_\w+|[A-Z_]+_(?:ERROR|FAILED|EXCEEDED))$/.test(code)
  )
}
