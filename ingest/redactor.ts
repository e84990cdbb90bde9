import { createRedactor } from '../server/call-log/redact.ts'
import { loadRedactionKey } from '../server/call-log/redaction-key.ts'
import type { LineRedactor } from './formats/parsed-line.ts'

/**
 * The writer's redactor, for what the writer has not seen: lines of other programs and broken ones.
 * Same key, so that a secret has the same marker wherever it turns up.
 */
export function createLineRedactor(): LineRedactor {
  const redactor = createRedactor(() => loadRedactionKey())
  return {
    text: (text) => redactor.redactText(text),
    value: (value) => redactor.redact(value),
  }
}
