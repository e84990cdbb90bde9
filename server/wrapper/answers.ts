import { cutText as cut } from '../call-log/limits.ts'
import type { Attempt } from '../call-log/record.ts'
import { redact } from '../call-log/redact.ts'
import type { Classification } from './classify.ts'
import type { TextBlock, ToolResult } from './mcp-shapes.ts'

/**
 * What the client is told when a call fails: one short sentence or two that say what failed,
 * whether it was retried, and what helps. Never a stack, a path, a secret or HTML.
 */

/** Longest answer of ours, in UTF-16 units. */
export const MAX_ANSWER_LENGTH = 500
const MAX_MESSAGE_LENGTH = 200
const MAX_TOOL_NAME_LENGTH = 80

export function errorResult(text: string): ToolResult {
  return { content: [textBlock(text)], isError: true }
}

export function textBlock(text: string): TextBlock {
  return { type: 'text', text }
}

export type FailureFacts = {
  tool: string
  call: string
  classification: Classification
  attempts: readonly Attempt[]
  suppressed: string | undefined
  /** The error's own message, where the client may read it. */
  message: string | undefined
  /** What may help, where the class of the failure does not say it. */
  hint?: string | undefined
}

export function failureText(facts: FailureFacts): string {
  const own = facts.message === undefined ? '' : ` ${sentence(cleanMessage(facts.message))}`
  const parts = [
    `${toolName(facts.tool)} failed: ${whatFailed(facts)}.${own}`,
    retried(facts),
    whatHelps(facts),
  ]
  return cutText(parts.filter((part) => part !== '').join(' '))
}

function whatFailed({ classification: { class: kind, code, status }, call }: FailureFacts): string {
  const named = code === undefined ? '' : ` (${code})`
  switch (kind) {
    case 'timeout':
      return `its upstream service did not answer in time${named || httpStatus(status)}`
    case 'connection':
      if (code === 'ENOTFOUND') return 'the host of its upstream service was not found (ENOTFOUND)'
      return `its upstream service could not be reached${named || httpStatus(status)}`
    case 'rate_limited':
      return `its upstream service limits the rate of calls (HTTP ${status ?? 429})`
    case 'upstream':
      if (status !== undefined) return `its upstream service answered HTTP ${status}`
      if (isTlsCode(code)) return `the TLS certificate of its upstream service was refused${named}`
      return `its upstream service gave an answer that the tool cannot use${named}`
    case 'cancelled':
      return 'the call was cancelled'
    case 'fatal':
      return `the server's configuration is broken and it has to stop (call ${call})`
    default:
      return `unexpected error, kept in the server's log under call ${call}`
  }
}

function httpStatus(status: number | undefined): string {
  return status === undefined ? '' : ` (HTTP ${status})`
}

function isTlsCode(code: string | undefined): boolean {
  return code !== undefined && /CERT|TLS|SSL|SIGNATURE/.test(code)
}

function retried({ attempts, suppressed }: FailureFacts): string {
  if (attempts.length > 1) return `Tried ${attempts.length} times.`
  switch (suppressed) {
    case 'unsafe':
      return 'It was not repeated, as it may have taken effect.'
    case 'budget':
      return 'It was not repeated, as too many calls are being repeated already.'
    default:
      return ''
  }
}

function whatHelps({ classification, suppressed, hint = '' }: FailureFacts): string {
  const { class: kind, retryAfterS, transient, status } = classification
  switch (kind) {
    case 'timeout':
    case 'connection':
      return suppressed === 'unsafe'
        ? 'Check whether it did before calling it again.'
        : 'It may work again in a minute.'
    case 'rate_limited':
      return retryAfterS === undefined
        ? 'Wait before calling it again.'
        : `Wait ${Math.ceil(retryAfterS)} s before calling it again.`
    case 'upstream':
      if (transient || (status !== undefined && status >= 500)) return 'It may work again later.'
      return 'The same call will fail again.'
    case 'fatal':
      return 'Its operator has to mend it.'
    default:
      return hint
  }
}

