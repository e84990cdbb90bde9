/**
 * Texts that read like failures. Every rule looks only at how a text *begins*, and only at texts
 * short enough to be a message: a document, a log or a search hit that talks about errors must
 * never be taken for one.
 */
const MAX_MESSAGE_LENGTH = 1_000
const MAX_SENTENCE_LENGTH = 250

type Rule = {
  id: string
  /** Of a text that is longer than a sentence, or has lines, it says nothing. */
  sentence?: true
  matches: (text: string) => boolean
}

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
/** These words alone are a status line; `Conflict` or `Gone` alone may be anything. */
const HTTP_REASON_ALONE =
  /^(?:(?:internal )?server error|bad gateway|service (?:temporarily )?unavailable|gateway time-?out|too many requests|unauthorized|forbidden|bad request|access denied|permission denied)[.!]?$/i
const HTTP_ERROR_STATUS = /^HTTP (?:error|status)\b.{0,20}\b[45]\d\d\b/i
const NETWORK_CODE = new RegExp(
  `^(?:(?:connect|read|write|getaddrinfo|request|fetch failed)\\b.{0,40})?\\b(?:${NETWORK_CODES})\\b(?! (?:is|are|was|means|errors?|occurs)\\b)`,
)

/** What runtimes and drivers say, word for word. Nobody begins a document with one of these. */
const RUNTIME_MESSAGES: readonly RegExp[] = [
  /^fetch failed$/,
  /^socket hang up$/,
  /^terminated$/,
  /^net::ERR_[A-Z_]+/,
  /^(?:panic|fatal): \S/i,
  /^JSON\.parse: \S/,
  /^(?:the|this) operation was aborted\b/i,
  /^unexpected (?:token .* in json\b|token .* is not valid json$|end of (?:json input|file)$|non-whitespace character after json\b)/i,
  /^cannot (?:read|set) propert(?:y|ies) (?:.{0,60} )?of (?:undefined|null)\b/i,
  /^[\w.$]+(?:\(\.\.\.\))? is not (?:defined|a function|a constructor|iterable)$/,
  /^maximum call stack size exceeded$/i,
  /^invalid (?:url|json|date)$/i,
  /^E[A-Z]{3,}: [a-z]/,
  /^(?:sqlite_[a-z_]+|ora-\d{5}|er_[a-z_]+): /i,
  /^(?:database (?:file )?is (?:locked|malformed)|no such (?:table|column): |duplicate key value violates |deadlock detected$|syntax error at or near |(?:relation|column) ".{1,80}" does not exist|too many connections|connection terminated)/i,
  /^(?:self[- ]signed certificate|unable to verify the first certificate|certificate has expired|unable to get local issuer certificate)/i,
  /^(?:list index out of range|division by zero|name '.{1,60}' is not defined|'\w+' object (?:has no attribute|is not )|no module named )/i,
]

/** After "the request failed": what tells a message from the beginning of a story. */
const END = '(?=[.:!,;]|$| (?:with|after|due|because|for|to|on|at|by|while|when)\\b)'

const FAILED_PHRASE = new RegExp(
  '^(?:the )?(?:[\\w-]+ ){0,2}(?:request|operation|call|command|query|connection|fetch|tool|upload|' +
    `download|execution)(?: \\w+)? (?:failed|timed out|was refused|was reset)${END}`,
  'i',
)
const CONNECTION_LOST = new RegExp(
  `^connection (?:refused|reset|closed|aborted|lost)(?: by (?:the )?(?:peer|server|host))?(?! by)${END}`,
  'i',
)
const ACCESS_REFUSED = new RegExp(
  `^(?:access|permission|authentication|authorization) (?:was |is )?(?:denied|failed|refused)${END}`,
  'i',
)
/** Of what the error is, so that a measured error is not meant: `API error: …`, no `Mean error: …`. */
const KIND_OF_ERROR =
  /^(?:[\w-]+ ){0,2}(?:api|server|database|db|http|network|connection|sql|client|auth|authentication|request|runtime|syntax|system) error: (?=\D|[45]\d\d\b)\S/i

const FAILED_VERBS =
  'connect|fetch|load|read|write|reach|parse|authenticate|execute|retrieve|open|resolve|send|process|' +
  'complete|access|query|create|update|delete|get|list|find|save|insert|start|run|call|upload|' +
  'download|post|search|add|remove|generate|convert|decode|initiali[sz]e|establish|log ?in|validate|' +
  'verify|perform|submit|clone|commit|push|pull|build|install'
