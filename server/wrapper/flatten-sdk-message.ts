import { formatPath } from './argument-path.ts'
import { isRecord } from './mcp-shapes.ts'

const MAX_ISSUES = 5
const MAX_LENGTH = 400

/**
 * The SDK's words for a refusal, readable: its `MCP error -32602:` prefixes go, and a dump of zod
 * issues becomes one phrase an issue. Wording only; what the refusal means is decided elsewhere.
 */
export function flattenSdkMessage(message: unknown): string {
  const text = (typeof message === 'string' ? message : '').replace(/^(?:MCP error -?\d+: )+/, '')
  const dumpAt = text.indexOf('[')
  const issues = dumpAt < 0 ? undefined : parseIssues(text.slice(dumpAt))
  const flat = issues ? `${text.slice(0, dumpAt)}${issues.join('; ')}` : text
  return flat.length <= MAX_LENGTH ? flat : `${flat.slice(0, MAX_LENGTH)}…`
}

function parseIssues(dump: string): string[] | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(dump)
  } catch {
    return undefined
  }
  if (!Array.isArray(parsed)) return undefined
  const phrases = parsed.filter(isRecord).map(phraseOf)
  const rest = phrases.length - MAX_ISSUES
  return rest > 0 ? [...phrases.slice(0, MAX_ISSUES), `and ${rest} more`] : phrases
}

function phraseOf(issue: Record<string, unknown>): string {
  const path = Array.isArray(issue.path) ? formatPath(issue.path) : '(root)'
  return `${path}: ${typeof issue.message === 'string' ? issue.message : 'invalid'}`
}