export function unknownToolText(tool: string, nearest: string | undefined): string {
  const help = nearest === undefined ? '' : ` Did you mean "${nearest}"?`
  return cutText(`There is no tool "${shortName(tool)}" on this server.${help}`)
}

/** `fault` is what is wrong with the name: `missing`, `a number`. */
export function namelessText(fault: string, names: readonly string[]): string {
  const wrong = fault === 'missing' ? 'is missing' : `must be a string, received ${fault}`
  const shown = names.slice(0, 3).map((name) => `"${shortName(name)}"`)
  const more = names.length - shown.length
  const tools = more > 0 ? [...shown, `${more} more`] : shown
  const help = shown.length === 0 ? 'List the tools' : `There ${are(tools)}`
  return cutText(`The call names no tool: \`name\` ${wrong}. ${help}.`)
}

function are(tools: readonly string[]): string {
  const last = tools.at(-1) ?? ''
  return tools.length === 1 ? `is ${last}` : `are ${tools.slice(0, -1).join(', ')} and ${last}`
}

export function taskOnlyText(tool: string): string {
  return `${toolName(tool)} runs as a task only: send \`task\` with the call.`
}

export function noTaskText(tool: string): string {
  return `${toolName(tool)} ran, but not as a task, and its result is lost. Call it without \`task\`.`
}

export function disabledToolText(tool: string): string {
  return `${toolName(tool)} is switched off at the moment. Use another tool.`
}

export function badResultText(tool: string, problem: string): string {
  return cutText(
    `${toolName(tool)} ran, but its result is broken: ${problem}. ` +
      'This is a fault of the tool: the same call will fail again.',
  )
}

export function silentErrorText(tool: string, data = ''): string {
  if (data !== '') return cutText(`${toolName(tool)} failed: ${cleanMessage(data)}`)
  return `${toolName(tool)} failed and gave no reason.`
}

export function emptyResultText(tool: string, mayHaveEffect: boolean): string {
  const effect = mayHaveEffect
    ? ' If it was to change something, check whether it did before calling it again.'
    : ''
  return `${toolName(tool)} gave an empty result, and may have failed without a word.${effect}`
}

/** A note beside the tool's own answer, whose words are no more than an absent value. */
export function emptyWarning(tool: string, words: string): string {
  const answer = words === '' ? 'an empty answer' : `only \`${words.slice(0, 20)}\``
  return (
    `${toolName(tool)} gave ${answer}: it has nothing to say, or it failed without a word. ` +
    'Do not take it for a finding without another look.'
  )
}

export function suspectResultText(tool: string, excerpt: string): string {
  const found = excerpt === '' ? '' : ` It said: ${cleanMessage(excerpt)}`
  return cutText(`${toolName(tool)} reported success, but its result reads like an error.${found}`)
}

export function deadlineText(tool: string, ms: number, mayHaveEffect: boolean): string {
  const effect = mayHaveEffect ? ' It may still take effect: check before calling it again.' : ''
  return `${toolName(tool)} did not finish within ${ms / 1000} s and was given up.${effect}`
}

/** First line of a message without secrets, markup and paths of the server's machine. */
export function cleanMessage(message: string): string {
  const redacted = redact(message)
  const line = (typeof redacted === 'string' ? redacted : '')
    .replace(/<[^<>]{0,500}>/g, ' ')
    .split(/[\r\n]/)
    .map((part) => part.trim())
    .find((part) => part !== '')
  const plain = (line ?? '').replace(/(?<![\w:/.])(?:[A-Za-z]:)?(?:[\\/][\w.@-]+){2,}/g, '[path]')
  return cut(plain, MAX_MESSAGE_LENGTH)
}

function sentence(text: string): string {
  return /[.!?…]$/.test(text) || text === '' ? text : `${text}.`
}

export function toolName(tool: string): string {
  return `Tool "${shortName(tool)}"`
}

function shortName(tool: string): string {
  const plain = tool.replace(/[\p{Cc}\p{Cf}<>"]/gu, '?')
  return cut(plain, MAX_TOOL_NAME_LENGTH)
}

export function cutText(text: string): string {
  return cut(text, MAX_ANSWER_LENGTH)
}
