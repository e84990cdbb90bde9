import { isRecord, type ToolResult } from './mcp-shapes.ts'

/**
 * Successes that read like failures. Every rule looks only at how a result *begins*, and only at
 * results short enough to be a message: a document, a log or a search hit that talks about errors
 * must never be taken for one.
 */
const MAX_MESSAGE_LENGTH = 1_000
const MAX_SENTENCE_LENGTH = 250
/** Longer JSON is data; parsing it on every call would cost more than the rule is worth. */
const MAX_JSON_LENGTH = 2_000

type Rule = { id: string; matches: (text: string) => boolean }

const NETWORK_CODES =
  'ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EPIPE|EHOSTUNREACH|ENETUNREACH|UND_ERR_\\w+'

const HTTP_REASONS =
  'Bad Request|Unauthorized|Payment Required|Forbidden|Not Found|Method Not Allowed|' +
  'Request Timeout|Conflict|Gone|Too Many Requests|Internal Server Error|Not Implemented|' +
  'Bad Gateway|Service Unavailable|Gateway Time-?out'

const HTTP_STATUS = new RegExp(
  `^(?:HTTP(?:/\\d(?:\\.\\d)?)? |status(?: code)?:? )?[45]\\d\\d:? (?:${HTTP_REASONS})\\b`,
  'i',
)
const NETWORK_CODE = new RegExp(
  `^(?:(?:connect|read|write|getaddrinfo|request|fetch failed)\\b.{0,40})?\\b(?:${NETWORK_CODES})\\b`,
)

const textRules: readonly Rule[] = [
  {
    id: 'stack_trace',
    matches: (text) =>
      /^(?:Uncaught )?[\w.]*(?:Error|Exception)\b[^\n]*\n\s+at \S/.test(text) ||
      text.startsWith('Traceback (most recent call last):'),
  },
  {
    id: 'error_prefix',
    matches: (text) =>
      text.length <= MAX_MESSAGE_LENGTH &&
      // "Error: …", "TypeError: …", "MCP error -32602: …"; more than one such line is a log.
      /^(?:fatal |mcp |internal |unexpected )?(?:error|exception|failure|\w+(?:Error|Exception))(?: -?\d+)?: ?\S/i.test(
        text,
      ) &&
      !/\n\s*(?:error|\w+Error|warn(?:ing)?|info|debug)\b/i.test(text),
  },
  {
    id: 'http_status',
    matches: (text) => isSentence(text) && HTTP_STATUS.test(text),
  },
  {
    id: 'network_code',
    matches: (text) => isSentence(text) && NETWORK_CODE.test(text),
  },
  {
    id: 'rate_limit',
    matches: (text) =>
      isSentence(text) &&
      /^(?:.{0,30}\b)?(?:rate limit (?:was )?(?:exceeded|reached|hit)|too many requests|quota (?:was )?exceeded)\b/i.test(
        text,
      ),
  },
  {
    id: 'failed_to',
    matches: (text) =>
      isSentence(text) &&
      /^(?:(?:sorry|oops)[,.!]? )?(?:i )?(?:failed to|unable to|could not|couldn't|cannot|can't) (?:connect|fetch|load|read|write|reach|parse|authenticate|execute|retrieve|open|resolve|send|process|complete|access|query)\b/i.test(
        text,
      ),
  },
  {
    id: 'failed_phrase',
    matches: (text) =>
      isSentence(text) &&
      /^(?:the )?(?:request|operation|call|command|query|connection|fetch|tool|upload|download)(?: \w+)? (?:failed|timed out|was refused|was reset)\b/i.test(
        text,
      ),
  },
  {
    id: 'html_error_page',
    matches: (text) =>
      /^\s*<(?:!doctype html|html)\b/i.test(text) &&
      /<(?:title|h1)>\s*(?:error\b|[45]\d\d\b|bad gateway|service unavailable|access denied|forbidden)/i.test(
        text.slice(0, 2_000),
      ),
  },
]

/** The id of the first rule that takes this success for a failure in disguise. */
export function suspectRule(result: ToolResult): string | undefined {
  const text = firstText(result)
  if (text !== undefined) {
    const parsed = parseObject(text)
    if (parsed) return dataRule(parsed, 'json')
    const rule = textRules.find(({ matches }) => matches(text))
    if (rule) return rule.id
  }
  if (isRecord(result.structuredContent)) return dataRule(result.structuredContent, 'structured')
  return undefined
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

function isSentence(text: string): boolean {
  return text.length <= MAX_SENTENCE_LENGTH && !text.includes('\n')
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
  // An error beside data may be a note about it; alone it is the answer.
  if (saysSomething(data.error) && Object.keys(data).length <= 3 && data.success !== true) {
    return `${kind}_error_key`
  }
  const status = data.status
  if ((status === 'error' || status === 'failed') && saysSomething(data.message)) {
    return `${kind}_status`
  }
  if (isErrorCode(data.code) && saysSomething(data.message) && Object.keys(data).length <= 4) {
    return `${kind}_code`
  }
  return undefined
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
