import { unknownToolText } from './answers.ts'
import { nearestName } from './nearest-name.ts'
import type { OpenCall } from './open-call.ts'

/** A whole list is known and this tool is not in it. */
export function isUnlisted(call: OpenCall): boolean {
  const { catalogue } = call.context
  return catalogue.listed && catalogue.find(call.tool) === undefined
}

export function unknownToolAnswer(call: OpenCall): string {
  const candidates = call.context.catalogue.names().map((name) => ({ name }))
  return unknownToolText(call.tool, nearestName(call.tool, candidates)?.name)
}
