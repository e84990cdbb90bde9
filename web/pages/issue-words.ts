import type { ArgumentIssue } from '../../server/call-log/record.ts'
import { ROOT_PATH } from './json-text.ts'

/** What an issue is known by: of a record, or of a signature. */
export type IssueLike = {
  path: string
  code: string
  subtype?: string | undefined
  expected?: string | undefined
  received?: string | undefined
  suggest?: string | undefined
}

const SUBTYPE_WORDS: Readonly<Record<NonNullable<ArgumentIssue['subtype']>, string>> = {
  stringified_json: 'JSON written as a string',
  stringified_number: 'a number written as a string',
  stringified_boolean: 'a boolean written as a string',
  null_for_optional: 'null for a parameter that may be left out',
  wrapped_args: 'all arguments wrapped in another object',
  case_mismatch: 'other upper and lower case',
}

export function subtypeWords(subtype: string): string {
  return SUBTYPE_WORDS[subtype as keyof typeof SUBTYPE_WORDS] ?? subtype
}

/** "`limit`: expected integer, received string". Names stand in backticks. */
export function issueSentence(issue: IssueLike): string {
  const where = issue.path === ROOT_PATH ? 'The arguments' : quoted(issue.path)
  return `${where}: ${issueWords(issue)}`
}

/** The part after the name. */
export function issueWords({ code, subtype, expected, received, suggest }: IssueLike): string {
  const got = subtype ? subtypeWords(subtype) : received
  if (code === 'unknown_key') {
    return suggest
      ? `no such parameter, probably ${quoted(suggest)} was meant`
      : 'no such parameter'
  }
  if (code === 'missing_required') return `missing${expected ? `, ${expected} expected` : ''}`
  if (expected && got) return `expected ${expected}, received ${got}`
  if (expected) return `expected ${expected}`
  return got ? `${codeWords(code)}, received ${got}` : codeWords(code)
}

const CODE_WORDS: Readonly<Record<ArgumentIssue['code'], string>> = {
  missing_required: 'missing',
  unknown_key: 'no such parameter',
  wrong_type: 'of the wrong type',
  not_in_enum: 'not one of the allowed values',
  out_of_range: 'out of range',
  bad_format: 'not in the expected format',
  too_long: 'too long',
  too_short: 'too short',
  union_no_match: 'matches none of the allowed shapes',
  malformed_json: 'not valid JSON',
  other: 'not accepted',
}

export function codeWords(code: string): string {
  return CODE_WORDS[code as ArgumentIssue['code']] ?? code
}

/** A backtick in a name would end the quotation. */
function quoted(name: string): string {
  return `\`${name.replaceAll('`', "'")}\``
}
