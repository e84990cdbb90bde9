import type { ErrorClass, Outcome } from '../../server/call-log/record.ts'

/**
 * The six meanings of colour, and `aside` for what counts neither way. This order is the stack
 * order of every chart, from the axis up, and the order of every list.
 */
export const FAMILIES = [
  'succeeded',
  'retried',
  'network',
  'arguments',
  'result',
  'process',
  'aside',
] as const
export type Family = (typeof FAMILIES)[number]

export const FAMILY_WORDS: Readonly<Record<Family, string>> = {
  succeeded: 'Succeeded',
  retried: 'Retried',
  network: 'Network',
  arguments: 'Arguments',
  result: 'Result',
  process: 'Process',
  aside: 'Set aside',
}

const FAMILY_OF_CLASS: Readonly<Record<ErrorClass, Family>> = {
  timeout: 'network',
  connection: 'network',
  rate_limited: 'network',
  upstream: 'network',
  invalid_arguments: 'arguments',
  unknown_tool: 'arguments',
  tool_error: 'result',
  bad_result: 'result',
  crashed: 'process',
  unexpected: 'process',
  fatal: 'process',
  cancelled: 'aside',
}

/** Foreign logs and newer writers may bring a class that is not in the list. */
export function familyOfClass(errorClass: string): Family {
  return FAMILY_OF_CLASS[errorClass as ErrorClass] ?? 'process'
}

export function familyOf(outcome: Outcome, errorClass: ErrorClass | undefined): Family {
  if (outcome === 'succeeded' || outcome === 'retried') return outcome
  if (outcome === 'deferred') return 'aside'
  return errorClass ? familyOfClass(errorClass) : 'process'
}

export const CLASS_WORDS: Readonly<Record<ErrorClass, string>> = {
  invalid_arguments: 'Malformed arguments',
  timeout: 'Timeout',
  connection: 'Connection',
  rate_limited: 'Rate limited',
  upstream: 'Upstream error',
  tool_error: 'Tool error',
  bad_result: 'Bad result',
  unknown_tool: 'Unknown tool',
  cancelled: 'Cancelled',
  crashed: 'Process ended',
  unexpected: 'Unexpected error',
  fatal: 'Fatal error',
}

export const OUTCOME_WORDS: Readonly<Record<Outcome, string>> = {
  succeeded: 'Succeeded',
  retried: 'Retried',
  failed: 'Failed',
  deferred: 'Deferred',
}

export function wordOfClass(errorClass: string): string {
  return CLASS_WORDS[errorClass as ErrorClass] ?? errorClass
}

/** Drawn on a 16 × 16 field with a line of 1.6. */
const PATHS: Readonly<Record<Family, string>> = {
  succeeded: 'M3 8.5 6.5 12 13 4.5',
  retried: 'M12.5 6A5 5 0 1 0 13 9M13 2.5V6H9.5',
  network: 'M1.5 8H5M11 8h3.5M6.5 4.5l3 7',
  arguments:
    'M6 2.5C3.5 2.5 5 7 2.5 8 5 9 3.5 13.5 6 13.5M10 2.5C12.5 2.5 11 7 13.5 8 11 9 12.5 13.5 10 13.5',
  result: 'M3.5 3.5h9v9h-9z',
  process: 'M3.5 3.5l9 9M12.5 3.5l-9 9',
  aside: 'M4 8h8',
}

/** Always beside a word: colour and shape alone say nothing to many. */
export function FamilyIcon({ family }: { family: Family }) {
  return (
    <svg class={`icon family-${family}`} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[family]} />
    </svg>
  )
}

/** An outcome in icon and word; of a failure its class, which says more. */
export function OutcomeMark({
  outcome,
  errorClass,
}: {
  outcome: Outcome
  errorClass: ErrorClass | undefined
}) {
  const word = outcome === 'failed' && errorClass ? wordOfClass(errorClass) : OUTCOME_WORDS[outcome]
  return (
    <span class="outcome">
      <FamilyIcon family={familyOf(outcome, errorClass)} />
      {word}
    </span>
  )
}
