import type { IssueCode } from '../call-log/record.ts'

/** One thing wrong with the arguments, as a validator reports it, before it is put into words. */
export type ArgumentProblem = {
  path: PropertyKey[]
  code: IssueCode
  /** In words; where absent, the schema's view says it. */
  expected?: string
  /** Allowed values, where the value is one of a list. */
  values?: readonly unknown[]
  /** The schema author's own message. */
  note?: string
}
