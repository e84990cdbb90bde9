import type { ErrorClass } from '../../server/call-log/record.ts'

/** How sure we are, best first. The rules are in timeout-windows.ts; words first, numbers on demand. */
export const GRADES = ['confirmed', 'likely', 'possible', 'emerging', 'fading'] as const
export type Grade = (typeof GRADES)[number]

/** The colour family of a finding: see web/static/style.css. */
export type FindingFamily = 'network' | 'arguments' | 'result' | 'process'

/** What a card on the overview shows, and what a command prints. */
export type Finding = {
  /** Stable while the finding is the same: kind, tool and class or fingerprint. */
  id: string
  kind: 'timeout_window' | 'malformed_arguments'
  family: FindingFamily
  grade: Grade
  server: string
  tool: string
  class: ErrorClass
  /** One sentence: the tool and the time first. Plain text; names of tools are in backticks. */
  sentence: string
  impact: { calls: number; sessions: number }
  /** What to do about it, in a sentence. */
  action: string
  /** How you will know that it is over, in a sentence. */
  check: string
  /** Query string (no `?`) of /calls that lists the calls behind it. */
  evidenceQuery: string
  /** Path of the page that shows how it was computed. */
  detailPath: string
}
