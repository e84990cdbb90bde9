import { createHash } from 'node:crypto'
import type { ErrorClass } from '../../server/call-log/record.ts'

/** How sure we are, best first. The rules are in timeout-windows.ts; words first, numbers on demand. */
export const GRADES = ['confirmed', 'likely', 'possible', 'emerging', 'fading'] as const
export type Grade = (typeof GRADES)[number]

/** The colour family of a finding: see web/static/style.css. */
export type FindingFamily = 'network' | 'arguments' | 'result' | 'process'

/**
 * `malformed_arguments` failed; `ignored_arguments` succeeded without an argument that was dropped.
 * `hidden_errors` are errors told as successes, `empty_results` a tool that has become emptier.
 */
export type FindingKind =
  | 'timeout_window'
  | 'malformed_arguments'
  | 'ignored_arguments'
  | 'retry_loop'
  | 'silence'
  | 'incident'
  | 'hidden_errors'
  | 'empty_results'

/** What a card on the overview shows, and what a command prints. */
export type Finding = {
  /** Stable while the finding is the same, and fit for an HTML id: see stableId. */
  id: string
  kind: FindingKind
  family: FindingFamily
  grade: Grade
  server: string
  /** Undefined where the whole server is meant. */
  tool: string | undefined
  /** Undefined where the calls succeeded. */
  class: ErrorClass | undefined
  /** One sentence: the tool and the time first. Plain text; names of tools are in backticks. */
  sentence: string
  impact: { calls: number; sessions: number }
  /** What these calls are, in words: "45 failed calls in 24 sessions". */
  impactText: string
  /** What to do about it, in a sentence. */
  action: string
  /** Text to paste into the tool's schema, description or instructions; undefined where none fits. */
  paste: string | undefined
  /** How you will know that it is over, in a sentence. */
  check: string
  /** Query string (no `?`) of /calls that lists the calls behind it. */
  evidenceQuery: string
  /** Path of the page that shows how it was computed. */
  detailPath: string
}

/** `window-3f2a0c…`: the same for the same parts, whatever characters they hold. */
export function stableId(kind: string, parts: readonly (string | number)[]): string {
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  return `${kind}-${hash.slice(0, 12)}`
}
