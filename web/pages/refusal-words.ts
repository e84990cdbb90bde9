import type { RefusalReason } from '../../ingest/formats/parsed-line.ts'

/** In words; a reason that a newer ingester writes is shown as it is. */
const REASON_WORDS: Readonly<Record<RefusalReason, string>> = {
  too_long: 'longer than a line may be',
  nul_run: 'a hole of zero bytes',
  encoding: 'not UTF-8 at all, UTF-16 perhaps',
  utf8: 'broken UTF-8',
  json: 'broken JSON',
  torn: 'broken off, with another record after it',
  not_json: 'not JSON: a banner or a stack trace',
  shape: 'JSON, but no object',
  invalid: 'a record without what a record needs',
  depth: 'nested too deeply',
  unterminated: 'broken off at the end of the file',
  unstorable: 'refused by the database',
}

export function reasonWords(reason: string): string {
  return REASON_WORDS[reason as RefusalReason] ?? reason
}
