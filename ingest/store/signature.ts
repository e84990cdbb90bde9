import { createHash } from 'node:crypto'
import type { ArgumentIssue } from '../../server/call-log/record.ts'

/** One way in which a tool's arguments go wrong. Two calls with the same one have one cause. */
export type Signature = {
  /** `s1:` and 16 hex digits. A new way to compute it gets a new prefix. */
  fingerprint: string
  code: ArgumentIssue['code']
  /** With array indices as `[*]`. */
  path: string
  subtype: string | undefined
  expected: string | undefined
  received: string | undefined
  suggest: string | undefined
}

const VERSION = 's1'
const MAX_TEXT = 512

/**
 * The signature of one issue of one server's tool: no values in it, so no secrets. The spelling of
 * an unknown key does not matter (`customerID`, `customer_id`), its name does.
 */
export function signatureOf(server: string, tool: string, issue: ArgumentIssue): Signature {
  const path = clip(issue.path.replace(/\[\d+\]/g, '[*]'))
  const { parent, key } =
    issue.code === 'unknown_key' ? splitPath(path) : { parent: path, key: undefined }
  const parts = [
    VERSION,
    server,
    tool,
    issue.code,
    parent,
    issue.expected ?? '',
    issue.received ?? '',
    issue.subtype ?? '',
    key === undefined ? '' : key.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '') || key,
  ]
  // Joined as JSON, so that no two lists of parts give the same text.
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16)
  return {
    fingerprint: `${VERSION}:${hash}`,
    code: issue.code,
    path,
    subtype: issue.subtype,
    expected: issue.expected === undefined ? undefined : clip(issue.expected),
    received: issue.received === undefined ? undefined : clip(issue.received),
    suggest: issue.suggest === undefined ? undefined : clip(issue.suggest),
  }
}

/** The place in the list of the issue that best tells what to fix; −1 for an empty list. */
export function primaryIssue(issues: readonly ArgumentIssue[]): number {
  let best = -1
  let bestRank = Number.POSITIVE_INFINITY
  for (const [index, issue] of issues.entries()) {
    const rank = rankOf(issue, issues)
    if (rank < bestRank) {
      best = index
      bestRank = rank
    }
  }
  return best
}

/** An unknown key beside a missing one is a wrong name; alone it may be harmless. */
function rankOf(issue: ArgumentIssue, issues: readonly ArgumentIssue[]): number {
  if (issue.code === 'malformed_json') return 0
  if (issue.subtype === 'wrapped_args') return 1
  if (issue.subtype?.startsWith('stringified_')) return 2
  switch (issue.code) {
    case 'unknown_key':
      return issues.some((other) => other.code === 'missing_required') ? 3 : 4
    case 'missing_required':
      return 5
    case 'wrong_type':
      return 6
    case 'not_in_enum':
      return 7
    case 'out_of_range':
      return 8
    default:
      return 9
  }
}

function splitPath(path: string): { parent: string; key: string } {
  const dot = path.lastIndexOf('.')
  return dot < 0
    ? { parent: '', key: path }
    : { parent: path.slice(0, dot), key: path.slice(dot + 1) }
}

function clip(text: string): string {
  return text.length > MAX_TEXT ? text.slice(0, MAX_TEXT) : text
}