const FAILED_TO = new RegExp(
  "^(?:(?:sorry|oops)[,.!]? )?(?:i )?(?:failed to|unable to|could not|couldn't|cannot|can't) " +
    `(?:${FAILED_VERBS})\\b`,
  'i',
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
      /^(?:uncaught |fatal |mcp |internal |unexpected |server |api )?(?:error|exception|failure|[\w.$]+(?:Error|Exception))(?: -?\d+)?: ?\S/i.test(
        text,
      ) &&
      !isLog(text),
  },
  {
    // "Error executing tool x: …": a verb and what went wrong, so that no heading is meant.
    id: 'error_doing',
    matches: (text) =>
      text.length <= MAX_MESSAGE_LENGTH &&
      /^(?:error|exception|failure) (?:while |when |during |in |on )?(?:executing|calling|invoking|running|fetching|reading|writing|loading|processing|connecting|parsing|querying|searching|creating|updating|deleting|sending|getting|retrieving)\b[^\n:]{0,80}: ?\S/i.test(
        text,
      ) &&
      !isLog(text),
  },
  {
    id: 'error_occurred',
    sentence: true,
    matches: (text) =>
      /^(?:(?:sorry|oops)[,.!]? )?(?:an? |some )?(?:(?:unexpected|internal|unknown|unhandled|server|fatal) ){0,2}(?:error|exception|problem) (?:has )?(?:occurred|happened)\b/i.test(
        text,
      ) || /^(?:(?:sorry|oops|uh oh)[,.!]? )?something went wrong\b/i.test(text),
  },
  {
    id: 'kind_of_error',
    sentence: true,
    matches: (text) =>
      KIND_OF_ERROR.test(text) ||
      /^(?:[\w-]+ ){0,4}(?:returned|responded with|encountered) an (?:\w+ )?error[.:]/i.test(text),
  },
  {
    id: 'http_status',
    sentence: true,
    matches: (text) =>
      HTTP_STATUS.test(text) || HTTP_ERROR_STATUS.test(text) || HTTP_REASON_ALONE.test(text),
  },
  {
    id: 'network_code',
    sentence: true,
    matches: (text) => NETWORK_CODE.test(text),
  },
  {
    id: 'rate_limit',
    sentence: true,
    matches: (text) =>
      /^(?:.{0,30}\b)?(?:rate limit (?:was )?(?:exceeded|reached|hit)|too many requests|quota (?:was )?exceeded)\b/i.test(
        text,
      ) ||
      /^you(?: have|'ve)? (?:exceeded|reached|hit) (?:your|the) (?:[\w-]+ ){0,3}(?:quota|limit)\b/i.test(
        text,
      ),
  },
  {
    id: 'runtime_message',
    sentence: true,
    matches: (text) => RUNTIME_MESSAGES.some((message) => message.test(text)),
  },
  {
    id: 'failed_to',
    sentence: true,
    matches: (text) => FAILED_TO.test(text),
  },
  {
    id: 'failed_phrase',
    sentence: true,
    matches: (text) => FAILED_PHRASE.test(text) || CONNECTION_LOST.test(text),
  },
  {
    id: 'access_refused',
    sentence: true,
    matches: (text) =>
      ACCESS_REFUSED.test(text) ||
      /^authentication credentials were not provided\b/i.test(text) ||
      /^(?:bad credentials|not (?:authenticated|authorized|logged in)|(?:login|authentication) (?:is )?required)[.!]?$/i.test(
        text,
      ) ||
      /^(?:invalid|missing|expired)(?: or (?:missing|expired|invalid))? (?:api[ -]key|(?:access |auth |bearer )?token|credentials)\b/i.test(
        text,
      ),
  },
  {
    id: 'unavailable',
    sentence: true,
    matches: (text) =>
      /^(?:the |this )?(?:\w+ ){0,2}(?:service|server|api|database|backend|upstream|endpoint) is (?:currently |temporarily )?(?:unavailable|not available|unreachable|not responding|overloaded|down)\b/i.test(
        text,
      ),
  },
  {
    // A value that lost itself on its way into a text.
    id: 'value_lost',
    matches: (text) => /^\[object [A-Z]\w*\](?:,\[object [A-Z]\w*\])*$/.test(text),
  },
  {
    id: 'python_error',
    matches: (text) =>
      text.length <= MAX_MESSAGE_LENGTH &&
      /^\{'(?:error|errors|exception)': (?!None\b|\[\]|''|False\b)/.test(text),
  },
  {
    id: 'html_error_page',
    matches: (text) =>
      isHtml(text) &&
      /<(?:title|h1)>\s*(?:error\b|[45]\d\d\b|bad gateway|service unavailable|access denied|forbidden)/i.test(
        text.slice(0, 2_000),
      ),
  },
  {
    // A session that has ended answers every address with its login page.
    id: 'html_login_page',
    matches: (text) =>
      isHtml(text) &&
      /<title>\s*(?:sign[ -]?in|log[ -]?in)(?=\s*(?:<|[|–—:·]| - |\bto\b|\bpage\b))/i.test(
        text.slice(0, 2_000),
      ),
  },
  {
    id: 'xml_error',
    matches: (text) =>
      text.length <= MAX_MESSAGE_LENGTH &&
      /^(?:<\?xml[^>]{0,80}\?>\s*)?<(?:(?:\w+:)?Envelope\b[^>]{0,300}>\s*<(?:\w+:)?Body>\s*<(?:\w+:)?Fault|Error|ErrorResponse|Exception)\b/.test(
        text,
      ),
  },
]

const rulesForMore = textRules.filter(({ sentence }) => !sentence)
/** What authors put in front of a message to make it seen. */
const ORNAMENT = /^(?:[❌✖✗✘⛔🚫🔴⚠]|\uFE0F|\*\*|\s|\[(?=(?:error|fatal|failed)\](?!:)))+/iu

/** The id of the first rule that takes this text for a failure. */
export function suspectTextRule(text: string): string | undefined {
  const plain = text
    .replace(ORNAMENT, '')
    // "[ERROR] …" and "**Error:** …" as "ERROR: …" and "Error: …".
    .replace(/^(error|fatal|failed)(?:\]|:?\*\*:?) */i, '$1: ')
  const isSentence = plain.length <= MAX_SENTENCE_LENGTH && !plain.includes('\n')
  const rules = isSentence ? textRules : rulesForMore
  return rules.find(({ matches }) => matches(plain))?.id
}

function isLog(text: string): boolean {
  return /\n\s*(?:error|\w+Error|warn(?:ing)?|info|debug)\b/i.test(text)
}

function isHtml(text: string): boolean {
  return /^\s*<(?:!doctype html|html)\b/i.test(text)
}
