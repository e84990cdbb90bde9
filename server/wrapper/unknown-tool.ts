import { unknownToolText } from './answers.ts'
import { nearestName } from './nearest-name.ts'
import type { OpenCall } from './open-call.ts'

/**
 * A whole list is known, this tool is not in it, and the handler says as much. Both are asked for:
 * a server may hide a tool from its list, and an error about something else may say "not found".
 */
export function isUnlisted(call: OpenCall, said: string): boolean {
  const { catalogue } = call.context
  if (!catalogue.listed || catalogue.find(call.tool) !== undefined) return false
  return /unknown|not found|no such|unsupported|invalid|not exist|unrecogni[sz]ed/i.test(said)
}

export function unknownToolAnswer(call: OpenCall): string {
  const candidates = call.context.catalogue.names().map((name) => ({ name }))
  return unknownToolText(call.tool, nearestName(call.tool, candidates)?.name)
}
